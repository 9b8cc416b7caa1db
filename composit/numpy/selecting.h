// Choosing elements: among several tensors, by condition, and with some inserted or left out.
//
// Each function is NumPy's of that name (numpy.select, …). Where the result's shape depends on
// values (piecewise, extract, compress, trim_zeros), they are evaluated at the call, as nonzero
// does; NotSupported under placeholders.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace composit::numpy {

// Elements of the first choice whose condition holds, else the default; all broadcast, choices and
// default are promoted. ValueError: lists of different lengths, empty ones; TypeError: conditions
// that are not bool.
[[nodiscard]] Tensor select(const std::vector<Tensor>& conditions,
                            const std::vector<Operand>& choices, const Operand& otherwise = 0);

// A value, or a function of the selected elements (1-d).
using Piece = std::variant<Operand, std::function<Tensor(const Tensor&)>>;
// x's shape and dtype: pieces[i] of the elements of x where conditions[i] holds, later ones over
// earlier; one piece more than conditions is for the elements of none; 0 where nothing holds.
// Functions are not called for no elements. ValueError for other counts.
[[nodiscard]] Tensor piecewise(const Tensor& x, const std::vector<Tensor>& conditions,
                               const std::vector<Piece>& pieces);

// choices[a[i]][i], all broadcast, choices promoted. Modes "raise", "wrap", "clip" for entries of a
// that are no choice: ValueError, at once for constants; IndexError when it is evaluated else.
// TypeError: a is not of integers that int64 holds; ValueError: no choices.
[[nodiscard]] Tensor choose(const Tensor& a, const std::vector<Tensor>& choices,
                            std::string_view mode = "raise");

// The elements of the flattened x where the flattened condition is not zero.
[[nodiscard]] Tensor extract(const Tensor& condition, const Tensor& x);
// The slices of x along an axis (None: elements of the flattened x) at which the 1-d condition,
// which may be shorter, is not zero. ValueError: "condition must be a 1-d array".
[[nodiscard]] Tensor compress(const Tensor& condition, const Tensor& x,
                              std::optional<int64_t> axis = {});
// x without the slices of zeros at the front ("f"), back ("b") or both ends of axes (None: of all).
// ValueError: "unexpected character(s) in `trim`".
[[nodiscard]] Tensor trim_zeros(const Tensor& x, std::string_view trim = "fb",
                                const Axis& axis = {});

// Positions along an axis: one, a slice, or several (1-d integers, a mask), as Python's obj.
using Positions = std::variant<int64_t, Slice, Tensor>;
// x with `values` (converted to x's dtype, broadcast) before the positions along an axis (None: of
// the flattened x). One position may take values of any length along the axis; several take one
// each. IndexError out of bounds; ValueError when positions have several dimensions or values do
// not fit.
[[nodiscard]] Tensor insert(const Tensor& x, const Positions& positions, const Operand& values,
                            std::optional<int64_t> axis = {});
// x without the slices at the positions. IndexError out of bounds; ValueError: a mask of another
// length. (delete is a word of C++.)
[[nodiscard]] Tensor delete_(const Tensor& x, const Positions& positions,
                             std::optional<int64_t> axis = {});

// The function of every 1-d slice along an axis (called once for each); its results, all of one
// shape and the first one's dtype, stand where the axis was. ValueError: no slices.
[[nodiscard]] Tensor apply_along_axis(const std::function<Tensor(const Tensor&)>& function,
                                      int64_t axis, const Tensor& x);
// function(x, axis) for one axis after another; a result with one dimension less gets the axis
// back, of length 1. ValueError: "function is not returning an array of the correct shape".
[[nodiscard]] Tensor apply_over_axes(const std::function<Tensor(const Tensor&, int64_t)>& function,
                                     const Tensor& x, const std::vector<int64_t>& axes);

}  // namespace composit::numpy
