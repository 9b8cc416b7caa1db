// Tiles: tensors stored tile by tile, and kernels whose loops walk them that way.
//
// A tile view says how a tensor lies in memory: cut into tiles of the first level's shape, each of
// these into tiles of the next level's, and so on; the elements of the innermost tiles lie in
// row-major order. Tiles move memory, never values: the order of floating-point work of every
// kernel stays as it was, and so do the bits.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <string>
#include <utility>
#include <vector>

namespace composit::transforms {

// One level of a tile view.
struct TileLevel {
    std::string name;
    ir::Shape tile;          // its lengths, one per dimension; each divides that of the level above
    std::vector<int> order;  // of the tiles inside one of the level above: dimensions from the
                             // slowest to the fastest; empty: row-major

    bool operator==(const TileLevel&) const = default;
};
using TileView =
    std::vector<TileLevel>;  // the outermost first; empty: the whole tensor is one tile

// "l2 (64, 64), register (16, 16) order (1, 0)"; "whole" for none.
std::string text_of(const TileView& view);

// ValueError unless the view fits a tensor of that shape: "mosaic: 'x' has 100 elements along
// dimension 1, which tiles of 48 at level 'l2' do not divide. …"
void check_tile_view(const std::string& tensor, const ir::Shape& shape, const TileView& view);

// How the elements of a viewed tensor lie in memory: the lengths of all its loops, outermost first,
// and which dimension of the tensor each walks, with which step.
struct TiledLayout {
    struct Axis {
        int dimension;
        int64_t length;
        int64_t step;    // elements of the dimension per index
        int64_t stride;  // elements of memory per index
    };
    std::vector<Axis> axes;

    TiledLayout(const ir::Shape& shape, const TileView& view);
    ir::Shape lengths() const;  // of the axes
};

// An array's elements in the order of a tile view, as an array of the shape lengths(); and back, as
// one of the tensor's shape. ValueError when the view does not fit.
ir::Array tilize(const ir::Array& value, const TileView& view);
ir::Array untilize(const ir::Array& tiles, const ir::Shape& shape, const TileView& view);

// The view of every buffer of the program, from those `given` to some of its inputs and constants.
// A loop takes the tiles of the dimensions that it walks, a dimension takes those of the loops that
// walk it. Where an operation cannot go through tiles (windows, slices that start inside a tile,
// indices along a tiled dimension) the result is whole. ValueError, naming tensors, dimensions and
// the operation's line, when two operands of one kernel have different tiles where they meet, or
// their levels cannot be nested.
std::vector<TileView> propagate_tiles(const ir::kernel::Program& program,
                                      const std::vector<std::pair<int, TileView>>& given);

// The program with its buffers stored as `views` (of propagate_tiles) say. Inputs arrive and
// outputs leave in row-major order: kernels named tilize_… and untilize_… copy them, and what has
// to be read whole; constants are rearranged here. With `fuse` outputs are written where they
// belong at once.
ir::kernel::Program apply_tiles(ir::kernel::Program program, const std::vector<TileView>& views,
                                bool fuse);

}  // namespace composit::transforms
