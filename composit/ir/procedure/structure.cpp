// Finding out how statements hang together: exits, exposed reads, counted loops.
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::ir::procedure {

using Kind = Statement::Kind;
using scalar::Op;

bool may_exit(const Block& block) {
    const auto all = all_statements(block);
    return std::any_of(all.begin(), all.end(), [](const Statement* each) {
        return each->kind == Kind::leave || each->kind == Kind::stop || each->kind == Kind::go_on;
    });
}

bool may_go_elsewhere(const Statement& statement, bool is_in_loop) {
    if (statement.kind == Kind::leave) return true;
    if (statement.kind == Kind::stop || statement.kind == Kind::go_on) return !is_in_loop;
    const bool within = is_in_loop || statement.kind == Kind::loop;
    const auto does = [within](const Statement& each) { return may_go_elsewhere(each, within); };
    return std::any_of(statement.body.begin(), statement.body.end(), does) ||
           std::any_of(statement.otherwise.begin(), statement.otherwise.end(), does);
}

bool mentions_array(const Block& block, int array) {
    return std::any_of(block.begin(), block.end(), [array](const Statement& statement) {
        return mentions_array(statement, array);
    });
}
bool mentions_array(const Statement& statement, int array) {
    return statement.array == array || mentions_array(statement.first, array) ||
           mentions_array(statement.body, array) || mentions_array(statement.otherwise, array);
}

bool has_own(const Block& block, Kind kind) {
    return std::any_of(block.begin(), block.end(), [kind](const Statement& statement) {
        if (statement.kind == kind) return true;
        if (statement.kind == Kind::loop) return false;
        return has_own(statement.body, kind) || has_own(statement.otherwise, kind);
    });
}

namespace {

bool has_exit(const Block& block, const Exit& exit) {
    return std::any_of(block.begin(), block.end(), [&](const Statement& statement) {
        if (statement.kind == Kind::loop) return false;
        return exit(statement).has_value() || has_exit(statement.body, exit) ||
               has_exit(statement.otherwise, exit);
    });
}

// Which variables have a value, and which were read before they had one.
struct Exposure {
    struct State {
        std::set<int> assigned;
        // What has a value where a variable holds that is a branch's condition, and that nothing
        // has changed since.
        std::map<int, std::set<int>> where;

        void forget(const Block& changed) {
            for (const auto& [variable, times] : assignments_in(changed)) where.erase(variable);
        }
    };
    const Procedure& procedure;
    std::set<int> exposed;

    void read(const Statement& statement, const State& state) {
        for (const int variable : variables_in(expressions_of(procedure, statement)))
            if (!state.assigned.contains(variable)) exposed.insert(variable);
    }

    void walk(const Block& block, State& state) {
        for (const Statement& statement : block) {
            if (statement.kind == Kind::loop) {
                walk(statement.first, state);
                read(statement, state);
                state.forget({statement});
                State inside = state;
                walk(statement.body, inside);
                inside = state;
                walk(statement.otherwise, inside);
                continue;
            }
            read(statement, state);
            if (statement.kind == Kind::branch) walk_branch(statement, state);
            if (is_assignment(statement)) {
                state.assigned.insert(statement.variable);
                state.where.erase(statement.variable);
            }
        }
    }

    void walk_branch(const Statement& branch, State& state) {
        const Expr& condition = branch.values[0];
        const int known = condition.op() == Op::argument ? condition.index() : -1;
        State body = state, otherwise = state;
        if (const auto found = state.where.find(known); found != state.where.end())
            body.assigned.insert(found->second.begin(), found->second.end());
        walk(branch.body, body);
        walk(branch.otherwise, otherwise);
        for (const int variable : body.assigned)
            if (otherwise.assigned.contains(variable)) state.assigned.insert(variable);
        state.forget({branch});
        if (known >= 0 && !assignments_in({branch}).contains(known))
            state.where[known] = body.assigned;
    }
};

// Whether value() has all digits of it and of its neighbours.
bool is_exact_constant(const Expr& x) {
    return x.op() == Op::constant && std::abs(x.value()) < 0x1p52;
}

// x + by, of one constant.
Expr moved_by(const Expr& x, int64_t by) {
    if (is_exact_constant(x)) return integer(static_cast<int64_t>(x.value()) + by);
    const bool adds = x.op() == Op::add, subtracts = x.op() == Op::subtract;
    if ((adds || subtracts) && is_exact_constant(x.operand(1))) {
        const auto constant = static_cast<int64_t>(x.operand(1).value());
        return moved_by(x.operand(0), by + (adds ? constant : -constant));
    }
    return by == 0 ? x : by > 0 ? x + integer(by) : x - integer(-by);
}

}  // namespace

Expr one_more(const Expr& x) { return moved_by(x, 1); }
Expr one_less(const Expr& x) { return moved_by(x, -1); }

std::set<std::string> names_in(const Procedure& procedure) {
    std::set<std::string> names;
    for (const Variable& each : procedure.variables) names.insert(each.name);
    for (const ArrayVariable& each : procedure.arrays) names.insert(each.name);
    return names;
}

Expr element_count(const std::vector<Expr>& shape) {
    Expr count = integer(1);
    for (const Expr& extent : shape)
        if (!is_integer_constant(extent, 1))
            count = is_integer_constant(count, 1) ? extent : count * extent;
    return count;
}

std::vector<Expr> all_variables(const Procedure& procedure) {
    std::vector<Expr> all;
    for (size_t i = 0; i < procedure.variables.size(); ++i) all.push_back(procedure.variable(i));
    return all;
}

std::set<int> variables_in(const std::vector<Expr>& values) {
    std::set<int> found;
    for (const Expr& expr : scalar::topological_order(values))
        if (expr.op() == Op::argument) found.insert(expr.index());
    return found;
}

void replace_variables(Block& block, const std::vector<Expr>& by, bool assigns) {
    for (Statement& statement : block) {
        if (!statement.values.empty()) statement.values = scalar::substitute(statement.values, by);
        if (!statement.index.empty()) statement.index = scalar::substitute(statement.index, by);
        if (assigns && statement.variable >= 0)
            statement.variable = by[static_cast<size_t>(statement.variable)].index();
        for (Block* inner : {&statement.first, &statement.body, &statement.otherwise})
            replace_variables(*inner, by, assigns);
    }
}

Block structured(const Block& block, const Exit& exit) {
    Block out;
    for (size_t i = 0; i < block.size(); ++i) {
        Statement statement = block[i];
        if (const auto replacement = exit(statement)) {
            out.insert(out.end(), replacement->begin(), replacement->end());
            return out;
        }
        const bool leaves = statement.kind == Kind::branch &&
                            (has_exit(statement.body, exit) || has_exit(statement.otherwise, exit));
        if (!leaves) {
            out.push_back(std::move(statement));
            continue;
        }
        for (Block* side : {&statement.body, &statement.otherwise}) {
            side->insert(side->end(), block.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                         block.end());
            *side = structured(*side, exit);
        }
        out.push_back(std::move(statement));
        return out;
    }
    return out;
}

std::map<int, int> mentions_in(const Procedure& procedure, const Block& block) {
    std::map<int, int> counts;
    for (const Statement* statement : all_statements(block)) {
        for (const int variable : variables_in(expressions_of(procedure, *statement)))
            ++counts[variable];
        if (statement->variable >= 0) ++counts[statement->variable];
    }
    return counts;
}

std::map<int, int> assignments_in(const Block& block) {
    std::map<int, int> counts;
    for (const Statement* statement : all_statements(block))
        if (is_assignment(*statement)) ++counts[statement->variable];
    return counts;
}

bool reads_any(const std::vector<Expr>& values, const std::map<int, int>& variables) {
    const std::set<int> read = variables_in(values);
    return std::any_of(read.begin(), read.end(),
                       [&](int variable) { return variables.contains(variable); });
}

std::set<int> exposed_in(const Procedure& procedure, const Block& block) {
    Exposure exposure{procedure, {}};
    Exposure::State state;
    exposure.walk(block, state);
    return exposure.exposed;
}

std::optional<Count> steps_of(const Statement& loop) {
    if (loop.first.size() != 1 || loop.otherwise.size() != 1) return {};
    if (loop.first[0].kind != Kind::assign || loop.otherwise[0].kind != Kind::assign) return {};
    Count count;
    count.counter = loop.first[0].variable;
    count.begin = loop.first[0].values[0];
    const Expr& next = loop.otherwise[0].values[0];
    const bool adds = next.op() == Op::add;
    if (loop.otherwise[0].variable != count.counter || (!adds && next.op() != Op::subtract) ||
        next.operand(0).op() != Op::argument || next.operand(0).index() != count.counter ||
        next.operand(1).op() != Op::constant)
        return {};
    count.step = static_cast<int64_t>(next.operand(1).value()) * (adds ? 1 : -1);
    const Expr& condition = loop.values[0];
    const bool is_up = count.step > 0;
    const bool reaches_end = condition.op() == (is_up ? Op::less_equal : Op::greater_equal);
    if ((!reaches_end && condition.op() != (is_up ? Op::less : Op::greater)) ||
        condition.operand(0).op() != Op::argument || condition.operand(0).index() != count.counter)
        return {};
    count.end = condition.operand(1);
    if (reaches_end) count.end = is_up ? one_more(count.end) : one_less(count.end);
    std::set<int> fixed = variables_in({count.end, count.begin});
    fixed.insert(count.counter);
    for (const auto& [variable, times] : assignments_in(loop.body))
        if (fixed.contains(variable)) return {};
    return count;
}

std::optional<Count> count_of(const Statement& loop) {
    return has_own(loop.body, Kind::stop) ? std::nullopt : steps_of(loop);
}

std::optional<Count> count_by_one(const Statement& loop) {
    const auto count = count_of(loop);
    return count && (count->step == 1 || count->step == -1) ? count : std::nullopt;
}

Statement counting_up(const Expr& counter, const Expr& from, const Expr& to, Block body,
                      const SourceLine& line) {
    return Statement::loop({Statement::assign(counter.index(), from, line)},
                           Expr::make(Op::less, {counter, to}), std::move(body),
                           {Statement::assign(counter.index(), counter + integer(1), line)}, line);
}

Range range_of(const Count& by_one) {
    if (by_one.step == 1) return {by_one.counter, by_one.begin, by_one.end};
    return {by_one.counter, one_more(by_one.end), one_more(by_one.begin)};
}

std::optional<Range> range_of(const Statement& loop) {
    if (loop.first.size() != 1 || loop.otherwise.size() != 1) return {};
    const Statement &start = loop.first[0], &step = loop.otherwise[0];
    const int counter = start.variable;
    if (step.variable != counter || assignments_in(loop.body).contains(counter)) return {};
    const auto distance = offset_from(counter, step.values[0]);
    const Expr &condition = loop.values[0], &from = start.values[0];
    const bool compares = condition.operands().size() == 2 &&
                          condition.operand(0).op() == Op::argument &&
                          condition.operand(0).index() == counter;
    if (!distance || !compares) return {};
    const Expr& bound = condition.operand(1);
    if (*distance == 1 && condition.op() == Op::less) return Range{counter, from, bound};
    if (*distance != -1 || condition.op() != Op::greater_equal) return {};
    return Range{counter, bound, one_more(from)};
}

Expr minus(const Expr& a, const Expr& b) {
    if (b.op() != Op::constant) return a - b;
    if (is_exact_constant(b)) return moved_by(a, -static_cast<int64_t>(b.value()));
    const auto bits = [](const Expr& x) { return static_cast<uint64_t>(x.bits()[0]); };
    if (bits(b) == 0) return a;
    if (a.op() == Op::constant) return integer(static_cast<int64_t>(bits(a) - bits(b)));
    const uint64_t opposite = uint64_t(0) - bits(b);
    return static_cast<int64_t>(opposite) > 0 ? a + integer(static_cast<int64_t>(opposite)) : a - b;
}

Expr trip_of(const Procedure& procedure, const Count& count, const Expr& begin) {
    const Expr here = procedure.variable(static_cast<size_t>(count.counter));
    if (count.step == 1) return minus(here, begin);
    if (count.step == -1) return begin - here;
    return Expr::make(Op::divide, {minus(here, begin), integer(count.step)});
}

namespace {

bool is_extent_parameter(const Procedure& procedure, const Expr& value) {
    for (const ArrayVariable& array : procedure.arrays)
        if (array.role == ArrayVariable::Role::input)
            for (const Expr& extent : array.shape)
                if (is_variable(extent, value.index())) return true;
    return false;
}

}  // namespace

Expr trips_of(const Procedure& procedure, const Count& count, const Expr& begin) {
    const bool is_up = count.step > 0;
    const int64_t step = is_up ? count.step : -count.step;
    const Expr distance = is_up ? minus(count.end, begin) : minus(begin, count.end);
    if (distance.op() == Op::constant) {
        const auto all = static_cast<int64_t>(distance.bits()[0]);
        return integer(all > 0 ? (all - 1) / step + 1 : 0);
    }
    const bool is_extent = is_integer_constant(begin, 0) && is_up &&
                           count.end.op() == Op::argument &&
                           is_extent_parameter(procedure, count.end);
    const Expr rounded =
        step == 1 ? distance
                  : Expr::make(Op::divide, {distance + integer(step - 1), integer(step)});
    return is_extent ? rounded : select(distance > integer(0), rounded, integer(0));
}

std::optional<WrappedIndex> wrapped_index(const Expr& value) {
    if (value.op() != Op::select || value.dtype() != DType::int64) return {};
    const Expr &below = value.operand(0), &moved = value.operand(1), &from = value.operand(2);
    const bool is_wrapped = below.op() == Op::less && moved.op() == Op::add &&
                            is_integer_constant(below.operand(1), 0) &&
                            scalar::structurally_equal({below.operand(0)}, {from}) &&
                            scalar::structurally_equal({moved.operand(0)}, {from});
    if (!is_wrapped) return {};
    return WrappedIndex{from, moved.operand(1)};
}

namespace {

// What an index is but for a constant that is added to it; nothing for a constant.
struct Offset {
    std::optional<Expr> from;
    int64_t distance;
};

Offset offset_of(const Expr& index) {
    if (index.op() == Op::constant) return {{}, static_cast<int64_t>(index.value())};
    if (index.op() == Op::add || index.op() == Op::subtract) {
        const Expr &a = index.operand(0), &b = index.operand(1);
        if (b.op() == Op::constant) {
            const auto distance = static_cast<int64_t>(b.value());
            return {a, index.op() == Op::add ? distance : -distance};
        }
        if (index.op() == Op::add && a.op() == Op::constant)
            return {b, static_cast<int64_t>(a.value())};
    }
    return {index, 0};
}

}  // namespace

std::optional<int64_t> offset_from(int counter, const Expr& index) {
    const Offset offset = offset_of(index);
    if (!offset.from || !is_variable(*offset.from, counter)) return {};
    return offset.distance;
}

bool are_apart(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    if (a.size() != b.size()) return false;
    for (size_t axis = 0; axis < a.size(); ++axis) {
        const Offset own = offset_of(a[axis]), other = offset_of(b[axis]);
        const bool is_same = own.from.has_value() == other.from.has_value() &&
                             (!own.from || scalar::structurally_equal({*own.from}, {*other.from}));
        if (is_same && own.distance != other.distance) return true;
    }
    return false;
}

}  // namespace composit::ir::procedure
