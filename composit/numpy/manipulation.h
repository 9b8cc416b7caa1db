// Rearranging elements: shapes, joining, splitting, repeating, padding, taking.
//
// Axes may be negative (AxisError when out of bounds). Views cost nothing when evaluated.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::numpy {

// Row-major order; one length may be -1. ValueError: "cannot reshape array of size 6 into shape (4,
// 2)".
[[nodiscard]] Tensor reshape(const Tensor& x, const Shape& shape);
[[nodiscard]] Tensor ravel(const Tensor& x);
[[nodiscard]] Tensor flatten(const Tensor& x);
// Axes reversed, or in the order given. ValueError: "axes don't match array", "repeated axis in
// transpose".
[[nodiscard]] Tensor transpose(const Tensor& x, std::optional<std::vector<int64_t>> axes = {});
[[nodiscard]] Tensor permute_dims(const Tensor& x, const std::vector<int64_t>& axes);
[[nodiscard]] Tensor matrix_transpose(const Tensor& x);  // the last two axes; ValueError below 2-d
[[nodiscard]] Tensor swapaxes(const Tensor& x, int64_t axis1, int64_t axis2);
[[nodiscard]] Tensor moveaxis(const Tensor& x, const Axis& source, const Axis& destination);
[[nodiscard]] Tensor rollaxis(const Tensor& x, int64_t axis, int64_t start = 0);
// New axes of length 1 at these positions of the result.
[[nodiscard]] Tensor expand_dims(const Tensor& x, const Axis& axis);
// ValueError: "cannot select an axis to squeeze out which has size not equal to one".
[[nodiscard]] Tensor squeeze(const Tensor& x, const Axis& axis = {});
[[nodiscard]] Tensor atleast_1d(const Tensor& x);
[[nodiscard]] Tensor atleast_2d(const Tensor& x);
[[nodiscard]] Tensor atleast_3d(const Tensor& x);
// ValueError with NumPy's words when x does not broadcast to the shape.
[[nodiscard]] Tensor broadcast_to(const Tensor& x, const Shape& shape);
[[nodiscard]] std::vector<Tensor> broadcast_arrays(const std::vector<Tensor>& arrays);
[[nodiscard]] Shape broadcast_shapes(const std::vector<Shape>& shapes);
// Elements converted, NumPy's casting="unsafe".
[[nodiscard]] Tensor astype(const Tensor& x, DType dtype);

// ----- joining; operands are promoted to their result_type, or to `dtype`
// Axis None joins the flattened parts. ValueError: "need at least one array to concatenate", "all
// the input array dimensions except for the concatenation axis must match exactly, …".
[[nodiscard]] Tensor concatenate(const std::vector<Tensor>& parts, std::optional<int64_t> axis = 0,
                                 std::optional<DType> dtype = {});
// Along a new axis. ValueError: "all input arrays must have the same shape".
[[nodiscard]] Tensor stack(const std::vector<Tensor>& parts, int64_t axis = 0,
                           std::optional<DType> dtype = {});
[[nodiscard]] Tensor hstack(const std::vector<Tensor>& parts);
[[nodiscard]] Tensor vstack(const std::vector<Tensor>& parts);
[[nodiscard]] Tensor dstack(const std::vector<Tensor>& parts);
[[nodiscard]] Tensor append(const Tensor& x, const Tensor& values,
                            std::optional<int64_t> axis = {});

// ----- splitting; one node with several outputs
// Into equal parts. ValueError: "array split does not result in an equal division".
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, int64_t sections, int64_t axis = 0);
// Before each of these positions (as slices: negative ones count from the end, too large ones are
// the end).
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& indices,
                                        int64_t axis = 0);
// The first (length % sections) parts are one longer. ValueError: "number sections must be larger
// than 0."
[[nodiscard]] std::vector<Tensor> array_split(const Tensor& x, int64_t sections, int64_t axis = 0);

// ----- repeating and reordering
[[nodiscard]] Tensor flip(const Tensor& x, const Axis& axis = {});
// Elements move `shift` places forwards, those that leave come in on the other side. Axis None
// rolls the flattened x.
[[nodiscard]] Tensor roll(const Tensor& x, const std::vector<int64_t>& shift,
                          const Axis& axis = {});
[[nodiscard]] Tensor roll(const Tensor& x, int64_t shift, const Axis& axis = {});
[[nodiscard]] Tensor rot90(const Tensor& x, int64_t k = 1,
                           std::pair<int64_t, int64_t> axes = {0, 1});
// Each element `repeats` times; or element i repeats[i] times.
[[nodiscard]] Tensor repeat(const Tensor& x, int64_t repeats, std::optional<int64_t> axis = {});
[[nodiscard]] Tensor repeat(const Tensor& x, const std::vector<int64_t>& repeats,
                            std::optional<int64_t> axis = {});
[[nodiscard]] Tensor tile(const Tensor& x, const std::vector<int64_t>& repetitions);
// The elements of x again and again in another shape; zeros if there are none. ValueError: "all
// elements of `new_shape` must be non-negative".
[[nodiscard]] Tensor resize(const Tensor& x, const Shape& shape);

// ----- padding: (before, after) per axis. Modes: constant (of `value`), edge, reflect, symmetric,
// wrap, empty (zeros), linear_ramp (to `value`), maximum, mean, median, minimum; padding.h has
// their options. ValueError for negative widths, unknown modes.
[[nodiscard]] Tensor pad(const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& widths,
                         std::string_view mode = "constant", const Operand& value = 0);

// ----- taking
// x's elements at integer indices along one axis (None: of the flattened x): NumPy's take, mode
// "raise", "wrap", "clip". IndexError when evaluated (at once for constants) for "raise".
[[nodiscard]] Tensor take(const Tensor& x, const Tensor& indices, std::optional<int64_t> axis = {},
                          std::string_view mode = "raise");
// result[i, j, k] = x[i, indices[i, j, k], k] for axis 1; the other axes broadcast. Axis None: both
// are flattened.
[[nodiscard]] Tensor take_along_axis(const Tensor& x, const Tensor& indices,
                                     std::optional<int64_t> axis = -1);
// The n-th difference x[i + 1] - x[i] along one axis, of x with `prepend` and `append` at its ends;
// != on bool.
[[nodiscard]] Tensor diff(const Tensor& x, int64_t n = 1, int64_t axis = -1,
                          const Tensor& prepend = {}, const Tensor& append = {});
// All windows as a view: the window's axes come last. Axis None needs one length per axis of x.
[[nodiscard]] Tensor sliding_window_view(const Tensor& x, const std::vector<int64_t>& window,
                                         const Axis& axis = {});
// Coordinate grids of 1-d tensors; indexing "xy" or "ij". `is_sparse`: not broadcast, of length 1
// along the other axes.
[[nodiscard]] std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes,
                                           std::string_view indexing = "xy",
                                           bool is_sparse = false);

}  // namespace composit::numpy
