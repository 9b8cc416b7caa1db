// How the loops of a kernel walk the dimensions of a buffer: what tells whether an access can go
// through tiles.
#pragma once

#include "composit/ir/kernel/loops.h"
#include "composit/transforms/tile.h"

#include <optional>
#include <vector>

namespace composit::transforms {

// What moves an access: a loop (by its number among the loops of the body), or indices that are
// data.
struct Mover {
    static constexpr int data = -1;
    int loop = data;
    int64_t extent = 1;
    int64_t stride = 0;  // elements of the row-major buffer
};

// A mover of more than one iteration that moves along one dimension, by `step` positions.
struct Steps {
    size_t mover = 0;
    size_t dimension = 0;
    int64_t step = 0;
};

// What must happen before an access can be described: nothing, a cut of a loop into iterations of
// `inner`, or it cannot be.
struct Cut {
    int loop = Mover::data;
    int64_t inner = 0;
};
struct Walk {
    std::vector<int64_t> start;  // position of the first element along each dimension
    std::vector<Steps> steps;
    std::optional<Cut> needs;
    bool is_possible = true;
};

// Positions along each dimension as a function of the movers: every one along one dimension, none
// beyond its ends.
Walk walk_dimensions(const ir::Shape& shape, int64_t offset, const std::vector<Mover>& movers);

// Offset and strides, one for each mover, of the same walk through the tiled buffer.
struct TiledWalk {
    int64_t offset = 0;
    std::vector<int64_t> strides;
    std::optional<Cut> needs;
    bool is_possible = true;
};
TiledWalk walk_tiles(const ir::Shape& shape, const TileView& view, int64_t offset,
                     const std::vector<Mover>& movers);

// What moves an access of the body, by its number among ir::kernel::accesses.
std::vector<Mover> movers_of(ir::kernel::Body& body, size_t access);

// Which of the accesses of the body it writes through.
std::vector<bool> written_accesses(ir::kernel::Body& body);

// Cuts loops of the body until the access can walk its buffer, which lies in tiles of that view
// (none: along dimensions). False, and the body as it was, when it cannot.
bool settle(ir::kernel::Body& body, size_t access, const ir::kernel::Program& program,
            const TileView& view);

}  // namespace composit::transforms
