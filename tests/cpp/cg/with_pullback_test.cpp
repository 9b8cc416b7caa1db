// Values with a derivative of their own, and values that refuse to have one.
#include "../numpy/values.h"
#include "composit/cg/jacobians.h"
#include "composit/functional/functional.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/transforms/transforms.h"

namespace composit::cg {
namespace {

using numpy::array;
using numpy::expect_error;
using numpy::expect_values;

TEST(with_pullback, gradients_are_those_given) {
    const Tensor x = array<double>({1, 2}), w = array<double>({3, 5});
    const Tensor y = x * w, saved = x * 10;
    const Tensor g = ir::input("g", ir::DType::float64, {2});
    const Tensor made = with_pullback("mine", {x, w}, {y}, {g}, {g * saved, g + w})[0];
    expect_values<double>(made, {2}, {3, 10});
    const Tensors found = transforms::vjp({made}, {array<double>({1, 100})}, {x, w});
    // x gets nothing by way of `saved`, nor of y.
    expect_values<double>(found[0], {2}, {10, 2000});
    expect_values<double>(found[1], {2}, {4, 105});
}

TEST(with_pullback, refused) {
    const Tensor x = array<double>({1, 2});
    const Tensor y = refuse_gradient(x, "mine: no derivative.");
    expect_values<double>(y, {2}, {1, 2});
    expect_error<NotSupported>([&] { (void)transforms::vjp({y}, {x}, {x}); }, "no derivative");
}

}  // namespace
}  // namespace composit::cg
