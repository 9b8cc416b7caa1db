// Stores buffers as their tile views say, and sends the kernels' loops through the tiles.
#include "composit/base/error.h"
#include "composit/transforms/tile.h"
#include "composit/transforms/tile_walk.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Body;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Extents;
using ir::kernel::Kernel;
using ir::kernel::Map;
using ir::kernel::Program;

namespace {

// Copies between row-major order and that of the layout, which is walked from its first element to
// its last: one run of neighbours after the other.
void copy_tiles(const TiledLayout& layout, const ir::Shape& shape, int64_t size, const char* from,
                char* to, bool into_tiles) {
    const auto row_major = ir::row_major_strides(shape);
    const auto& axes = layout.axes;
    const auto stride_of = [&](const TiledLayout::Axis& axis) {
        return row_major[static_cast<size_t>(axis.dimension)] * axis.step;
    };
    // The innermost axis of several elements is a run where it is contiguous in both.
    size_t last = axes.size();
    while (last > 0 && axes[last - 1].length == 1) --last;
    const int64_t run = last > 0 && stride_of(axes[last - 1]) == 1 ? axes[last - 1].length : 1;
    if (run > 1) --last;
    std::vector<int64_t> index(last, 0);
    const int64_t count = ir::element_count(shape);
    for (int64_t done = 0, at = 0; done < count; done += run) {
        const int64_t source = into_tiles ? at : done, target = into_tiles ? done : at;
        std::memcpy(to + target * size, from + source * size, static_cast<size_t>(run * size));
        for (size_t a = last; a-- > 0;) {
            at += stride_of(axes[a]);
            if (++index[a] < axes[a].length) break;
            at -= stride_of(axes[a]) * axes[a].length;
            index[a] = 0;
        }
    }
}

}  // namespace

ir::Array tilize(const ir::Array& value, const TileView& view) {
    check_tile_view("the array", value.shape(), view);
    const TiledLayout layout(value.shape(), view);
    ir::Array tiles(value.dtype(), layout.lengths());
    copy_tiles(layout, value.shape(), ir::size_of(value.dtype()),
               static_cast<const char*>(value.data()), static_cast<char*>(tiles.mutable_data()),
               true);
    return tiles;
}

ir::Array untilize(const ir::Array& tiles, const ir::Shape& shape, const TileView& view) {
    check_tile_view("the array", shape, view);
    const TiledLayout layout(shape, view);
    user_check(tiles.shape() == layout.lengths(), "untilize: the tiles have shape ", tiles.shape(),
               ". ", layout.lengths(), " is required.");
    ir::Array value(tiles.dtype(), shape);
    copy_tiles(layout, shape, ir::size_of(tiles.dtype()), static_cast<const char*>(tiles.data()),
               static_cast<char*>(value.mutable_data()), false);
    return value;
}

namespace {

class Application {
  public:
    Application(Program program, const std::vector<TileView>& views, bool fuse)
        : program_(std::move(program)), views_(views), fuse_(fuse) {
        for (const Buffer& buffer : program_.buffers) names_.insert(buffer.name);
        for (const Kernel& kernel : program_.kernels) names_.insert(kernel.name);
    }

    Program run() {
        std::vector<Kernel> kernels = std::move(program_.kernels);
        const size_t count = program_.buffers.size();
        for (size_t b = 0; b < count; ++b) store(static_cast<int>(b));
        for (Kernel& kernel : kernels) rewrite(std::move(kernel));
        for (int output : program_.outputs)
            if (stored_.contains(output) && stored_.at(output) != output)
                copy("untilize", stored_.at(output), output, true);
        for (const auto& [number, lengths] : lengths_) buffer(number).shape = lengths;
        return std::move(program_);
    }

  private:
    Buffer& buffer(int number) { return program_.buffers[static_cast<size_t>(number)]; }
    const TileView& view(int number) const { return views_[static_cast<size_t>(number)]; }

    std::string unique(const std::string& name) {
        std::string candidate = name;
        for (int n = 2; !names_.insert(candidate).second; ++n)
            candidate = name + "_" + std::to_string(n);
        return candidate;
    }

    int add_buffer(Buffer made, BufferKind kind, const std::string& name) {
        made.kind = kind;
        made.name = unique(name);
        made.value = {};
        program_.buffers.push_back(std::move(made));
        return static_cast<int>(program_.buffers.size()) - 1;
    }

    // Where the tiles of a viewed buffer lie: in itself, or in another that is copied from or to.
    void store(int number) {
        if (view(number).empty()) return;
        const BufferKind kind = buffer(number).kind;
        if (kind == BufferKind::output && fuse_) return;
        const TiledLayout layout(buffer(number).shape, view(number));
        int tiles = number;
        if (kind == BufferKind::constant) {
            tiles = add_buffer(buffer(number), kind, buffer(number).name + "_tiles");
            // A program that is only looked at may come without values.
            if (buffer(number).value.size() > 0)
                buffer(tiles).value = tilize(buffer(number).value.value(), view(number));
        } else if (kind != BufferKind::temporary) {
            tiles =
                add_buffer(buffer(number), BufferKind::temporary, buffer(number).name + "_tiles");
        }
        stored_[number] = tiles;
        viewed_in_[tiles] = number;
        lengths_[tiles] = layout.lengths();
        if (kind == BufferKind::input) copy("tilize", number, tiles, false);
    }

    // A kernel that copies all of a buffer out of tiles or into them.
    void copy(const std::string& what, int from, int to, bool is_out) {
        const int viewed = is_out ? viewed_in_.at(from) : from;
        const TiledLayout layout(buffer(viewed).shape, view(viewed));
        const auto row_major = ir::row_major_strides(buffer(viewed).shape);
        const ir::DType dtype = buffer(viewed).dtype;
        Access plain{is_out ? to : from, dtype, 0, {}}, tiled{is_out ? from : to, dtype, 0, {}};
        Map map;
        for (const auto& axis : layout.axes) {
            if (axis.length == 1) continue;
            map.extents.push_back(axis.length);
            tiled.strides.push_back(axis.stride);
            plain.strides.push_back(row_major[static_cast<size_t>(axis.dimension)] * axis.step);
        }
        map.inputs = {is_out ? tiled : plain};
        map.outputs = {is_out ? plain : tiled};
        map.values = {ir::scalar::Expr::argument(0, dtype)};
        Kernel kernel{unique(what + "_" + buffer(viewed).name),
                      what + " " + buffer(viewed).name + ": " + text_of(view(viewed)),
                      {},
                      map};
        if (is_out) order_loops(kernel.body);
        program_.kernels.push_back(std::move(kernel));
    }

    void rewrite(Kernel kernel) {
        Body& body = kernel.body;
        if (std::holds_alternative<ir::kernel::Repeat>(body) ||
            ir::kernel::takes_whole_arrays(kernel))
            return program_.kernels.push_back(std::move(kernel));
        const std::vector<bool> written = written_accesses(body);
        std::vector<bool> in_tiles(written.size(), false);
        // What is written first: propagate_tiles knows that it can be.
        for (const bool writes : {true, false})
            for (size_t a = 0; a < written.size(); ++a) {
                const int number = ir::kernel::accesses(body)[a]->buffer;
                if (written[a] != writes || number == Access::position || !stored_.contains(number))
                    continue;
                in_tiles[a] = settle(body, a, program_, view(number));
                internal_check(in_tiles[a] || !writes, "apply_tiles: ", kernel.name,
                               " cannot write '", buffer(number).name, "' in tiles");
            }
        for (size_t a = 0; a < written.size(); ++a) {
            Access& access = *ir::kernel::accesses(body)[a];
            if (access.buffer == Access::position || !stored_.contains(access.buffer)) continue;
            if (written[a]) whole_of_.erase(access.buffer);
            if (in_tiles[a])
                send_through_tiles(body, a);
            else
                access.buffer = whole_of(access.buffer);
        }
        if (std::find(in_tiles.begin(), in_tiles.end(), true) != in_tiles.end()) order_loops(body);
        program_.kernels.push_back(std::move(kernel));
    }

    void send_through_tiles(Body& body, size_t a) {
        Access& access = *ir::kernel::accesses(body)[a];
        const auto movers = movers_of(body, a);
        const TiledWalk walk =
            walk_tiles(buffer(access.buffer).shape, view(access.buffer), access.offset, movers);
        internal_check(walk.is_possible && !walk.needs, "apply_tiles: '",
                       buffer(access.buffer).name, "' moved after it was settled");
        const auto loops = ir::kernel::loops(body);
        size_t index = 0;
        for (size_t m = 0; m < movers.size(); ++m) {
            if (movers[m].loop != Mover::data)
                access.strides[static_cast<size_t>(
                    loops[static_cast<size_t>(movers[m].loop)].stride_at[a])] = walk.strides[m];
            else
                index_strides(body)[index++] = walk.strides[m];
        }
        access.offset = walk.offset;
        access.buffer = stored_.at(access.buffer);
    }

    static std::vector<int64_t>& index_strides(Body& body) {
        if (auto* gather = std::get_if<ir::kernel::Gather>(&body)) return gather->axis_strides;
        return std::get<ir::kernel::Scatter>(body).axis_strides;
    }

    // A row-major copy for a kernel that cannot go through the tiles.
    int whole_of(int number) {
        const BufferKind kind = buffer(number).kind;
        if (kind == BufferKind::input || kind == BufferKind::constant) return number;
        const auto found = whole_of_.find(number);
        if (found != whole_of_.end()) return found->second;
        const int whole =
            add_buffer(buffer(number), BufferKind::temporary, buffer(number).name + "_whole");
        copy("untilize", stored_.at(number), whole, true);
        return whole_of_[number] = whole;
    }

    // Loops in the order in which the result lies in memory, where their order is free.
    static void order_loops(Body& body) {
        Extents* extents = nullptr;
        const Access* output = nullptr;
        if (auto* map = std::get_if<Map>(&body))
            extents = &map->extents, output = map->outputs.data();
        if (auto* reduce = std::get_if<ir::kernel::Reduce>(&body))
            extents = &reduce->kept, output = &reduce->output;
        if (extents == nullptr) return;
        std::vector<size_t> order(extents->size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
            return std::abs(output->strides[i]) > std::abs(output->strides[j]);
        });
        ir::kernel::reorder_loops(body, *extents, order);
    }

    Program program_;
    const std::vector<TileView>& views_;
    bool fuse_;
    std::set<std::string> names_;
    std::map<int, int> stored_;         // of viewed buffers: where their tiles are
    std::map<int, int> viewed_in_;      // the reverse
    std::map<int, ir::Shape> lengths_;  // of buffers that hold tiles
    std::map<int, int> whole_of_;       // copies of tiled temporaries
};

}  // namespace

Program apply_tiles(Program program, const std::vector<TileView>& views, bool fuse) {
    return Application(std::move(program), views, fuse).run();
}

}  // namespace composit::transforms
