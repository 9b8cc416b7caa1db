// Resizing, shuffling and windows as columns: values that can be reckoned by hand, gradients as
// transposes, mistakes.
#include "composit/nn/resizing.h"

#include "../numpy/values.h"
#include "composit/functional/functional.h"
#include "composit/nn/rearranging.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/random.h"
#include "composit/numpy/reductions.h"

namespace composit::nn {
namespace {

using numpy::array;
using numpy::expect_error;
using numpy::expect_near;
using numpy::expect_values;
using numpy::values;
using Shape = ir::Shape;

TEST(interpolate, by_hand) {
    const Tensor x = array<double>({0, 4, 8}, {1, 1, 3});
    expect_values<double>(interpolate(x, {.size = {6}}), {1, 1, 6}, {0, 0, 4, 4, 8, 8});
    expect_values<double>(interpolate(x, {.size = {2}}), {1, 1, 2}, {0, 4});
    expect_values<double>(interpolate(x, {.size = {2}, .mode = "nearest-exact"}), {1, 1, 2},
                          {0, 8});
    expect_values<double>(interpolate(x, {.scale_factor = {2}, .mode = "linear"}), {1, 1, 6},
                          {0, 1, 3, 5, 7, 8});
    expect_values<double>(interpolate(x, {.size = {5}, .mode = "linear", .align_corners = true}),
                          {1, 1, 5}, {0, 2, 4, 6, 8});
    expect_values<double>(interpolate(x, {.size = {1}, .mode = "area"}), {1, 1, 1}, {4});
    const Tensor pairs = array<int32_t>({1, 2, 3, 4}, {1, 2, 2});
    expect_values<int32_t>(interpolate(pairs, {.size = {3}, .channels_last = true}), {1, 3, 2},
                           {1, 2, 1, 2, 3, 4});
}

// <resize(x), y> = <x, pull back(y)> for every mode.
TEST(interpolate, gradients_are_transposes) {
    numpy::RandomState random(3);
    const Tensor x = random.random({2, 2, 5, 4});
    for (const auto mode : {"nearest", "nearest-exact", "bilinear", "bicubic", "area"})
        for (const bool aligned : {false, true}) {
            SCOPED_TRACE(mode);
            const std::string_view name = mode;
            if (aligned && name != "bilinear" && name != "bicubic") continue;
            const InterpolateOptions options{
                .size = {8, 3}, .mode = name, .align_corners = aligned};
            const Tensor y = interpolate(x, options), g = random.random(y.shape());
            const auto loss = [&](const Tensor& x) {
                return numpy::sum(interpolate(x, options) * g);
            };
            const Tensor slope = grad(loss)(x);
            expect_near(numpy::sum(slope * x), {}, values<double>(numpy::sum(y * g)));
        }
}

TEST(rearranging, shuffles_and_their_reverses) {
    const Tensor x = numpy::counting({1, 4, 1, 2});
    expect_values<double>(pixel_shuffle(x, 2), {1, 1, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7});
    expect_values<double>(pixel_unshuffle(pixel_shuffle(x, 2), 2), x.shape(), values<double>(x));
    expect_values<double>(channel_shuffle(x, 2), x.shape(), {0, 1, 4, 5, 2, 3, 6, 7});
}

TEST(rearranging, columns) {
    const Tensor x = numpy::counting({1, 1, 3, 3});
    const Tensor columns = unfold(x, {.kernel_size = {2}});
    expect_values<double>(columns, {1, 4, 4}, {0, 1, 3, 4, 1, 2, 4, 5, 3, 4, 6, 7, 4, 5, 7, 8});
    expect_values<double>(fold(columns, {3, 3}, {.kernel_size = {2}}), {1, 1, 3, 3},
                          {0, 2, 2, 6, 16, 10, 6, 14, 8});
}

TEST(rearranging, mistakes) {
    const Tensor x = numpy::ones({1, 4, 5, 5});
    expect_error<ValueError>([&] { (void)interpolate(x, {}); }, "neither size nor scale_factor");
    expect_error<ValueError>([&] { (void)interpolate(x, {.size = {0}}); }, "size is");
    expect_error<ValueError>([&] { (void)pixel_shuffle(x, 3); }, "A multiple of factor");
    expect_error<ValueError>([&] { (void)unfold(x, {.kernel_size = {6}}); }, "larger than");
    expect_error<ValueError>([&] { (void)fold(x, {5, 5}, {.kernel_size = {2}}); },
                             "columns have shape (1, 4, 5, 5)");
}

}  // namespace
}  // namespace composit::nn
