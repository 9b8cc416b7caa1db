// Dropout: elements left out at random.
#include "composit/base/error.h"
#include "composit/nn/layers.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/random/distributions.h"

namespace composit::nn {

Tensor dropout(const Tensor& x, double rate, const Tensor& key) {
    user_check(rate >= 0 && rate <= 1, "dropout: rate is ", rate,
               ". A number from 0 to 1 is required.");
    user_check<TypeError>(ir::is_inexact(x.dtype()), "dropout: x has dtype ", x.dtype(),
                          ". A floating dtype is required.");
    random::check_draw("dropout", key, x.shape());
    return numpy::one_node("dropout", {x, key}, [&](const numpy::Tensors& operands) {
        const Tensor is_kept = random::bernoulli(operands[1], 1 - rate, x.shape());
        const double scale = rate < 1 ? 1 / (1 - rate) : 0;
        const Tensor zero = ir::constant(ir::Array::scalar(x.dtype(), 0));
        return numpy::apply("where", {is_kept, operands[0] * scale, zero});
    });
}

}  // namespace composit::nn
