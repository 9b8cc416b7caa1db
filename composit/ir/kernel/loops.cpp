// Which strides of which accesses belong to each loop of each body.
#include "composit/ir/kernel/loops.h"

#include "composit/base/error.h"

#include <algorithm>

namespace composit::ir::kernel {
namespace {

// Lists loops group by group. Each access of the body remembers how many strides of it have been
// given away.
class Listing {
  public:
    explicit Listing(Body& body) : next_(accesses(body).size(), 0) {}

    // Loops over `extents` that move the accesses of those numbers, each by its next strides.
    void put(Extents& extents, const std::vector<size_t>& moved, bool is_outer,
             bool can_be_cut = true) {
        for (size_t d = 0; d < extents.size(); ++d) {
            Loop loop{&extents, d, std::vector<int>(next_.size(), -1), is_outer, can_be_cut};
            for (size_t a : moved) loop.stride_at[a] = next_[a]++;
            found_.push_back(std::move(loop));
        }
    }
    std::vector<size_t> all_but(size_t last = 0) const {
        std::vector<size_t> numbers;
        for (size_t a = 0; a + last < next_.size(); ++a) numbers.push_back(a);
        return numbers;
    }
    std::vector<Loop> take() { return std::move(found_); }
    Loop& last() { return found_.back(); }

  private:
    std::vector<int> next_;
    std::vector<Loop> found_;
};

}  // namespace

std::vector<Loop> loops(Body& body) {
    Listing list(body);
    const auto every = list.all_but();
    if (auto* map = std::get_if<Map>(&body)) list.put(map->extents, every, true);
    if (auto* reduce = std::get_if<Reduce>(&body)) {
        list.put(reduce->kept, every, true);
        list.put(reduce->reduced, list.all_but(1), false);
    }
    if (auto* scan = std::get_if<Scan>(&body)) {
        list.put(scan->extents, every, true);
        list.last().is_outer = list.last().can_be_cut = false;
    }
    if (auto* sort = std::get_if<Sort>(&body)) {
        list.put(sort->extents, every, true);
        list.last().is_outer = list.last().can_be_cut = false;
    }
    if (auto* search = std::get_if<Search>(&body)) {
        list.put(search->extents, every, true);
        list.put(search->row, {0}, false, false);
    }
    if (auto* c = std::get_if<Contract>(&body)) {
        const std::vector<size_t> all_but_left(every.begin() + 1, every.end());
        std::vector<size_t> all_but_right = every;
        all_but_right.erase(all_but_right.begin() + 1);
        list.put(c->batch, every, true);
        list.put(c->rows, all_but_right, true);
        list.put(c->depth, {0, 1}, false);
        list.put(c->columns, all_but_left, false);
    }
    if (auto* c = std::get_if<DecodedContract>(&body)) {
        list.put(c->rows, {0, every.back()}, true);
        list.put(c->depth, list.all_but(1), false, false);
        list.put(c->columns, {every.begin() + 1, every.end()}, false, false);
    }
    if (auto* gather = std::get_if<Gather>(&body)) {
        std::vector<size_t> all_but_data(every.begin() + 1, every.end());
        list.put(gather->outer, all_but_data, false);
        list.put(gather->inner, {0, every.back()}, false);
    }
    if (auto* scatter = std::get_if<Scatter>(&body)) {
        list.put(scatter->outer, list.all_but(1), false);
        list.put(scatter->inner, {0, every.back()}, false);
    }
    if (auto* fold = std::get_if<Fold>(&body)) {
        list.put(fold->outer, every, true);
        list.put(fold->positions, {1}, false, false);
        list.put(fold->counts, {0}, false, false);
        list.put(fold->window, {0}, false, false);
    }
    internal_check(!std::holds_alternative<Pack>(body) && !std::holds_alternative<Fused>(body) &&
                       !std::holds_alternative<Repeat>(body),
                   "loops: a schedule has members, not loops of its own");
    return list.take();
}

void erase_loop(Body& body, const Loop& loop) {
    const auto moved = accesses(body);
    for (size_t a = 0; a < moved.size(); ++a)
        if (loop.stride_at[a] >= 0)
            moved[a]->strides.erase(moved[a]->strides.begin() + loop.stride_at[a]);
    loop.extents->erase(loop.extents->begin() + static_cast<std::ptrdiff_t>(loop.at));
}

void cut_loop(Body& body, const Loop& loop, int64_t inner) {
    internal_check(loop.can_be_cut && inner > 0 && loop.extent() % inner == 0,
                   "cut_loop: ", loop.extent(), " iterations into ", inner);
    const auto moved = accesses(body);
    for (size_t a = 0; a < moved.size(); ++a) {
        if (loop.stride_at[a] < 0) continue;
        auto& strides = moved[a]->strides;
        const auto at = strides.begin() + loop.stride_at[a];
        const int64_t stride = *at;
        *at = stride * inner;
        strides.insert(at + 1, stride);
    }
    const auto at = loop.extents->begin() + static_cast<std::ptrdiff_t>(loop.at);
    *at /= inner;
    loop.extents->insert(at + 1, inner);
}

void reorder_loops(Body& body, Extents& extents, const std::vector<size_t>& order) {
    const auto moved = accesses(body);
    std::vector<Loop> group = loops(body);
    std::erase_if(group, [&](const Loop& loop) { return loop.extents != &extents; });
    internal_check(group.size() == order.size(), "reorder_loops: ", order.size(), " loops of ",
                   group.size());
    const Extents before = extents;
    for (size_t i = 0; i < order.size(); ++i) extents[i] = before[order[i]];
    for (size_t a = 0; a < moved.size(); ++a) {
        const auto strides = moved[a]->strides;
        for (size_t i = 0; i < order.size(); ++i)
            if (group[i].stride_at[a] >= 0)
                moved[a]->strides[static_cast<size_t>(group[i].stride_at[a])] =
                    strides[static_cast<size_t>(group[order[i]].stride_at[a])];
    }
}

std::vector<Loop> loops_that_move(Body& body, size_t access) {
    const auto& strides = accesses(body)[access]->strides;
    std::vector<Loop> found = loops(body);
    const auto stride = [&](const Loop& loop) {
        return loop.stride_at[access] < 0 ? 0
                                          : strides[static_cast<size_t>(loop.stride_at[access])];
    };
    std::erase_if(found, [&](const Loop& loop) { return stride(loop) == 0 || loop.extent() == 1; });
    std::stable_sort(found.begin(), found.end(),
                     [&](const Loop& a, const Loop& b) { return stride(a) > stride(b); });
    return found;
}

std::optional<std::set<int64_t>> steps_through(Body& body, size_t access, int64_t count) {
    const Access& moved = *accesses(body)[access];
    const auto loops = loops_that_move(body, access);
    std::set<int64_t> steps;
    int64_t step = 1;
    for (size_t l = loops.size(); l-- > 0;) {
        if (moved.strides[static_cast<size_t>(loops[l].stride_at[access])] != step)
            return std::nullopt;
        steps.insert(step);
        step *= loops[l].extent();
    }
    if (moved.offset != 0 || step != count) return std::nullopt;
    return steps;
}

bool cut_loops_at(Body& body, size_t access, const std::set<int64_t>& steps) {
    for (int64_t step : steps) {
        const Access& moved = *accesses(body)[access];
        for (const Loop& loop : loops_that_move(body, access)) {
            const int64_t own = moved.strides[static_cast<size_t>(loop.stride_at[access])];
            if (step <= own || step >= own * loop.extent()) continue;
            if (step % own != 0 || loop.extent() % (step / own) != 0) return false;
            cut_loop(body, loop, step / own);
            break;
        }
    }
    return true;
}

}  // namespace composit::ir::kernel
