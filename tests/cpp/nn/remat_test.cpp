// remat: values, gradients of arguments and of what is captured; a computation of its own.
#include "composit/nn/remat.h"

#include "../numpy/values.h"
#include "composit/ir/operation.h"
#include "composit/nn/training.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

namespace composit::nn {
namespace {

using numpy::array;
using numpy::expect_values;
using Tensors = std::vector<Tensor>;

TEST(remat, values_and_gradients_are_the_functions) {
    const Tensor x = array<double>({1, 2, 3}), w = array<double>({2, 2, 5});
    const TensorFunction f = [&](const Tensors& a) { return Tensors{a[0] * a[0] * w}; };
    const Tensor y = remat(f, "cubed")({x})[0], loss = numpy::sum(y);
    EXPECT_EQ(ir::label(y.node()), "cubed");
    expect_values<double>(y, {3}, {2, 8, 45});
    const Tensors g = chain_rule({{loss, loss}}, {x, w});
    expect_values<double>(g[0], {3}, {4, 8, 30});
    expect_values<double>(g[1], {3}, {1, 4, 9});
}

}  // namespace
}  // namespace composit::nn
