// Finding loops whose iterations have elements of their own; asking once what all of them ask.
#include "composit/ir/procedure/iterations.h"

#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::ir::procedure {

using Kind = Statement::Kind;
using scalar::Op;

namespace {

std::set<int> read_in(const std::vector<Expr>& values) {
    std::set<int> found;
    for (const Expr& expr : scalar::topological_order(values))
        if (expr.op() == Op::argument) found.insert(expr.index());
    return found;
}

bool has_kind(const Block& block, std::initializer_list<Kind> kinds) {
    for (const Statement* statement : all_statements(block))
        if (std::find(kinds.begin(), kinds.end(), statement->kind) != kinds.end()) return true;
    return false;
}

// Whether the loop runs at all: its condition for its first iteration.
std::optional<Expr> runs_of(const Procedure& procedure, const Statement& loop) {
    if (loop.first.size() != 1 || loop.first[0].kind != Kind::assign) return {};
    std::vector<Expr> by = all_variables(procedure);
    by[static_cast<size_t>(loop.first[0].variable)] = loop.first[0].values[0];
    const Expr runs = scalar::substitute({loop.values[0]}, by)[0];
    // n - 1 >= 0: 0 < n
    const bool is_before = runs.op() == Op::greater_equal && runs.operand(0).op() == Op::subtract &&
                           is_integer_constant(runs.operand(0).operand(1), 1);
    return is_before ? Expr::make(Op::less, {runs.operand(1), runs.operand(0).operand(0)}) : runs;
}

// `check`, unless the loop does not run.
Expr unless_idle(const Expr& runs, const Expr& check) {
    static const std::map<Op, Op> opposites = {{Op::less, Op::greater_equal},
                                               {Op::greater, Op::less_equal},
                                               {Op::greater_equal, Op::less},
                                               {Op::less_equal, Op::greater}};
    const auto opposite = opposites.find(runs.op());
    if (opposite == opposites.end()) return {};
    return Expr::make(Op::bit_or, {Expr::make(opposite->second, runs.operands()), check});
}

// Whether b > a, of a < b, and so on.
bool says_the_same(const Expr& one, const Expr& other) {
    static const std::map<Op, Op> mirrored = {{Op::less, Op::greater},
                                              {Op::greater, Op::less},
                                              {Op::greater_equal, Op::less_equal},
                                              {Op::less_equal, Op::greater_equal}};
    const auto found = mirrored.find(one.op());
    if (scalar::structurally_equal({one}, {other})) return true;
    return found != mirrored.end() && other.op() == found->second &&
           scalar::structurally_equal({one.operand(0), one.operand(1)},
                                      {other.operand(1), other.operand(0)});
}

class Mover {
  public:
    explicit Mover(const Procedure& procedure)
        : procedure_(procedure),
          assignments_(assignments_in(procedure.body)),
          mentions_(mentions_in(procedure, procedure.body)) {}

    void walk(Block& block) const {
        Block out;
        for (Statement& statement : block) {
            walk(statement.body);
            if (statement.kind == Kind::loop)
                move_ahead(statement, out);
            else
                walk(statement.otherwise);
            out.push_back(std::move(statement));
        }
        block = std::move(out);
    }

  private:
    void move_ahead(Statement& loop, Block& out) const {
        const auto runs = runs_of(procedure_, loop);
        if (!runs || !is_integer_comparison(*runs)) return;
        std::map<int, int> assigned = assignments_in({loop});
        std::vector<Expr> moved;
        Block kept;
        bool goes_on = true;
        for (const Statement& statement : loop.body) {
            const bool is_check = statement.kind == Kind::expect;
            const bool is_place = is_plain_integer(statement) && is_own(statement.variable, loop);
            const std::set<int> read = read_in(statement.values);
            const bool is_same = std::none_of(read.begin(), read.end(),
                                              [&](int each) { return assigned.contains(each); });
            if (is_place && is_same) {
                assigned.erase(statement.variable);
                out.push_back(statement);
                continue;
            }
            // It holds wherever the loop runs.
            if (is_check && is_same && says_the_same(*runs, statement.values[0])) continue;
            // Behind what may end the iteration, or another check, the order has to stay.
            goes_on = goes_on && (is_check ? is_same : !may_end({statement}));
            const Expr ahead =
                goes_on && is_check ? unless_idle(*runs, statement.values[0]) : Expr();
            if (!ahead) {
                goes_on = goes_on && !is_check;
                kept.push_back(statement);
                continue;
            }
            const bool is_known = std::any_of(moved.begin(), moved.end(), [&](const Expr& each) {
                return scalar::structurally_equal({each}, {ahead});
            });
            if (is_known) continue;
            moved.push_back(ahead);
            Statement check = statement;
            check.values[0] = ahead;
            out.push_back(std::move(check));
        }
        loop.body = std::move(kept);
    }

    // An integer that is computed whatever happens: what checks ask of.
    static bool is_plain_integer(const Statement& statement) {
        if (statement.kind != Kind::assign || statement.values[0].dtype() != DType::int64)
            return false;
        const auto all = scalar::topological_order(statement.values);
        return std::all_of(all.begin(), all.end(), [](const Expr& expr) {
            return expr.dtype() == DType::int64 || expr.dtype() == DType::boolean
                       ? expr.op() != Op::divide && expr.op() != Op::remainder &&
                             expr.op() != Op::call
                       : false;
        });
    }

    // Whether a variable gets its value once, in this loop, before any statement reads it.
    bool is_own(int variable, const Statement& loop) const {
        return static_cast<size_t>(variable) >= procedure_.parameters &&
               assignments_.at(variable) == 1 &&
               !exposed_in(procedure_, loop.body).contains(variable) &&
               mentions_in(procedure_, {loop})[variable] == mentions_.at(variable);
    }

    static bool is_integer_comparison(const Expr& value) {
        return !value.operands().empty() && !is_floating(value.operand(0).dtype());
    }

    static bool may_end(const Block& block) {
        return has_kind(block, {Kind::expect, Kind::stop, Kind::go_on, Kind::leave});
    }

    const Procedure& procedure_;
    const std::map<int, int> assignments_, mentions_;
};

}  // namespace

std::optional<int> stepped_by(const Statement& loop) {
    if (loop.kind != Kind::loop || loop.first.size() != 1 || loop.otherwise.size() != 1) return {};
    const int counter = loop.first[0].variable;
    const Statement& step = loop.otherwise[0];
    if (step.kind != Kind::assign || step.variable != counter) return {};
    const auto distance = offset_from(counter, step.values[0]);
    if (!distance || *distance == 0 || assignments_in(loop.body).contains(counter)) return {};
    return counter;
}

bool has_own_elements(const Procedure& procedure, const Block& body, int counter, int array) {
    const size_t rank = procedure.arrays[static_cast<size_t>(array)].shape.size();
    const auto all = all_statements(body);
    for (size_t axis = 0; axis < rank; ++axis) {
        std::optional<int64_t> offset;
        const bool fits = std::all_of(all.begin(), all.end(), [&](const Statement* statement) {
            if (statement->array != array) return true;
            if (statement->index.size() != rank) return false;
            const auto own = offset_from(counter, statement->index[axis]);
            const bool is_same = own && (!offset || *offset == *own);
            offset = own;
            return is_same;
        });
        if (fits) return true;
    }
    return false;
}

bool is_for_vectors(const Procedure& procedure, const Statement& loop) {
    const auto counter = stepped_by(loop);
    if (!counter) return false;
    bool calls = false, writes = false;
    for (const Statement* statement : all_statements(loop.body)) {
        const bool is_plain = statement->kind == Kind::assign || statement->kind == Kind::load ||
                              statement->kind == Kind::store || statement->kind == Kind::add;
        if (!is_plain) return false;
        for (const Expr& expr : scalar::topological_order(statement->values)) {
            if (expr.op() == Op::select) return false;
            calls |= is_named_call(expr);
        }
        if (statement->kind != Kind::store && statement->kind != Kind::add) continue;
        writes = true;
        if (!has_own_elements(procedure, loop.body, *counter, statement->array)) return false;
    }
    return calls && writes;
}

void give_own_variables(Procedure& procedure, Statement& copy, const Statement& loop,
                        const std::map<int, int>& mentions) {
    const Block whole{loop};
    const std::set<int> taken_over = exposed_in(procedure, whole);
    const std::map<int, int> inside = mentions_in(procedure, whole);
    std::vector<Expr> by = all_variables(procedure);
    for (const auto& [variable, times] : assignments_in(whole)) {
        const auto place = static_cast<size_t>(variable);
        const auto everywhere = mentions.find(variable);
        if (taken_over.contains(variable) || place < procedure.parameters ||
            everywhere == mentions.end() || inside.at(variable) != everywhere->second)
            continue;
        procedure.variables.push_back(procedure.variables[place]);
        by[place] = procedure.variable(procedure.variables.size() - 1);
    }
    Block one{std::move(copy)};
    replace_variables(one, by, true);
    copy = std::move(one[0]);
}

Procedure with_checks_ahead(Procedure procedure) {
    const Procedure whole = procedure;
    Mover(whole).walk(procedure.body);
    return procedure;
}

}  // namespace composit::ir::procedure
