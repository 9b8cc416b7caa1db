// Jacobians by a vjp for each element of the output, all at once.
#include "composit/cg/jacobians.h"

#include "composit/base/error.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

namespace composit::cg {

using ir::DType;
using ir::Shape;

namespace {

// One cotangent for each element of a tensor of this type: (size, shape…), each a one among zeros.
Tensor unit_cotangents(const ir::TensorType& type) {
    const int64_t size = ir::element_count(type.shape);
    const Tensor rows = ops::iota({size, size}, 0), columns = ops::iota({size, size}, 1);
    const Tensor ones = ops::astype(ops::map("equal", {rows, columns}), type.dtype);
    Shape shape{size};
    shape.insert(shape.end(), type.shape.begin(), type.shape.end());
    return ops::reshape(ones, shape);
}

bool broadcasts(const Shape& shape, const Shape& to) {
    if (shape.size() > to.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
        const int64_t length = shape[shape.size() - 1 - i];
        if (length != 1 && length != to[to.size() - 1 - i]) return false;
    }
    return true;
}

// The gradient of what was broadcast from `shape`.
Tensor summed_to(const Tensor& x, const Shape& shape) {
    const size_t more = x.shape().size() - shape.size();
    ops::Axes axes;
    for (size_t i = 0; i < x.shape().size(); ++i)
        if (i < more || (shape[i - more] == 1 && x.shape()[i] != 1))
            axes.push_back(static_cast<int64_t>(i));
    return ops::reshape(axes.empty() ? x : ops::reduce(ops::Combiner::sum, x, axes), shape);
}

Shape joined(Shape a, const Shape& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

Tensor pulled(const std::string& function, const std::string& input, const Tensor& cotangent,
              const Tensor& local, const Tensor& x) {
    const Tensor of_dtype = ops::astype(local, cotangent.dtype());
    const Shape& result = cotangent.shape();
    if (local.shape() == joined(result, x.shape())) {
        ops::Axes axes;
        for (int64_t i = 0; i < cotangent.rank(); ++i) axes.push_back(i);
        return ops::astype(ops::contract(cotangent, of_dtype, {{}, {}, axes, axes}), x.dtype());
    }
    user_check(broadcasts(local.shape(), result) && broadcasts(x.shape(), result), function,
               ": the function of ", input, " returned the shape ", local.shape(),
               " for a result of ", result, " and an input of ", x.shape(), ". The Jacobian, ",
               joined(result, x.shape()),
               ", or the derivative of each element, which broadcasts to the result, is required.");
    return ops::astype(summed_to(ops::map("multiply", {cotangent, of_dtype}), x.shape()),
                       x.dtype());
}

Tensors jacobians(const Tensor& output, const Tensors& inputs) {
    user_check<TypeError>(ir::is_floating(output.dtype()), "jacobians: the output has dtype ",
                          output.dtype(), ". A floating dtype is required.");
    for (const Tensor& input : inputs)
        user_check<TypeError>(ir::is_inexact(input.dtype()), "jacobians: an input has dtype ",
                              input.dtype(), ". A floating or complex dtype is required.");
    if (output.rank() == 0) {
        const Tensor one = ir::constant(ir::Array::scalar(output.dtype(), 1));
        return transforms::vjp({output}, {one}, inputs);
    }
    const Tensor cotangent = ir::input("cotangent", output.dtype(), output.shape());
    const Tensors gradients = transforms::vjp({output}, {cotangent}, inputs);
    const Tensors stacked =
        transforms::vmap(gradients, {cotangent}, {unit_cotangents(output.type())});
    Tensors result;
    for (size_t i = 0; i < inputs.size(); ++i) {
        result.push_back(ops::reshape(stacked[i], joined(output.shape(), inputs[i].shape())));
    }
    return result;
}

}  // namespace composit::cg
