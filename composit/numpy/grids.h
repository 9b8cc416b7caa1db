// Grids of coordinates and joined rows, as NumPy makes them by indexing: mgrid, ogrid, r_ and c_.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace composit::numpy {

// Points from start, before stop, by a step; or, with a count, that many points from start to stop,
// which is the last one. Ends and steps are numbers whose values are known.
//
//   GridLine{0, 2}  GridLine{.stop = 1.0, .count = 5}
struct GridLine {
    Operand start = 0, stop, step = 1;
    std::optional<int64_t> count = {};
};

// The points of one line: arange, or linspace, of dtypes that promote as NumPy's.
[[nodiscard]] Tensor points_of(const GridLine& line);

// The coordinates of all points, one axis for each line, each along an axis of its own and of
// length 1 along the others.
//
//   ogrid({{0, 2}, {0, 3}})[1]
[[nodiscard]] std::vector<Tensor> ogrid(const std::vector<GridLine>& lines);
// The same broadcast and stacked: axis 0 counts the lines. ValueError: negative lengths.
[[nodiscard]] Tensor mgrid(const std::vector<GridLine>& lines);

// How r_ joins arrays: along `axis`, after each has `rank` axes at least. An array with fewer axes
// puts its own at `place` among the new ones.
struct Joining {
    int64_t axis = 0, rank = 1, place = -1;
};
inline constexpr Joining as_rows = {}, as_columns = {-1, 2, 0};
// Of a text such as "0,2" or "1"; what it leaves out is as usual. TypeError for "r" and "c", which
// make NumPy's matrices; ValueError for other texts.
[[nodiscard]] Joining joining_named(std::string_view function, std::string_view text,
                                    const Joining& usual);
// Numbers, tensors and lines, joined. ValueError for none.
//
//   joined({1, GridLine{2, 5}, x}, as_rows)
using JoinedPart = std::variant<Operand, GridLine>;
[[nodiscard]] Tensor joined(const std::vector<JoinedPart>& parts, const Joining& how = as_rows);

}  // namespace composit::numpy
