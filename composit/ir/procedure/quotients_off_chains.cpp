#include "composit/ir/procedure/quotients_off_chains.h"

#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

// g * (q / b) where that quotient is a normal number. Else it has lost digits, or is infinite
// though the result need not be: (g * q) / b.
template <class Float>
Expr value_of_scaled_quotient(const Expr& g, const Expr& q, const Expr& b) {
    using Limits = std::numeric_limits<Float>;
    const Expr slope = (q / b).named("slope");
    const Expr size = scalar::absolute(slope).named("size");
    return scalar::select((size >= double{Limits::min()}) & (size <= double{Limits::max()}),
                          g * slope, g * q / b);
}

const scalar::RowRef& scaled_quotient() {
    static const auto& row = *new scalar::RowRef([] {
        scalar::Row made;
        made.name = "scaled_quotient";
        made.arity = 3;
        made.types = scalar::types::floating;
        made.doc = "g * q / b, as g * (q / b) where that quotient is a normal number";
        made.value = [](const std::vector<Expr>& x) {
            return x[0].dtype() == DType::float32
                       ? value_of_scaled_quotient<float>(x[0], x[1], x[2])
                       : value_of_scaled_quotient<double>(x[0], x[1], x[2]);
        };
        made.slopes = [](const std::vector<Expr>& x, const Expr& y) {
            return std::vector<Expr>{x[1] / x[2], x[0] / x[2], -(y / x[2])};
        };
        return std::make_shared<const scalar::Row>(std::move(made));
    }());
    return row;
}

// Variables, and arrays as -1 - array.
using ChainPlaces = std::set<int>;

// What the values of one iteration of a loop depend on, and which of them an iteration hands on.
class IterationChains {
  public:
    IterationChains(const Procedure& procedure, const Statement& loop) : procedure_(procedure) {
        const auto counter = stepped_by(loop);
        ChainPlaces loaded, written;
        for (const Statement& each : loop.body) {
            const ChainPlaces reads = places_read_by(each, loop, counter);
            const std::optional<int> target = target_of(each, loop, counter);
            if (!target) continue;
            for (const int place : reads) to_[place].insert(*target);
            (*target < 0 ? written : carried_).insert(*target);
            for (const int place : reads)
                if (place < 0) loaded.insert(place);
        }
        const std::set<int> exposed = exposed_in(procedure, loop.body);
        std::erase_if(carried_, [&](int variable) { return !exposed.contains(variable); });
        std::set_intersection(loaded.begin(), loaded.end(), written.begin(), written.end(),
                              std::inserter(carried_, carried_.end()));
    }

    // What depends on the statement's result and has a part in it, if an iteration hands on some of
    // it. Else empty.
    ChainPlaces around(const Statement& statement, const Statement& loop) const {
        const std::optional<int> target = target_of(statement, loop, stepped_by(loop));
        if (!target) return {};
        ChainPlaces found;
        for (const int place : reached_from(*target))
            if (reached_from(place).contains(*target)) found.insert(place);
        const bool is_carried = std::any_of(found.begin(), found.end(),
                                            [&](int place) { return carried_.contains(place); });
        return is_carried ? found : ChainPlaces{};
    }

  private:
    bool is_handed_on(const Statement& statement, const Statement& loop,
                      const std::optional<int>& counter) const {
        return statement.array >= 0 &&
               !(counter && has_own_elements(procedure_, loop.body, *counter, statement.array));
    }

    std::optional<int> target_of(const Statement& statement, const Statement& loop,
                                 const std::optional<int>& counter) const {
        if (is_assignment(statement)) return statement.variable;
        if (is_write(statement) && is_handed_on(statement, loop, counter))
            return -1 - statement.array;
        return {};
    }

    ChainPlaces places_read_by(const Statement& statement, const Statement& loop,
                               const std::optional<int>& counter) const {
        ChainPlaces read = variables_in(expressions_of(procedure_, statement));
        if ((statement.kind == Kind::load || statement.kind == Kind::add) &&
            is_handed_on(statement, loop, counter))
            read.insert(-1 - statement.array);
        return read;
    }

    ChainPlaces reached_from(int place) const {
        ChainPlaces found;
        std::vector<int> left{place};
        while (!left.empty()) {
            const auto next = to_.find(left.back());
            left.pop_back();
            if (next == to_.end()) continue;
            for (const int each : next->second)
                if (found.insert(each).second) left.push_back(each);
        }
        return found;
    }

    const Procedure& procedure_;
    std::map<int, ChainPlaces> to_;
    ChainPlaces carried_;
};

// -1 or 1, times a factor that is on no chain (none: 1), times `of`.
struct ChainMultiple {
    Expr of, factor;
    bool is_negative = false;
};

// Whether it fits into the operands of a call, and multiplies no slope that may be infinite.
bool is_short_gradient(const Expr& value) {
    constexpr size_t most_parts = 8;
    const std::vector<Expr> all = scalar::topological_order({value});
    return all.size() <= most_parts && std::all_of(all.begin(), all.end(), [](const Expr& each) {
               return each.op() != Op::select && each.op() != Op::call;
           });
}

class ChainRewriter {
  public:
    explicit ChainRewriter(ChainPlaces chain) : chain_(std::move(chain)) {}

    Expr run(const Expr& value) const {
        if (!is_on_chain(value)) return value;
        switch (value.op()) {
            case Op::divide:
                if (const Expr& divisor = value.operand(1); !is_on_chain(divisor) &&
                                                            divisor.op() != Op::constant &&
                                                            size_of(value.dtype()) >= 4)
                    if (const ChainMultiple multiple = multiple_of(value.operand(0));
                        is_short_gradient(multiple.of))
                        return scaled(multiple, divisor);
                [[fallthrough]];
            case Op::add:
            case Op::subtract:
            case Op::multiply:
            case Op::negate: {
                std::vector<Expr> operands;
                for (const Expr& each : value.operands()) operands.push_back(run(each));
                return value.with_operands(std::move(operands));
            }
            default: return value;
        }
    }

  private:
    bool is_on_chain(const Expr& value) const {
        const std::set<int> read = variables_in({value});
        return std::any_of(read.begin(), read.end(),
                           [&](int variable) { return chain_.contains(variable); });
    }

    Expr scaled(const ChainMultiple& multiple, const Expr& divisor) const {
        const Expr factor = multiple.factor ? multiple.factor : Expr::constant(divisor.dtype(), 1);
        const Expr made = Expr::call(scaled_quotient(), {run(multiple.of), factor, divisor});
        return multiple.is_negative ? -made : made;
    }

    // One factor alone: a product of several may be too large where the value is not.
    ChainMultiple multiple_of(const Expr& value) const {
        if (value.op() == Op::negate) {
            ChainMultiple made = multiple_of(value.operand(0));
            made.is_negative = !made.is_negative;
            return made;
        }
        if (value.op() == Op::multiply) {
            const bool has_first = is_on_chain(value.operand(0));
            if (has_first && is_on_chain(value.operand(1))) return {value, {}};
            const ChainMultiple made = multiple_of(value.operand(has_first ? 0 : 1));
            const Expr& factor = value.operand(has_first ? 1 : 0);
            if (!made.factor) return {made.of, factor, made.is_negative};
            return {value.operand(has_first ? 0 : 1), factor};
        }
        if ((value.op() != Op::add && value.op() != Op::subtract) ||
            !is_on_chain(value.operand(0)) || !is_on_chain(value.operand(1)))
            return {value, {}};
        // g - q * g is (1 - q) * g.
        const ChainMultiple first = multiple_of(value.operand(0)),
                            second = multiple_of(value.operand(1));
        if (bool(first.factor) == bool(second.factor) ||
            !scalar::structurally_equal({first.of}, {second.of}))
            return {value, {}};
        const bool adds = (value.op() == Op::add) == (first.is_negative == second.is_negative);
        const Expr one = Expr::constant(value.dtype(), 1);
        const Expr a = first.factor ? first.factor : one, b = second.factor ? second.factor : one;
        return {first.of, adds ? a + b : a - b, first.is_negative};
    }

    const ChainPlaces chain_;
};

bool has_plain_statements(const Block& body) {
    return std::all_of(body.begin(), body.end(), [](const Statement& each) {
        return is_assignment(each) || is_write(each) || each.kind == Kind::append ||
               each.kind == Kind::expect;
    });
}

bool divides_gradients(const Statement& statement) {
    if (statement.line.sweep != Sweep::gradient || statement.values.empty() ||
        !(statement.kind == Kind::assign || is_write(statement)))
        return false;
    const auto all = scalar::topological_order({statement.values[0]});
    return std::any_of(all.begin(), all.end(), [](const Expr& each) {
        return each.op() == Op::divide && is_floating(each.dtype()) &&
               each.operand(1).op() != Op::constant;
    });
}

void take_off_chains(const Procedure& procedure, Statement& loop) {
    if (!has_plain_statements(loop.body) ||
        std::none_of(loop.body.begin(), loop.body.end(), divides_gradients))
        return;
    const IterationChains chains(procedure, loop);
    for (Statement& each : loop.body) {
        if (!divides_gradients(each)) continue;
        ChainPlaces chain = chains.around(each, loop);
        if (!chain.empty()) each.values[0] = ChainRewriter(std::move(chain)).run(each.values[0]);
    }
}

void take_off_chains_in(const Procedure& procedure, Block& block) {
    for (Statement& each : block) {
        take_off_chains_in(procedure, each.body);
        if (each.kind == Kind::loop)
            take_off_chains(procedure, each);
        else
            take_off_chains_in(procedure, each.otherwise);
    }
}

}  // namespace

Procedure with_quotients_off_chains(Procedure procedure) {
    Block body = procedure.body;
    take_off_chains_in(procedure, body);
    procedure.body = std::move(body);
    return procedure;
}

}  // namespace composit::ir::procedure
