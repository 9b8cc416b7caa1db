// ArrayUse: where statements read and write elements, and which reads may be repeated.
#include "composit/base/error.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::ir::procedure {

using Kind = Statement::Kind;
using scalar::Op;

namespace {

bool writes(const Statement& statement) {
    return is_write(statement) || statement.kind == Kind::append || statement.kind == Kind::take ||
           statement.kind == Kind::allocate;
}

// Loops are known by their counters: copies of a loop are the same one.
bool is_within(const std::vector<const Statement*>& loops, int counter) {
    return std::any_of(loops.begin(), loops.end(), [counter](const Statement* loop) {
        return loop->first.size() == 1 && loop->first[0].variable == counter;
    });
}

}  // namespace

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
    std::vector<const Mention*> stores;
    size_t allocations = 0, adds = 0;
    for (const Mention& mention : found->second) {
        allocations += mention.statement->kind == Kind::allocate;
        adds += mention.statement->kind == Kind::add;
        if (mention.statement->kind == Kind::store) stores.push_back(&mention);
    }
    if (allocations != 1) return false;
    if (stores.empty()) return true;
    if (adds != 0) return false;
    for (size_t i = 0; i < stores.size(); ++i) {
        if (!has_own_elements(*stores[i], depth_of(array))) return false;
        for (size_t k = 0; k < i; ++k)
            if (!lie_apart(*stores[i], *stores[k])) return false;
    }
    return true;
}

// Whether each iteration of the loops around a store, from the one at a depth on, has its own
// element.
bool ArrayUse::has_own_elements(const Mention& store, size_t depth) {
    std::set<size_t> used;
    for (size_t i = depth; i < store.loops.size(); ++i) {
        const auto count = count_of(*store.loops[i]);
        if (!count) return false;
        bool found_axis = false;
        for (size_t axis = 0; axis < store.statement->index.size() && !found_axis; ++axis)
            if (!used.contains(axis) && offset_from(count->counter, store.statement->index[axis])) {
                used.insert(axis);
                found_axis = true;
            }
        if (!found_axis) return false;
    }
    return true;
}

// Whether two stores write to no common element in any iterations: on some axis the indices of one
// are literals, or count between literals, and all those of the other are greater.
bool ArrayUse::lie_apart(const Mention& one, const Mention& other) {
    const auto range_on = [](const Mention& store,
                             const Expr& index) -> std::optional<std::pair<int64_t, int64_t>> {
        if (index.op() == scalar::Op::constant) {
            const auto at = static_cast<int64_t>(index.value());
            return std::pair(at, at);
        }
        for (const Statement* loop : store.loops) {
            const auto range = range_of(*loop);
            const auto offset = range ? offset_from(range->counter, index) : std::nullopt;
            if (!offset || range->low.op() != scalar::Op::constant ||
                range->high.op() != scalar::Op::constant)
                continue;
            return std::pair(static_cast<int64_t>(range->low.value()) + *offset,
                             static_cast<int64_t>(range->high.value()) - 1 + *offset);
        }
        return {};
    };
    const std::vector<Expr>&a = one.statement->index, &b = other.statement->index;
    if (a.size() != b.size()) return false;
    for (size_t axis = 0; axis < a.size(); ++axis) {
        const auto own = range_on(one, a[axis]), others = range_on(other, b[axis]);
        if (own && others && (own->second < others->first || others->second < own->first))
            return true;
    }
    return false;
}

}  // namespace composit::ir::procedure
