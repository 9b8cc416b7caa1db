// What vmap asks of axes.
#include "composit/functional/mapped_axes.h"

#include "../numpy/values.h"
#include "composit/numpy/operators.h"

namespace composit::functional {
namespace {

using numpy::array;
using numpy::expect_error;

TEST(mapped_axes, are_checked) {
    const Tensor x = array<float>({1, 2, 3, 4, 5, 6}, {2, 3});
    check_mapped_lengths(3, {x, x}, {-1, std::nullopt});
    expect_error<ValueError>([&] { check_mapped_lengths(2, {x}, {1}); },
                             "vmap: axis_size is 2, an argument of shape (2, 3) is mapped over "
                             "axis 1. They must have the same length.");
    check_out_axes({x}, {2});
    expect_error<AxisError>([&] { check_out_axes({x}, {3}); },
                            "vmap: out_axes 3 is out of bounds for a result of 3 dimensions. Axes "
                            "are -3 to 2.");
    check_same_for_all({x + 1}, {std::nullopt}, {array<float>({1}, {1})});
    expect_error<ValueError>([&] { check_same_for_all({x + 1}, {std::nullopt}, {x}); },
                             "vmap: out_axes is None for a result of shape (2, 3)");
}

}  // namespace
}  // namespace composit::functional
