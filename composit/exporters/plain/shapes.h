// Accesses as subscripts of arrays with several axes: x[n][c][h + r][w + s].
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <optional>
#include <string>
#include <vector>

namespace composit::plain {

// The access as one access of each axis of `shape`, over the same loops, such that the indices stay
// within the axes; nothing where that cannot be.
std::optional<std::vector<ir::kernel::Access>> along_axes(const ir::kernel::Access& access,
                                                          const ir::kernel::Extents& loops,
                                                          const std::vector<int64_t>& shape);

// The shape with the most axes, made of neighbouring axes of `shape`, that suits all accesses.
std::vector<int64_t> common_shape(const std::vector<ir::kernel::AccessInLoops>& accesses,
                                  const std::vector<int64_t>& shape);

// The shape that C has for it, which knows neither empty arrays nor ones without axes.
std::vector<int64_t> as_declared(std::vector<int64_t> shape);
// "[4][16]"; of an array without axes "[1]", as it is one element.
std::string extents_text(const std::vector<int64_t>& shape);

}  // namespace composit::plain
