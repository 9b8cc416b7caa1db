// Which strides of which accesses belong to each loop of each body.
#include "composit/ir/kernel/loops.h"

#include "composit/base/error.h"
#include "composit/ir/kernel/fields.h"

#include <algorithm>

namespace composit::ir::kernel {
namespace {

// Lists loops as they are described, then what they move.
class Listing : public NoFields {
  public:
    explicit Listing(Body& body) : accesses_(accesses(body)) {}

    void loops(std::string_view, Extents& extents, LoopRole role) {
        for (size_t d = 0; d < extents.size(); ++d) {
            const bool is_last = role == LoopRole::outer_but_last && d + 1 == extents.size();
            const bool is_outer =
                role == LoopRole::outer || (role == LoopRole::outer_but_last && !is_last);
            found_.push_back({&extents, d, std::vector<int>(accesses_.size(), -1), is_outer,
                              role != LoopRole::fixed && !is_last});
        }
    }
    void reads(std::string_view, auto& accesses, const auto&... along) {
        move(accesses, {&along...});
    }
    void writes(std::string_view, auto& accesses, const auto&... along) {
        move(accesses, {&along...});
    }
    void reads_again(std::string_view, Access& access, const Extents&, const auto&... along) {
        move(access, {&along...});
    }
    void updates(std::string_view, Access& access, const Extents&, const auto&... along) {
        move(access, {&along...});
    }
    std::vector<Loop> take() { return std::move(found_); }

  private:
    using Along = std::vector<const Extents*>;

    void move(std::vector<Access>& accesses, const Along& along) {
        for (Access& access : accesses) move(access, along);
    }
    void move(const Access& access, const Along& along) {
        const auto number = static_cast<size_t>(
            std::find(accesses_.begin(), accesses_.end(), &access) - accesses_.begin());
        int next = 0;
        for (const Extents* extents : along)
            for (Loop& loop : found_)
                if (loop.extents == extents) loop.stride_at[number] = next++;
    }

    std::vector<Access*> accesses_;
    std::vector<Loop> found_;
};

}  // namespace

std::vector<Loop> loops(Body& body) {
    Listing list(body);
    std::visit(
        [&](auto& kind) {
            using Kind = std::remove_reference_t<decltype(kind)>;
            if constexpr (IsDescribed<Kind>) describe(kind, list);
        },
        body);
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

bool is_row_major(const Extents& extents, const std::vector<int64_t>& strides) {
    int64_t expected = 1;
    bool found = true;
    for (size_t axis = extents.size(); axis-- > 0;) {
        found &= extents[axis] == 1 || strides[axis] == expected;
        expected *= extents[axis];
    }
    return found || expected == 0;
}

}  // namespace composit::ir::kernel
