// scan in C++: values, derivatives, what is refused. That bits are those of the loop in Python, in
// every way to run it, is for tests/python/loops.
#include "composit/functional/scan.h"

#include "../numpy/values.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

#include <gtest/gtest.h>

namespace composit {
namespace {

using numpy::array;
using numpy::expect_error;
using numpy::expect_values;

Scanned sums(const Tensors& carry, const Tensors& x) {
    const Tensor next = carry[0] + x[0];
    return {{next}, {next * 2.0}};
}

TEST(Scan, StacksResults) {
    const Tensor zero = numpy::sum(array<double>({0})), x = array<double>({1, 2, 4});
    const Scanned forwards = scan(sums, {zero}, {x});
    expect_values<double>(forwards.carry[0], {}, {7});
    expect_values<double>(forwards.ys[0], {3}, {2, 6, 14});
    const Scanned backwards = scan(sums, {zero}, {x}, 3, true);
    expect_values<double>(backwards.carry[0], {}, {7});
    expect_values<double>(backwards.ys[0], {3}, {14, 12, 8});
}

TEST(Scan, OfNothingIsTheCarry) {
    const auto twice = [](const Tensors& carry, const Tensors&) {
        return Scanned{{carry[0] * 2.0}, {}};
    };
    expect_values<double>(scan(twice, {array<double>({3})}, {}, 0).carry[0], {1}, {3});
    expect_values<double>(scan(twice, {array<double>({3})}, {}, 4).carry[0], {1}, {48});
}

TEST(Scan, HasDerivatives) {
    const auto product = [](const Tensors& carry, const Tensors& x) {
        const Tensor next = carry[0] * x[0];
        return Scanned{{next}, {next}};
    };
    const auto total = [&](const Tensor& x) {
        const Scanned made = scan(product, {numpy::sum(x) * 0.0 + 1.0}, {x});
        return numpy::sum(made.ys[0]);
    };
    // x0 + x0 x1 + x0 x1 x2
    expect_values<double>(grad(total)(array<double>({2, 3, 5})), {3}, {19, 12, 6});
}

TEST(Scan, Refuses) {
    const Tensor x = array<double>({1, 2});
    expect_error<ValueError>([&] { return scan(sums, {x}, {}).carry; },
                             "scan: neither xs nor length is given. One of them is required.");
    expect_error<TypeError>(
        [&] {
            return scan([](const Tensors&, const Tensors& r) { return Scanned{r, {}}; }, {x}, {x})
                .carry;
        },
        "scan: the body takes part 0 of the carry as float64[2] and returns it as float64[]. Equal "
        "types are required.");
}

}  // namespace
}  // namespace composit
