// Finding out how statements hang together: exits, exposed reads, counted loops, uses of arrays.
#include "composit/ir/procedure/structure.h"

#include "composit/base/error.h"

#include <algorithm>

namespace composit::ir::procedure {

using Kind = Statement::Kind;
using scalar::Op;

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

bool writes(const Statement& statement) {
    return is_write(statement) || statement.kind == Kind::append || statement.kind == Kind::take ||
           statement.kind == Kind::allocate;
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

// Loops are known by their counters: copies of a loop are the same one.
bool is_within(const std::vector<const Statement*>& loops, int counter) {
    return std::any_of(loops.begin(), loops.end(), [counter](const Statement* loop) {
        return loop->first.size() == 1 && loop->first[0].variable == counter;
    });
}

}  // namespace

Expr element_count(const std::vector<Expr>& shape) {
    Expr count = integer(1);
    for (const Expr& extent : shape)
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
    const Op wanted = count.step > 0 ? Op::less : Op::greater;
    if (condition.op() != wanted || condition.operand(0).op() != Op::argument ||
        condition.operand(0).index() != count.counter)
        return {};
    count.end = condition.operand(1);
    std::set<int> fixed = variables_in({count.end, count.begin});
    fixed.insert(count.counter);
    for (const auto& [variable, times] : assignments_in(loop.body))
        if (fixed.contains(variable)) return {};
    return count;
}

std::optional<Count> count_of(const Statement& loop) {
    return has_own(loop.body, Kind::stop) ? std::nullopt : steps_of(loop);
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
    const bool is_before = from.op() == Op::subtract && is_integer_constant(from.operand(1), 1);
    return Range{counter, bound, is_before ? Expr(from.operand(0)) : from + integer(1)};
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
    const Expr distance = is_up ? minus(count.end, begin) : begin - count.end;
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

std::optional<int64_t> offset_from(int counter, const Expr& index) {
    const auto is_counter = [counter](const Expr& x) { return is_variable(x, counter); };
    if (is_counter(index)) return 0;
    if (index.op() != Op::add && index.op() != Op::subtract) return {};
    const Expr &a = index.operand(0), &b = index.operand(1);
    if (is_counter(a) && b.op() == Op::constant)
        return static_cast<int64_t>(b.value()) * (index.op() == Op::add ? 1 : -1);
    if (index.op() == Op::add && is_counter(b) && a.op() == Op::constant)
        return static_cast<int64_t>(a.value());
    return {};
}

ArrayUse::ArrayUse(const Procedure& procedure, std::set<int> changing)
    : procedure_(procedure), changing_(std::move(changing)) {
    walk(procedure.body);
}

// A load of the element that the block stored before, whatever loop runs again.
bool ArrayUse::reads_what_was_stored(const Block& block, size_t place) {
    const Statement& load = block[place];
    if (load.kind != Kind::load) return false;
    const std::set<int> index = variables_in(load.index);
    for (size_t i = place; i-- > 0;) {
        const Statement& before = block[i];
        const Block one{before};
        for (const auto& [variable, times] : assignments_in(one))
            if (index.contains(variable)) return false;
        for (const Statement* inner : all_statements(one)) {
            if (!writes(*inner) || inner->array != load.array) continue;
            return inner->kind == Kind::store && before.kind == Kind::store &&
                   before.index.size() == load.index.size() &&
                   scalar::structurally_equal(before.index, load.index);
        }
    }
    return false;
}

void ArrayUse::walk(const Block& block) {
    for (size_t i = 0; i < block.size(); ++i) {
        const Statement& statement = block[i];
        ++order_;
        if (statement.array >= 0)
            (reads_what_was_stored(block, i) ? own_reads_ : mentions_)[statement.array].push_back(
                {&statement, loops_, order_});
        if (statement.kind == Kind::loop) {
            starts_[&statement] = order_;
            loops_.push_back(&statement);
        }
        walk(statement.body);
        if (statement.kind == Kind::loop) loops_.pop_back();
        walk(statement.otherwise);
    }
}

// How many loops stand around all of an array's life.
size_t ArrayUse::depth_of(int array) const {
    const auto& all = mentions_.at(array);
    std::vector<const Statement*> common;
    bool is_first = true;
    for (const Mention& mention : all) {
        if (mention.statement->kind != Kind::allocate) continue;
        if (is_first) common = mention.loops;
        is_first = false;
    }
    size_t depth = common.size();
    for (const Mention& mention : all) {
        size_t same = 0;
        while (same < std::min(depth, mention.loops.size()) && common[same] == mention.loops[same])
            ++same;
        depth = same;
    }
    return depth;
}

std::set<int> ArrayUse::changing() const {
    std::set<int> found;
    for (const auto& [array, all] : mentions_) {
        const ArrayVariable& known = procedure_.arrays[static_cast<size_t>(array)];
        if (known.role == ArrayVariable::Role::input) continue;
        if (known.grows)
            fail<NotSupported>(procedure_.name,
                               ": its arrays grow, as the tapes of derivatives in reverse do, of "
                               "which none in reverse is built. Take the jvp instead. [",
                               procedure_.file, ":", procedure_.line, "]");
        const size_t depth = depth_of(array);
        for (const Mention& load : all) {
            if (load.statement->kind != Kind::load || load.loops.size() <= depth) continue;
            const Statement* loop = load.loops[depth];
            for (const Mention& write : all) {
                if (!writes(*write.statement)) continue;
                const bool is_inside = write.loops.size() > depth && write.loops[depth] == loop;
                if (!is_inside && write.order < starts_.at(loop)) continue;
                if (is_inside && reads_earlier(*loop, array)) continue;
                found.insert(array);
            }
        }
    }
    return found;
}

// Whether the loop reads an element that it stored, and may store to it again: when it runs again,
// it would find what was stored last.
bool ArrayUse::changes_what_was_read(int counter, int array) const {
    const auto own = own_reads_.find(array);
    if (own == own_reads_.end()) return false;
    size_t stores = 0;
    for (const Mention& mention : mentions_.at(array))
        stores += is_within(mention.loops, counter) && writes(*mention.statement);
    for (const Mention& read : own->second) {
        if (!is_within(read.loops, counter)) continue;
        if (stores != 1) return true;
        bool is_inner = false;
        for (const Statement* loop : read.loops) {
            const auto count = count_of(*loop);
            const auto& index = read.statement->index;
            const bool tells_apart =
                count && std::any_of(index.begin(), index.end(), [&](const Expr& place) {
                    return offset_from(count->counter, place).has_value();
                });
            if (is_inner && !tells_apart) return true;
            is_inner |= count && count->counter == counter;
        }
    }
    return false;
}

// Whether a store that touches an element that the load reads has always run before, in the loops
// around both from `depth` on: of each loop, one axis says that it was in an earlier iteration,
// or that it is in the same one.
bool ArrayUse::is_stored_before(const Mention& load, const Mention& store, size_t depth) const {
    const size_t rank = procedure_.arrays[static_cast<size_t>(load.statement->array)].shape.size();
    const auto &read = load.statement->index, &written = store.statement->index;
    if (read.size() != rank || written.size() != rank) return false;
    for (; depth < std::min(load.loops.size(), store.loops.size()); ++depth) {
        if (load.loops[depth] != store.loops[depth]) break;
        const auto count = count_of(*load.loops[depth]);
        if (!count) return false;
        bool is_earlier = false, is_same = false;
        for (size_t axis = 0; axis < rank; ++axis) {
            const auto loaded = offset_from(count->counter, read[axis]);
            const auto stored = offset_from(count->counter, written[axis]);
            if (!loaded || !stored) continue;
            is_earlier |= count->step > 0 ? *loaded < *stored : *loaded > *stored;
            is_same |= *loaded == *stored;
        }
        if (is_earlier) return true;
        if (!is_same) return false;
    }
    return store.order < load.order;
}

// Whether whatever the loop reads of the array has been stored before, to stay.
bool ArrayUse::reads_earlier(const Statement& loop, int array) const {
    const auto count = count_of(loop);
    if (!count || changes_what_was_read(count->counter, array)) return false;
    std::vector<const Mention*> loads, stores;
    for (const Mention& mention : mentions_.at(array)) {
        if (!is_within(mention.loops, count->counter)) continue;
        if (mention.statement->kind == Kind::allocate) return false;
        (writes(*mention.statement) ? stores : loads).push_back(&mention);
    }
    const auto depth_in = [&](const Mention& mention) {
        size_t depth = 0;
        while (!is_within({mention.loops[depth]}, count->counter)) ++depth;
        return depth;
    };
    for (const Mention* load : loads)
        for (const Mention* store : stores)
            if (!is_stored_before(*load, *store, depth_in(*load))) return false;
    return !loads.empty() && !stores.empty();
}

bool ArrayUse::is_recurrence(const Statement& loop, int array) const {
    if (changing_.contains(array)) return false;
    const auto found = mentions_.find(array);
    if (found == mentions_.end()) return false;
    const auto count = count_of(loop);
    if (!count) return false;
    bool reads = false, stores = false;
    for (const Mention& mention : found->second) {
        if (!is_within(mention.loops, count->counter)) continue;
        reads |= mention.statement->kind == Kind::load;
        stores |= writes(*mention.statement);
    }
    return reads && stores && reads_earlier(loop, array);
}

bool ArrayUse::is_written_once(int array) const {
    const auto found = mentions_.find(array);
    if (found == mentions_.end()) return true;
    const size_t depth = depth_of(array);
    const Mention* store = nullptr;
    size_t allocations = 0, stores = 0, adds = 0;
    for (const Mention& mention : found->second) {
        allocations += mention.statement->kind == Kind::allocate;
        adds += mention.statement->kind == Kind::add;
        if (mention.statement->kind != Kind::store) continue;
        ++stores;
        store = &mention;
    }
    if (allocations != 1) return false;
    if (stores == 0) return true;
    if (stores != 1 || adds != 0) return false;
    std::set<size_t> used;
    for (size_t i = depth; i < store->loops.size(); ++i) {
        const auto count = count_of(*store->loops[i]);
        if (!count) return false;
        bool found_axis = false;
        for (size_t axis = 0; axis < store->statement->index.size() && !found_axis; ++axis)
            if (!used.contains(axis) &&
                offset_from(count->counter, store->statement->index[axis])) {
                used.insert(axis);
                found_axis = true;
            }
        if (!found_axis) return false;
    }
    return true;
}

}  // namespace composit::ir::procedure
