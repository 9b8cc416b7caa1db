// The tensor primitives. Everything a front door offers is built of these; each has its rules
// (types, derivative, batching, lowering) side by side in one file of this folder.
//
// Axes are non-negative and in range here: front doors normalise them (and raise NumPy's errors);
// others, and lists of another length than the tensor's rank, are refused.
// Every function makes one node unless it says otherwise.
#pragma once

#include "composit/ir/body.h"
#include "composit/ir/kernel/kernel.h"
#include "composit/ir/node.h"
#include "composit/ir/scalar/row.h"

#include <string>
#include <string_view>
#include <vector>

namespace composit::ops {

using ir::Array;
using ir::DType;
using ir::Shape;
using ir::Tensor;
using ir::kernel::Combiner;
using Axes = std::vector<int64_t>;

// ----- map.cpp
// The row applied elementwise, under NumPy's broadcasting and promotion (NEP 50: Python scalars are
// weak). ValueError: "<row>: operands could not be broadcast together with shapes (3,) (4,)".
Tensor map(const ir::scalar::RowRef& row, std::vector<Tensor> operands);
Tensor map(std::string_view row_name, std::vector<Tensor> operands);
// The row of a node that `map` made, for the dtypes that its operands are computed in.
const ir::scalar::Specialisation& specialisation_of(const ir::Node& node);
// Elements converted to dtype (numpy's astype, casting="unsafe"); the same node when there is
// nothing to do.
Tensor astype(const Tensor& x, DType dtype);
bool is_astype(const ir::Node& node);  // whether `astype` made it
Shape broadcast_shapes(std::string_view function, const std::vector<Shape>& shapes);

// ----- bitcast.cpp
// The bits of elements read as another real dtype of the same size (TypeError); no derivative.
Tensor bitcast(const Tensor& x, DType dtype);

// ----- reduce.cpp
// The axes reduced away (kept with length 1 when keepdims), in the order of semantics.md 4. sum and
// product need `dtype` equal to x's (convert before); any and all give bool, argmax and argmin
// int64. Empty maximum, minimum, argmax and argmin: ValueError, NumPy's words.
Tensor reduce(Combiner combiner, const Tensor& x, Axes axes, bool keepdims = false);
// Running sum, product, maximum or minimum along one axis.
Tensor scan(Combiner combiner, const Tensor& x, int64_t axis);

// ----- after.cpp
// A barrier: the users of the result run only after all of `values` and `waited_for` are in memory.
// An operation behind the barrier is never joined with an equal one before it: it is computed
// again. Gradients pass through `values` alone.
std::vector<Tensor> after(const std::vector<Tensor>& values, const std::vector<Tensor>& waited_for);

// ----- transfer.cpp
// The same values on the device of that full name ("cuda:0", "cpu"); x itself where they are there.
// Gradients go back to where x lies.
Tensor transfer(const Tensor& x, const std::string& device);
bool is_transfer(const ir::Node& node);

// ----- sort.cpp
// Positions (int64) along an axis in the order of the values: equals, as 0 and -0 are, keep their
// order, NaN come last. Complex numbers are ordered by their real part, then by the imaginary one;
// behind them come those whose imaginary part is NaN, whose real part is, and of which both are.
Tensor argsort(const Tensor& x, int64_t axis);
// The elements in that order.
Tensor sort(const Tensor& x, int64_t axis);

// ----- search.cpp
// How many elements of sorted[b…], a row in ascending order with NaN last, come before each of
// values[b…, …]; with is_right those equal to it, too. Of equal real dtypes; int64.
Tensor search(const Tensor& sorted, const Tensor& values, bool is_right);

// ----- contract.cpp
// Every batched tensordot. Result dimensions: batch (as paired), then the free axes of a, then
// those of b, each in their order; the contracted axes pair up in the order given. Dtypes must be
// equal.
struct Contraction {
    Axes batch_a, batch_b;
    Axes contracted_a, contracted_b;
};
Tensor contract(const Tensor& a, const Tensor& b, const Contraction& contraction);
// What a node's attributes say, and an operand's other axes, in order.
Contraction contraction_of(const ir::Attributes& attributes);
Axes free_axes(const Tensor& x, const Axes& batch, const Axes& contracted);

// ----- convolve.cpp
// Cross-correlation (as in every deep-learning library). x: (batch, channels, spatial…), filters:
// (out channels, channels / groups, window…) -> (batch, out channels, spatial…). padding: (low,
// high) per spatial axis, may be negative (crops). x is first spread by input_dilation (zeros
// between elements), then padded; the window by filter_dilation.
struct Convolution {
    std::vector<int64_t> strides, padding_low, padding_high, input_dilation, filter_dilation;
    int64_t groups = 1;
};
Tensor convolve(const Tensor& x, const Tensor& filters, const Convolution& convolution);

// ----- layout.cpp: views and copies of elements
Tensor reshape(const Tensor& x, Shape shape);
Tensor transpose(const Tensor& x, Axes permutation);
Tensor broadcast_to(const Tensor& x, Shape shape);
// start, stop, step per axis as Python's slice.indices gives them (steps may be negative, stop may
// be -1 then).
Tensor slice(const Tensor& x, std::vector<int64_t> starts, std::vector<int64_t> lengths,
             std::vector<int64_t> steps);
Tensor concatenate(const std::vector<Tensor>& parts, int64_t axis);  // equal dtypes
std::vector<Tensor> split(const Tensor& x, std::vector<int64_t> lengths,
                          int64_t axis);  // one node, several outputs
// A sliding-window view over the last axes: (…, counts…, window…); window k of axis a starts at k *
// step.
Tensor windows(const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> steps,
               std::vector<int64_t> dilations);
// The transpose of `windows`: overlapping windows added up into the last axes, of lengths
// `lengths`.
Tensor fold(const Tensor& x, std::vector<int64_t> lengths, std::vector<int64_t> steps,
            std::vector<int64_t> dilations);
// start + step * (position along axis), of dtype int64.
Tensor iota(Shape shape, int64_t axis);
Tensor full(Shape shape, const Tensor& value);  // a broadcast 0-d tensor
Tensor zeros_like(const Tensor& x);

// ----- pad.cpp
// low and high elements of `value` (0-d, x's dtype) around, `interior` between neighbours. Negative
// low or high crops.
Tensor pad(const Tensor& x, const Tensor& value, std::vector<int64_t> low,
           std::vector<int64_t> high, std::vector<int64_t> interior);

// ----- with_values.cpp
// `values`, through which the gradients of x flow, and none of its own. TypeError and ValueError
// unless dtypes and shapes are equal.
Tensor with_values(const Tensor& x, const Tensor& values);

// ----- element.cpp
// x's element at a position: an index from 0 on for each axis (IndexError). Without dimensions.
Tensor element(const Tensor& x, std::vector<int64_t> position);
// x with that element replaced by a value of no dimensions and of x's dtype (TypeError).
Tensor with_element(const Tensor& x, std::vector<int64_t> position, const Tensor& value);
bool is_element(const ir::Node& node);  // whether `element` made it
const std::vector<int64_t>& element_position(const ir::Node& node);

// ----- with_slice.cpp
// x with the slice of these starts and steps (see slice) replaced by a value, of x's rank and dtype
// (TypeError). IndexError where its elements do not lie within x.
Tensor with_slice(const Tensor& x, std::vector<int64_t> starts, std::vector<int64_t> steps,
                  const Tensor& value);

// ----- gather.cpp: NumPy's integer indexing
// data indexed by integer tensors at `axes` (ascending); the indices broadcast together. Result:
// their common shape, then the other axes of data. Negative indices count from the end; out of
// bounds is an IndexError when evaluated.
Tensor gather(const Tensor& data, const std::vector<Tensor>& indices, Axes axes);
// The reverse: `data` with `update` (shaped as gather's result) added to, or written over, the
// selected elements, in order.
Tensor scatter(const Tensor& data, const std::vector<Tensor>& indices, Axes axes,
               const Tensor& update, bool add);

// ----- call.cpp
// A named body applied to arguments: one node in the picture, inlined when lowered; differentiable
// and batchable.
std::vector<Tensor> call(std::shared_ptr<const ir::Body> body,
                         const std::vector<Tensor>& arguments);

// ----- foreign.cpp
// A node that calls the function which runtime::register_foreign_function knows as `function`, with
// `options`, named `name` in pictures and messages: results of the types given, of whatever the
// function makes of the operands (float32, float64, complex128, integers or bool; TypeError). It
// runs in compiled programs; it has no derivative and no batch, and cannot be exported.
std::vector<Tensor> foreign_call(const std::string& name, const std::string& function,
                                 const std::vector<int64_t>& options,
                                 const std::vector<Tensor>& operands,
                                 const std::vector<ir::TensorType>& results);

// ----- procedure.cpp
// A call of the procedure that ir::procedure::keep_callable gave the number: its operands are the
// numbers (tensors without axes) and arrays of its head, without extents, of its dtypes; its
// results numbers, then arrays. Derivatives are those of the procedure; a batch is run slice by
// slice. TypeError where extents of results depend on a number that is no constant, ValueError for
// shapes that do not fit. It cannot be exported.
std::vector<Tensor> procedure(int64_t number, const std::vector<Tensor>& operands);

// Every operation above, registered: front ends that look operations up by name (parse) call this
// first.
void register_operations();

}  // namespace composit::ops
