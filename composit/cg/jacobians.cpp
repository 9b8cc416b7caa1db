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

}  // namespace

Tensors jacobians(const Tensor& output, const Tensors& inputs) {
    user_check<TypeError>(ir::is_inexact(output.dtype()), "jacobians: the output has dtype ",
                          output.dtype(), ". A floating or complex dtype is required.");
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
        Shape shape = output.shape();
        shape.insert(shape.end(), inputs[i].shape().begin(), inputs[i].shape().end());
        result.push_back(ops::reshape(stacked[i], shape));
    }
    return result;
}

}  // namespace composit::cg
