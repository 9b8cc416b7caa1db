// Recognising loops over neighbouring elements, and the functions that stand for them.
#include "composit/backends/c_family/procedure_runs.h"

#include "composit/backends/c_family/procedure_loops.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <set>

namespace composit::c_family {
namespace {

using ir::procedure::Block;
using ir::procedure::is_positive_zero;
using ir::procedure::is_variable;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;

// A loop that counts up by one, whose counter and other variables nothing else mentions, and whose
// statements are plain; what its loads and writes touch.
class Loop {
  public:
    // `may_be_short`: of a known length, too.
    Loop(const Procedure& procedure, const Statement& loop, const std::set<int>& shared,
         bool may_be_short)
        : procedure_(procedure) {
        // A few of plain statements, before all that mention the same variables are counted.
        const bool is_simple =
            std::all_of(loop.body.begin(), loop.body.end(), [](const Statement& each) {
                return each.kind == Kind::load || each.kind == Kind::assign ||
                       ir::procedure::is_write(each);
            });
        const auto count = ir::procedure::count_of(loop);
        if (!is_simple || !count || count->step != 1) return;
        if (!may_be_short && count->begin.op() == Op::constant && count->end.op() == Op::constant)
            return;
        assigned_ = ir::procedure::assignments_in({loop});
        std::map<int, int> own = ir::procedure::mentions_in(procedure, {loop});
        std::map<int, int> all = ir::procedure::mentions_in(procedure, procedure.body);
        for (const auto& [variable, times] : assigned_)
            if (own[variable] != all[variable] && !shared.contains(variable)) return;
        counter_ = count->counter;
        begin_ = count->begin;
        count_ = scalar_minus(count->end, count->begin);
        is_fit_ = std::all_of(loop.body.begin(), loop.body.end(), [&](const Statement& each) {
            if (each.kind == Kind::load) loads_[each.variable] = &each;
            return each.kind != Kind::load || assigned_.at(each.variable) == 1;
        });
    }

    bool is_fit() const { return is_fit_; }
    const Expr& count() const { return count_; }

    bool is_fixed(const Expr& value) const {
        const std::set<int> read = ir::procedure::variables_in({value});
        return std::none_of(read.begin(), read.end(),
                            [&](int variable) { return assigned_.contains(variable); });
    }

    // What a statement touches in all iterations, where these are neighbours.
    std::optional<Run> run_of(const Statement& statement) const {
        if (!is_next(statement, counter_)) return {};
        std::vector<Expr> by = ir::procedure::all_variables(procedure_);
        by[static_cast<size_t>(counter_)] = begin_;
        Run run{statement.array, {}};
        for (const Expr& index : statement.index) {
            const Expr made = ir::scalar::substitute({index}, by)[0];
            if (!is_fixed(made)) return {};
            run.index.push_back(ir::scalar::simplify({made})[0]);
        }
        return run;
    }

    // Of a variable that an element is loaded into.
    std::optional<Run> run_of(const Expr& value) const {
        if (value.op() != Op::argument) return {};
        const auto load = loads_.find(value.index());
        return load == loads_.end() ? std::nullopt : run_of(*load->second);
    }

  private:
    static Expr scalar_minus(const Expr& a, const Expr& b) {
        return ir::scalar::simplify({ir::procedure::minus(a, b)})[0];
    }

    const Procedure& procedure_;
    std::map<int, int> assigned_;
    std::map<int, const Statement*> loads_;
    int counter_ = -1;
    Expr begin_, count_;
    bool is_fit_ = false;
};

bool is_floating_array(const Procedure& procedure, int array) {
    return is_floating(procedure.arrays[static_cast<size_t>(array)].dtype);
}

}  // namespace

std::optional<Dot> dot_at(const Procedure& procedure, const Block& block, size_t index) {
    if (index + 1 >= block.size() || block[index].kind != Kind::assign) return {};
    const Statement &start = block[index], &loop = block[index + 1];
    const int total = start.variable;
    if (loop.kind != Kind::loop || loop.body.empty() || !is_floating(start.values[0].dtype()) ||
        !is_positive_zero(start.values[0]))
        return {};
    const Statement& sum = loop.body.back();
    if (sum.kind != Kind::assign || sum.variable != total || sum.values[0].op() != Op::add ||
        !is_variable(sum.values[0].operand(0), total))
        return {};
    const Expr& product = sum.values[0].operand(1);
    const Loop known(procedure, loop, {total}, true);
    const bool only_loads = std::all_of(loop.body.begin(), loop.body.end() - 1,
                                        [](const Statement& s) { return s.kind == Kind::load; });
    if (!known.is_fit() || !only_loads || product.op() != Op::multiply) return {};
    const auto a = known.run_of(product.operand(0)), b = known.run_of(product.operand(1));
    if (!a || !b) return {};
    return Dot{total, *a, *b, known.count()};
}

ReadBy read_in(const Dot& dot) {
    std::vector<Expr> values = {dot.count};
    for (const Run* run : {&dot.a, &dot.b})
        values.insert(values.end(), run->index.begin(), run->index.end());
    return {ir::procedure::variables_in(values), {dot.a.array, dot.b.array}};
}

const Statement* reader_of(const Procedure& procedure, const Block& block, size_t index, int value,
                           const ReadBy& read) {
    const Block own(block.begin() + static_cast<std::ptrdiff_t>(index),
                    block.begin() + static_cast<std::ptrdiff_t>(index) + 2);
    const int within = ir::procedure::mentions_in(procedure, own)[value];
    const int everywhere = ir::procedure::mentions_in(procedure, procedure.body)[value];
    if (everywhere != within + 1 || static_cast<size_t>(value) < procedure.parameters)
        return nullptr;
    for (size_t i = index + 2; i < block.size(); ++i) {
        const Statement& statement = block[i];
        if (ir::procedure::variables_in(statement.values).contains(value)) {
            const bool is_plain = statement.kind == Kind::assign || statement.kind == Kind::leave ||
                                  ir::procedure::is_write(statement);
            // Printed once: neither chosen nor compared, which may say it twice.
            int times = 0;
            for (const Expr& expr : ir::scalar::topological_order(statement.values)) {
                const bool is_said_once = expr.op() == Op::add || expr.op() == Op::subtract ||
                                          expr.op() == Op::multiply || expr.op() == Op::divide ||
                                          expr.op() == Op::negate || expr.op() == Op::call;
                for (const Expr& operand : expr.operands()) {
                    if (!is_variable(operand, value)) continue;
                    times += is_said_once ? 1 : 2;
                }
            }
            for (const Expr& whole : statement.values) times += is_variable(whole, value);
            return is_plain && times == 1 ? &statement : nullptr;
        }
        const Block one{statement};
        for (const Statement* each : ir::procedure::all_statements(one)) {
            const bool writes = read.arrays.contains(each->array);
            if (read.variables.contains(each->variable) || (writes && each->kind != Kind::load))
                return nullptr;
        }
    }
    return nullptr;
}

Multiples multiples_of(const Procedure& procedure, const Statement& loop) {
    const auto is_other = [](const Statement& each) {
        return each.kind != Kind::load && !ir::procedure::is_write(each);
    };
    if (loop.kind != Kind::loop || is_short_vector(procedure, loop) ||
        std::any_of(loop.body.begin(), loop.body.end(), is_other))
        return {};
    // Short ones of a known length are unrolled where they stand.
    const Loop known(procedure, loop, {}, false);
    if (!known.is_fit()) return {};
    Multiples made{{}, known.count()};
    int line = loop.line;
    for (const Statement& statement : loop.body) {
        if (statement.line != 0) line = statement.line;
        if (statement.kind == Kind::load) continue;
        if (!ir::procedure::is_write(statement) || !is_floating_array(procedure, statement.array))
            return {};
        Expr value = statement.values[0];
        const bool is_negative = value.op() == Op::negate;
        if (is_negative) value = value.operand(0);
        if (value.op() != Op::multiply) return {};
        const bool is_first = known.run_of(value.operand(0)).has_value();
        const Expr factor = value.operand(is_first ? 1 : 0);
        const auto from = known.run_of(value.operand(is_first ? 0 : 1));
        const auto to = known.run_of(statement);
        if (!to || !from || !known.is_fixed(factor)) return {};
        made.all.push_back(
            {*to, *from, is_negative ? -factor : factor, statement.kind == Kind::add, line});
    }
    std::set<int> written;
    for (const Multiple& each : made.all)
        if (!written.insert(each.to.array).second) return {};
    for (const Statement& statement : loop.body)
        if (statement.kind == Kind::load && written.contains(statement.array)) return {};
    // One statement that is no addition is no longer in words.
    if (made.all.size() == 1 && !made.all[0].adds) return {};
    return made;
}

std::optional<Extreme> extreme_at(const Procedure& procedure, const Block& block, size_t index) {
    const Statement& first = block[index];
    const bool asserts = first.kind == Kind::expect;
    const size_t start = index + asserts;
    if (start + 1 >= block.size() || block[start].kind != Kind::assign) return {};
    const Statement& loop = block[start + 1];
    const int at = block[start].variable;
    if (!ir::procedure::is_integer_constant(block[start].values[0], 0) || loop.kind != Kind::loop ||
        loop.body.size() != 3)
        return {};
    const auto count = ir::procedure::count_of(loop);
    const Statement &element = loop.body[0], &best = loop.body[1], &branch = loop.body[2];
    if (!count || count->step != 1 || !ir::procedure::is_integer_constant(count->begin, 0) ||
        element.kind != Kind::load || best.kind != Kind::load || element.array != best.array ||
        branch.kind != Kind::branch || !branch.otherwise.empty() || branch.body.size() != 1)
        return {};
    const Expr& condition = branch.values[0];
    const Statement& found = branch.body[0];
    const bool is_over_all =
        element.index.size() == 1 && is_variable(element.index[0], count->counter) &&
        best.index.size() == 1 && is_variable(best.index[0], at) &&
        (condition.op() == Op::greater || condition.op() == Op::less) &&
        is_variable(condition.operand(0), element.variable) &&
        is_variable(condition.operand(1), best.variable) && found.kind == Kind::assign &&
        found.variable == at && is_variable(found.values[0], count->counter);
    if (!is_over_all ||
        procedure.arrays[static_cast<size_t>(element.array)].dtype == ir::DType::boolean)
        return {};
    if (asserts) {
        const Expr& holds = first.values[0];
        const bool is_it = holds.op() == Op::greater &&
                           ir::scalar::structurally_equal({holds.operand(0)}, {count->end}) &&
                           ir::procedure::is_integer_constant(holds.operand(1), 0);
        if (!is_it) return {};
    }
    const Block own{loop};
    std::map<int, int> within = ir::procedure::mentions_in(procedure, own);
    std::map<int, int> all = ir::procedure::mentions_in(procedure, procedure.body);
    for (const int variable : {count->counter, element.variable, best.variable})
        if (within[variable] != all[variable]) return {};
    return Extreme{at, element.array, count->end, condition.op() == Op::greater,
                   asserts ? size_t{3} : size_t{2}};
}

std::string run_functions(bool throws) {
    const std::string sums = R"(// The sum of x[i] * y[i], in the order of i.
template <class T>
inline T dot_product(const T* x, const T* y, int64_t n) {
    T total = 0;
    for (int64_t i = 0; i < n; ++i) total += x[i] * y[i];
    return total;
}

// y[i] += x[i] * factor
template <class T>
void add_multiple(T* __restrict y, const T* __restrict x, T factor, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] += rounded(x[i] * factor);
}

// y[i] = x[i] * factor
template <class T>
void set_multiple(T* __restrict y, const T* __restrict x, T factor, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
}

// What x and y receive of the gradient g of their dot_product, beside what they have.
template <class T>
void dot_product_vjp(T g, const T* x, const T* y, T* dx, T* dy, int64_t n) {
    add_multiple(dx, y, g, n);
    add_multiple(dy, x, g, n);
}

// The same, of which x receives nothing else before.
template <class T>
void set_dot_product_vjp(T g, const T* x, const T* y, T* dx, T* dy, int64_t n) {
    set_multiple(dx, y, g, n);
    add_multiple(dy, x, g, n);
}

)";
    const auto extreme = [&](const std::string& name, const std::string& what, char sign) {
        const std::string head = throws ? ", int line = __builtin_LINE()" : "";
        const std::string check = throws ? "if (n <= 0) throw line" : "assert(n > 0)";
        return "// Where the first of the " + what +
               " elements is, as Python's comparisons tell.\n" + "template <class T>\nint64_t " +
               name + "(const T* x, int64_t n" + head + ") {\n    " + check +
               ";\n    int64_t at = 0;\n    for (int64_t i = 0; i < n; ++i)\n" +
               "        if (x[i] " + sign + " x[at]) at = i;\n    return at;\n}\n\n";
    };
    return sums + extreme("place_of_largest", "largest", '>') +
           extreme("place_of_least", "least", '<');
}

}  // namespace composit::c_family
