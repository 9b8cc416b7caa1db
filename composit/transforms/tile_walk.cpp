// Row-major addresses taken apart into positions along dimensions, and those into tiles.
#include "composit/transforms/tile_walk.h"

#include "composit/ir/array.h"

#include <cstdlib>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Body;

namespace {

// The dimension that a stride moves along: the one of the longest step that goes into it.
std::optional<size_t> dimension_of(const ir::Shape& shape, const std::vector<int64_t>& strides,
                                   int64_t stride) {
    for (size_t k = 0; k < shape.size(); ++k)
        if (shape[k] > 1 && strides[k] <= stride)
            return stride % strides[k] == 0 ? std::optional(k) : std::nullopt;
    return std::nullopt;
}

// Whether each sum of a start and steps stays within its range.
class Ranges {
  public:
    explicit Ranges(std::vector<int64_t> start) : low_(start), high_(std::move(start)) {}
    void move(size_t at, int64_t step, int64_t extent) {
        (step < 0 ? low_ : high_)[at] += step * (extent - 1);
    }
    bool are_within(const std::vector<int64_t>& lengths) const {
        for (size_t k = 0; k < lengths.size(); ++k)
            if (low_[k] < 0 || high_[k] >= lengths[k]) return false;
        return true;
    }

  private:
    std::vector<int64_t> low_, high_;
};

}  // namespace

Walk walk_dimensions(const ir::Shape& shape, int64_t offset, const std::vector<Mover>& movers) {
    const auto strides = ir::row_major_strides(shape);
    Walk walk;
    if (ir::element_count(shape) == 0) return {{}, {}, {}, false};
    walk.start.resize(shape.size(), 0);
    for (size_t k = 0; k < shape.size(); ++k) {
        if (shape[k] <= 1) continue;
        walk.start[k] = offset / strides[k];
        offset %= strides[k];
    }
    if (offset != 0) return {{}, {}, {}, false};
    Ranges ranges(walk.start);
    for (size_t m = 0; m < movers.size(); ++m) {
        const auto [loop, extent, stride] = movers[m];
        if (stride == 0 || extent <= 1) continue;
        const auto k = dimension_of(shape, strides, std::abs(stride));
        if (!k) return {{}, {}, {}, false};
        const int64_t step = stride / strides[*k];
        if (std::abs(step) * (extent - 1) >= shape[*k]) {  // goes on along the dimension before
            const int64_t inner = shape[*k] / std::abs(step);
            if (loop == Mover::data || shape[*k] % step != 0 || inner <= 1 || extent % inner != 0)
                return {{}, {}, {}, false};
            walk.needs = Cut{loop, inner};
            return walk;
        }
        walk.steps.push_back({m, *k, step});
        ranges.move(*k, step, extent);
    }
    walk.is_possible = ranges.are_within(shape);
    return walk;
}

TiledWalk walk_tiles(const ir::Shape& shape, const TileView& view, int64_t offset,
                     const std::vector<Mover>& movers) {
    const Walk walk = walk_dimensions(shape, offset, movers);
    TiledWalk tiled{0, std::vector<int64_t>(movers.size(), 0), walk.needs, walk.is_possible};
    if (walk.needs || !walk.is_possible) return tiled;
    const auto axes = TiledLayout(shape, view).axes;
    std::vector<int64_t> start, lengths;
    for (const auto& axis : axes) {
        const int64_t position = walk.start[static_cast<size_t>(axis.dimension)];
        start.push_back(position / axis.step % axis.length);
        lengths.push_back(axis.length);
        tiled.offset += start.back() * axis.stride;
    }
    Ranges ranges(start);
    for (const Steps& steps : walk.steps) {
        const Mover& mover = movers[steps.mover];
        const int64_t step = std::abs(steps.step);
        // The axis of this dimension within whose range the whole loop stays.
        bool is_found = false;
        for (size_t a = 0; a < axes.size() && !is_found; ++a) {
            const auto& axis = axes[a];
            if (static_cast<size_t>(axis.dimension) != steps.dimension || axis.length <= 1 ||
                step < axis.step)
                continue;
            if (step % axis.step != 0) return {0, {}, {}, false};
            const int64_t end = axis.step * axis.length;
            if (step * (mover.extent - 1) >= end) {
                const int64_t inner = end / step;
                if (mover.loop == Mover::data || end % step != 0 || inner <= 1 ||
                    mover.extent % inner != 0)
                    return {0, {}, {}, false};
                tiled.needs = Cut{mover.loop, inner};
                return tiled;
            }
            ranges.move(a, steps.step / axis.step, mover.extent);
            tiled.strides[steps.mover] = steps.step / axis.step * axis.stride;
            is_found = true;
        }
        if (!is_found) return {0, {}, {}, false};
    }
    tiled.is_possible = ranges.are_within(lengths);
    return tiled;
}

std::vector<Mover> movers_of(Body& body, size_t access) {
    const Access& moved = *ir::kernel::accesses(body)[access];
    std::vector<Mover> movers;
    const auto loops = ir::kernel::loops(body);
    for (size_t l = 0; l < loops.size(); ++l)
        if (loops[l].stride_at[access] >= 0)
            movers.push_back({static_cast<int>(l), loops[l].extent(),
                              ir::kernel::stride_of(moved, loops[l].stride_at[access])});
    const auto add_indices = [&](const auto& indexing) {
        if (&indexing.data != &moved) return;
        for (size_t j = 0; j < indexing.axis_strides.size(); ++j)
            movers.push_back({Mover::data, indexing.axis_lengths[j], indexing.axis_strides[j]});
    };
    if (const auto* gather = std::get_if<ir::kernel::Gather>(&body)) add_indices(*gather);
    if (const auto* scatter = std::get_if<ir::kernel::Scatter>(&body)) add_indices(*scatter);
    return movers;
}

std::vector<bool> written_accesses(Body& body) {
    std::vector<bool> written(ir::kernel::accesses(body).size(), false);
    size_t count = 1;
    if (const auto* map = std::get_if<ir::kernel::Map>(&body)) count = map->outputs.size();
    for (size_t a = 0; a < count; ++a) written[written.size() - 1 - a] = true;
    return written;
}

bool settle(Body& body, size_t access, const ir::kernel::Program& program, const TileView& view) {
    const Access& moved = *ir::kernel::accesses(body)[access];
    if (moved.buffer == Access::position) return true;
    const ir::Shape& shape = program.buffers[static_cast<size_t>(moved.buffer)].shape;
    const Body before = body;
    while (true) {
        const Access& now = *ir::kernel::accesses(body)[access];
        const TiledWalk walk = walk_tiles(shape, view, now.offset, movers_of(body, access));
        if (walk.is_possible && !walk.needs) return true;
        bool can_go_on = walk.is_possible && walk.needs.has_value();
        if (can_go_on) {
            const auto loop = ir::kernel::loops(body)[static_cast<size_t>(walk.needs->loop)];
            can_go_on = loop.can_be_cut && loop.extent() % walk.needs->inner == 0;
            if (can_go_on) ir::kernel::cut_loop(body, loop, walk.needs->inner);
        }
        if (can_go_on) continue;
        body = before;
        return false;
    }
}

}  // namespace composit::transforms
