// The cost model that chooses a schema.
#include "composit/base/error.h"
#include "composit/mosaic/program.h"
#include "composit/transforms/tile.h"

#include <algorithm>

namespace composit::mosaic {
namespace {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;

// Square tiles of the last two dimensions; a dimension that they do not divide stays whole.
std::vector<std::pair<int, TileView>> square_tiles(const ir::kernel::Program& program,
                                                   int64_t length) {
    std::vector<std::pair<int, TileView>> given;
    for (size_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        if (!is_leaf(buffer) || buffer.shape.size() < 2) continue;
        ir::Shape tile = buffer.shape;
        for (size_t d = tile.size() - 2; d < tile.size(); ++d)
            if (tile[d] > length && tile[d] % length == 0) tile[d] = length;
        if (tile != buffer.shape)
            given.emplace_back(static_cast<int>(b), TileView{{"tile", tile, {}}});
    }
    return given;
}

double seconds_of(const ir::kernel::Program& program, const Machine& machine) {
    double seconds = 0;
    for (const auto& kernel : program.kernels) seconds += roofline(kernel, machine).seconds;
    return seconds;
}

Schema schema_of(const ir::kernel::Program& program,
                 const std::vector<std::pair<int, TileView>>& given) {
    std::vector<TileView> views(program.buffers.size());
    for (const auto& [number, view] : given) views[static_cast<size_t>(number)] = view;
    Schema schema;
    for (size_t b = 0; b < views.size(); ++b)
        if (is_leaf(program.buffers[b])) schema.tile(program.buffers[b].name, views[b]);
    return schema;
}

}  // namespace

bool is_leaf(const Buffer& buffer) {
    return buffer.kind == BufferKind::input || buffer.kind == BufferKind::constant;
}

Schema choose_schema(const ir::kernel::Program& program, const Machine& machine, bool fuse) {
    for (const auto& kernel : program.kernels)  // tiles cannot go through loops and foreign calls
        if (std::holds_alternative<ir::kernel::Repeat>(kernel.body) ||
            ir::kernel::takes_whole_arrays(kernel))
            return schema_of(program, {});
    ir::kernel::Program shapes = program;  // without the values of constants, which need not move
    for (Buffer& buffer : shapes.buffers) buffer.value = {};
    std::vector<std::pair<int, TileView>> best;
    double least = seconds_of(shapes, machine);
    constexpr int64_t size = 4;
    for (int64_t length = machine.vector_bytes / size;
         3 * length * length * size <= machine.l1_bytes; length *= 2) {
        const auto given = square_tiles(shapes, length);
        if (given.empty()) continue;
        try {
            const auto views = transforms::propagate_tiles(shapes, given);
            const double seconds =
                seconds_of(transforms::apply_tiles(shapes, views, fuse), machine);
            if (seconds < least) least = seconds, best = given;
        } catch (const ValueError&) {
            // Operands of one operation with different lengths: such tiles are not for this graph.
        }
    }
    return schema_of(program, best);
}

}  // namespace composit::mosaic
