// interpret: each statement in turn, over the variables' bits and the arrays' memory.
#include "composit/ir/procedure/interpret.h"

#include "composit/base/assertion_error.h"
#include "composit/base/default_floating_point.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

enum class Flow : uint8_t { next, stop, go_on, leave };

bool is_true(const Bits& bits) { return bits[0] != 0; }
int64_t integer_of(const Bits& bits) { return static_cast<int64_t>(bits[0]); }

// What a claim says, with the values in place of "{}".
[[noreturn]] void fail_claim(const std::string& name, const Claim& claim,
                             const std::vector<Bits>& variables, const std::string& mark) {
    std::string told;
    size_t next = 0;
    for (size_t i = 0; i < claim.text.size(); ++i) {
        if (claim.text.compare(i, 2, "{}") != 0 || next == claim.values.size()) {
            told += claim.text[i];
            continue;
        }
        told += std::to_string(integer_of(scalar::evaluate({claim.values[next++]}, variables)[0]));
        ++i;
    }
    const std::string message = text(name, ": ", told, " [", mark, "]");
    switch (claim.kind) {
        case Claim::Kind::index: throw IndexError(message);
        case Claim::Kind::value: throw ValueError(message);
        case Claim::Kind::type: throw TypeError(message);
        case Claim::Kind::zero_division: throw ZeroDivisionError(message);
        case Claim::Kind::overflow: throw OverflowError(message);
        case Claim::Kind::runtime: throw RuntimeError(message);
        case Claim::Kind::linear_algebra: throw LinAlgError(message);
        default: throw AssertionError(message);
    }
}

constexpr std::pair<const char*, Claim::Kind> claim_kinds[] = {
    {"IndexError", Claim::Kind::index},
    {"ValueError", Claim::Kind::value},
    {"AssertionError", Claim::Kind::assertion},
    {"TypeError", Claim::Kind::type},
    {"ZeroDivisionError", Claim::Kind::zero_division},
    {"OverflowError", Claim::Kind::overflow},
    {"RuntimeError", Claim::Kind::runtime},
    {"LinAlgError", Claim::Kind::linear_algebra},
};

constexpr int64_t most_statements = 3'000'000;  // to tell a failure: seconds
struct TooLong {};

class Interpreter {
  public:
    // `tells`: assertions say what they claim.
    Interpreter(const Procedure& procedure, const std::vector<Bits>& parameters,
                void* const* arrays, bool tells = false)
        : procedure_(procedure),
          tells_(tells),
          variables_(procedure.variables.size()),
          memory_(procedure.arrays.size()),
          line_(procedure.line) {
        std::copy(parameters.begin(),
                  parameters.begin() + static_cast<std::ptrdiff_t>(procedure.parameters),
                  variables_.begin());
        for (const Role role : {Role::input, Role::output})
            for (const int number : procedure.arrays_of(role)) {
                Memory& memory = memory_[static_cast<size_t>(number)];
                memory.at = static_cast<char*>(*arrays++);
                memory.shape = shape_of(array(number), variables_);
            }
    }

    std::vector<Bits> run() {
        const Flow flow = run_block(procedure_.body);
        internal_check(flow == Flow::leave || procedure_.results.empty(), procedure_.name,
                       ": its end is reached without results");
        return results_;
    }

  private:
    struct Memory {
        char* at = nullptr;
        std::vector<char> own;
        std::vector<int64_t> shape;
    };

    const ArrayVariable& array(int number) const {
        return procedure_.arrays[static_cast<size_t>(number)];
    }
    // Loops evaluate the same expressions again and again.
    Bits value(const Expr& expr) {
        if (expr.op() == scalar::Op::argument) return variables_[static_cast<size_t>(expr.index())];
        if (expr.op() == scalar::Op::constant) return expr.bits();
        auto place = evaluators_.find(expr.id());
        if (place == evaluators_.end())
            place = evaluators_.emplace(expr.id(), scalar::Evaluator({expr})).first;
        return place->second(variables_)[0];
    }
    Bits& variable(const Statement& statement) {
        return variables_[static_cast<size_t>(statement.variable)];
    }

    Flow run_block(const Block& block) {
        for (const Statement& statement : block)
            if (const Flow flow = run_statement(statement); flow != Flow::next) return flow;
        return Flow::next;
    }

    Flow run_statement(const Statement& statement) {
        if (statement.line != 0) line_ = statement.line;
        if (tells_ && ++count_ > most_statements) throw TooLong();
        switch (statement.kind) {
            case Kind::assign: variable(statement) = value(statement.values[0]); break;
            case Kind::branch:
                return run_block(is_true(value(statement.values[0])) ? statement.body
                                                                     : statement.otherwise);
            case Kind::loop: return run_loop(statement);
            case Kind::stop: return Flow::stop;
            case Kind::go_on: return Flow::go_on;
            case Kind::leave:
                results_ = scalar::evaluate(statement.values, variables_);
                return Flow::leave;
            case Kind::expect:
                if (!is_true(value(statement.values[0]))) fail_at(statement);
                break;
            case Kind::load: variable(statement) = load(element(statement), statement); break;
            case Kind::store:
                store(element(statement), statement, value(statement.values[0]));
                break;
            case Kind::add: add(statement); break;
            case Kind::allocate: allocate(statement); break;
            case Kind::append: append(statement); break;
            case Kind::take: take(statement); break;
        }
        return Flow::next;
    }

    [[noreturn]] void fail_at(const Statement& assertion) const {
        const std::string mark = text(procedure_.file, ":", line_);
        if (tells_ && assertion.claim)
            fail_claim(procedure_.name, *assertion.claim, variables_, mark);
        fail_assertion(procedure_, mark);
    }

    Flow run_loop(const Statement& loop) {
        static_cast<void>(run_block(loop.first));
        while (is_true(value(loop.values[0]))) {
            const Flow flow = run_block(loop.body);
            if (flow == Flow::leave) return flow;
            if (flow == Flow::stop) break;
            static_cast<void>(run_block(loop.otherwise));
        }
        return Flow::next;
    }

    static size_t count_of(const std::vector<int64_t>& shape) {
        size_t count = 1;
        for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
        return count;
    }
    size_t size_of_element(const Statement& statement) const {
        return static_cast<size_t>(size_of(array(statement.array).dtype));
    }

    char* element(const Statement& statement) {
        Memory& memory = memory_[static_cast<size_t>(statement.array)];
        const bool is_flat = statement.index.size() != memory.shape.size();
        int64_t place = 0;
        for (size_t axis = 0; axis < statement.index.size(); ++axis) {
            const int64_t index = integer_of(value(statement.index[axis]));
            place = is_flat ? index : place * memory.shape[axis] + index;
        }
        const size_t count = memory.own.empty() ? count_of(memory.shape)
                                                : memory.own.size() / size_of_element(statement);
        internal_check(place >= 0 && static_cast<size_t>(place) < count, procedure_.name,
                       ": element ", place, " of ", count, " of ", array(statement.array).name);
        return memory.at + static_cast<size_t>(place) * size_of_element(statement);
    }

    Bits load(const char* at, const Statement& statement) const {
        Bits bits{};
        std::memcpy(bits.data(), at, size_of_element(statement));
        return bits;
    }
    void store(char* at, const Statement& statement, const Bits& bits) const {
        std::memcpy(at, bits.data(), size_of_element(statement));
    }

    void add(const Statement& statement) {
        char* const at = element(statement);
        const DType dtype = array(statement.array).dtype;
        auto place = sums_.find(dtype);
        if (place == sums_.end())
            place = sums_
                        .emplace(dtype, scalar::Evaluator(
                                            {Expr::argument(0, dtype) + Expr::argument(1, dtype)}))
                        .first;
        store(at, statement, place->second({load(at, statement), value(statement.values[0])})[0]);
    }

    void allocate(const Statement& statement) {
        const ArrayVariable& known = array(statement.array);
        Memory& memory = memory_[static_cast<size_t>(statement.array)];
        for (const Bits& extent : scalar::evaluate(known.shape, variables_))
            if (integer_of(extent) < 0) fail_extent(procedure_, text(procedure_.file, ":", line_));
        if (known.role == Role::local) {
            memory.shape = shape_of(known, variables_);
            const size_t count = known.grows ? 0 : count_of(memory.shape);
            memory.own.assign(count * size_of_element(statement), 0);
            memory.at = memory.own.data();
        } else if (statement.is_zeroed) {
            const size_t bytes = count_of(memory.shape) * size_of_element(statement);
            if (bytes != 0) std::memset(memory.at, 0, bytes);
        }
    }

    void append(const Statement& statement) {
        Memory& memory = memory_[static_cast<size_t>(statement.array)];
        const Bits bits = value(statement.values[0]);
        const auto* const bytes = reinterpret_cast<const char*>(bits.data());
        memory.own.insert(memory.own.end(), bytes, bytes + size_of_element(statement));
        memory.at = memory.own.data();
    }

    void take(const Statement& statement) {
        Memory& memory = memory_[static_cast<size_t>(statement.array)];
        const size_t size = size_of_element(statement);
        internal_check(memory.own.size() >= size, procedure_.name, ": nothing is left of ",
                       array(statement.array).name);
        variable(statement) = load(memory.own.data() + memory.own.size() - size, statement);
        memory.own.resize(memory.own.size() - size);
    }

    const Procedure& procedure_;
    bool tells_;
    int64_t count_ = 0;
    std::vector<Bits> variables_, results_;
    std::vector<Memory> memory_;
    std::unordered_map<const scalar::ExprNode*, scalar::Evaluator> evaluators_;
    std::map<DType, scalar::Evaluator> sums_;
    int line_;
};

}  // namespace

std::vector<Bits> interpret(const Procedure& procedure, const std::vector<Bits>& parameters,
                            void* const* arrays) {
    return interpreted(procedure)(parameters, arrays);
}

Run interpreted(Procedure procedure) {
    auto run = std::make_shared<const Procedure>(without_zero_gradients(procedure));
    return [procedure = std::make_shared<const Procedure>(std::move(procedure)),
            run = std::move(run)](const std::vector<Bits>& parameters, void* const* arrays) {
        const DefaultFloatingPoint floating_point;
        if (!procedure->as_written) return Interpreter(*run, parameters, arrays).run();
        try {
            return Interpreter(*run, parameters, arrays).run();
        } catch (const IndexError&) {
            tell_failure(*procedure, parameters, arrays);
            throw;
        }
    };
}

void tell_failure(const Procedure& procedure, const std::vector<Bits>& parameters,
                  void* const* arrays) {
    if (!procedure.as_written) return;
    const Procedure& written = *procedure.as_written;
    const size_t inputs = written.arrays_of(Role::input).size();
    std::vector<void*> places(arrays, arrays + inputs);
    std::vector<std::vector<char>> outputs;  // no one reads them
    for (const int output : written.arrays_of(Role::output)) {
        const ArrayVariable& array = written.arrays[static_cast<size_t>(output)];
        size_t bytes = static_cast<size_t>(size_of(array.dtype));
        for (const int64_t extent : shape_of(array, parameters))
            bytes *= static_cast<size_t>(extent);
        places.push_back(outputs.emplace_back(bytes).data());
    }
    try {
        Interpreter(written, parameters, places.data(), true).run();
    } catch (const TooLong&) {
    }
}

std::vector<int64_t> shape_of(const ArrayVariable& array, const std::vector<Bits>& parameters) {
    std::vector<int64_t> shape;
    for (const Bits& extent : scalar::evaluate(array.shape, parameters))
        shape.push_back(std::max<int64_t>(integer_of(extent), 0));
    return shape;
}

void fail_assertion(const Procedure& procedure, const std::string& mark) {
    fail<IndexError>(procedure.name,
                     ": an index lies outside of its array, or an assertion does not hold. [", mark,
                     "]");
}

void fail_extent(const Procedure& procedure, const std::string& mark) {
    fail<ValueError>(procedure.name,
                     ": an extent is negative. An array's extents are required to be 0 or more. [",
                     mark, "]");
}

Claim::Kind claim_kind(const std::string& error) {
    for (const auto& [name, kind] : claim_kinds)
        if (error == name) return kind;
    if (error.empty()) return Claim::Kind::assertion;
    fail<KeyError>("claim: no error of kernels is called \"", error, "\".");
}

}  // namespace composit::ir::procedure
