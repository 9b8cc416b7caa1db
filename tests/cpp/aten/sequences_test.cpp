// Sequences of different lengths, texts of tensors, and what modules of PyTorch's begin with.
#include "composit/aten/sequences.h"

#include "composit/aten/grid_sample.h"
#include "composit/aten/initializers.h"
#include "composit/aten/losses.h"
#include "composit/aten/normalization.h"
#include "composit/aten/pooling.h"
#include "composit/aten/printing.h"
#include "composit/aten/schedulers.h"
#include "composit/base/error.h"
#include "composit/nn/recurrent.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace {

using namespace composit;
using aten::Values;
using aten::values_of;
using ir::Shape;
using ir::Tensor;

TEST(aten_sequences, what_is_packed_is_padded_again) {
    // Of lengths 1 and 3: the longest comes first.
    const Tensor x = numpy::array<double>({1, 2, 0, 3, 0, 4}, {3, 2});
    const aten::PackedSequence packed = aten::pack_padded_sequence(x, {1, 3}, false, false);
    EXPECT_EQ(values_of(packed.data), (Values{2, 1, 3, 4}));
    EXPECT_EQ(packed.batch_sizes, (aten::Integers{2, 1, 1}));
    EXPECT_EQ(*packed.sorted_indices, (aten::Integers{1, 0}));
    const aten::PaddedSequences padded = aten::pad_packed_sequence(packed, true, 9, 4);
    EXPECT_EQ(padded.lengths, (aten::Integers{1, 3}));
    EXPECT_EQ(padded.data.shape(), (Shape{2, 4}));
    EXPECT_EQ(values_of(padded.data), (Values{1, 9, 9, 9, 2, 3, 4, 9}));
    const Tensor left = aten::pad_sequence(
        {numpy::array<double>({1}), numpy::array<double>({2, 3})}, true, 0, "left");
    EXPECT_EQ(values_of(left), (Values{0, 1, 2, 3}));
    EXPECT_EQ(values_of(aten::unpad_sequence(left, {1, 2}, true)[1]), (Values{2, 3}));
    EXPECT_THROW((void)aten::pack_padded_sequence(x, {1, 3}), RuntimeError);
    EXPECT_THROW((void)aten::pack_padded_sequence(x, {4, 1}), RuntimeError);
    EXPECT_THROW((void)aten::pad_packed_sequence(packed, false, 0, 2), ValueError);
    EXPECT_THROW((void)aten::pad_sequence({x}, false, 0, "both"), ValueError);
}

// Each sequence of a batch gives what it gives alone, forwards and backwards.
TEST(aten_sequences, a_packed_layer_is_that_of_each_sequence) {
    const Tensor x = numpy::array<double>({1, 5, 2, 6, 3, 0}, {3, 2, 1});
    const nn::RecurrentWeights weights = {numpy::array<double>({0.5, -0.25}, {2, 1}),
                                          numpy::array<double>({0.1, 0.2, -0.3, 0.4}, {2, 2})};
    const aten::RecurrentStep step = [&](const Tensor& part, const std::vector<Tensor>& states) {
        const nn::Recurrent made = nn::rnn(part, {weights}, numpy::expand_dims(states[0], 0));
        return std::vector<Tensor>{made.output, numpy::squeeze(made.h, 0)};
    };
    const aten::PackedSequence packed = aten::pack_padded_sequence(x, {3, 2});
    const Tensor zeros = numpy::zeros({2, 2});
    const auto row = [](const Tensor& of, int64_t i) {
        return values_of(numpy::take(of, numpy::array<int64_t>({i}), 0));
    };
    const auto forwards = aten::run_packed(packed.data, packed.batch_sizes, {zeros}, step);
    const Tensor second = numpy::array<double>({5, 6}, {2, 1, 1});
    const nn::Recurrent alone = nn::rnn(second, {weights});
    EXPECT_EQ(row(forwards[0], 3), row(alone.output, 1));
    EXPECT_EQ(row(forwards[1], 1), values_of(alone.h));
    const auto backwards = aten::run_packed(packed.data, packed.batch_sizes, {zeros}, step, true);
    const nn::Recurrent turned = nn::rnn(numpy::flip(second, 0), {weights});
    EXPECT_EQ(row(backwards[0], 1), row(turned.output, 1));
    EXPECT_EQ(row(backwards[1], 1), values_of(turned.h));
}

TEST(aten_printing, texts_are_pytorchs) {
    const auto text = [](const std::vector<double>& values, const Shape& shape,
                         const aten::PrintOptions& options = {}) {
        return aten::text_of(ir::Array::of<double>(ir::DType::float64, shape, values), options, 7);
    };
    EXPECT_EQ(text({1, 0.5, 0.25, 2}, {2, 2}), "[[1.0000, 0.5000],\n        [0.2500, 2.0000]]");
    EXPECT_EQ(text({1, -2}, {2}), "[ 1., -2.]");
    EXPECT_EQ(text({1e-6, 1}, {2}), "[1.0000e-06, 1.0000e+00]");
    EXPECT_EQ(text({std::nan(""), -INFINITY}, {2}), "[ nan, -inf]");
    EXPECT_EQ(text({}, {0}), "[]");
    EXPECT_EQ(text({3}, {}), "3.");
    EXPECT_EQ(text({1, 2, 3, 4, 5}, {5}, {.threshold = 4, .edge_items = 1}), "[1.,  ..., 5.]");
    EXPECT_EQ(aten::text_of(ir::Array::of<int64_t>(ir::DType::int64, {2}, {-1, 10})), "[-1, 10]");
}

TEST(aten_modules, weights_losses_and_places) {
    EXPECT_EQ(aten::fans_of({4, 3, 2}), (std::pair<int64_t, int64_t>{6, 8}));
    EXPECT_DOUBLE_EQ(aten::kaiming_deviation({2, 8}, 0, "fan_in", "relu"), 0.5);
    EXPECT_THROW((void)aten::kaiming_deviation({2, 8}, 0, "both"), ValueError);
    EXPECT_EQ(values_of(ir::constant(aten::dirac({2, 1, 3}, 2))), (Values{0, 1, 0, 0, 1, 0}));
    EXPECT_THROW((void)aten::dirac({3, 1, 3}, 2), ValueError);
    const Tensor losses = numpy::array<double>({1, 2}), weight = numpy::array<double>({3, 1});
    EXPECT_DOUBLE_EQ(aten::number(aten::weighted_loss(losses, weight)), 1.25);
    EXPECT_DOUBLE_EQ(aten::number(aten::weighted_loss(losses, weight, aten::Reduction::mean, true)),
                     2.5);
    const Tensor anchor = numpy::array<double>({0, 0}, {1, 2});
    const Tensor near = numpy::array<double>({3, 4}, {1, 2}), far = numpy::zeros({1, 2});
    EXPECT_NEAR(aten::number(aten::triplet_margin_loss(anchor, near, far)), 6, 1e-5);
    EXPECT_NEAR(aten::number(aten::multilabel_soft_margin_loss(losses - losses, weight - weight)),
                std::numbers::ln2, 1e-12);
    const Tensor theta = numpy::array<double>({1, 0, 0, 0, 1, 0}, {1, 2, 3});
    EXPECT_EQ(values_of(aten::affine_grid(theta, {1, 1, 2, 2}, true)),
              (Values{-1, -1, 1, -1, -1, 1, 1, 1}));
    EXPECT_EQ(values_of(aten::affine_grid(theta, {1, 1, 1, 2})), (Values{-0.5, 0, 0.5, 0}));
    const Tensor image = numpy::array<double>({7, 5}, {1, 1, 2});
    const Tensor places = numpy::array<int64_t>({1, 2}, {1, 1, 2});
    EXPECT_EQ(values_of(aten::max_unpool(image, places, 1, {{2}})), (Values{0, 7, 5, 0}));
    EXPECT_EQ(aten::fractional_size(numpy::zeros({1, 8, 6}), {2, 2}, {}, {0.5}), (Shape{4, 3}));
    EXPECT_THROW((void)aten::fractional_size(image, {2}, {2}), RuntimeError);
    EXPECT_EQ(values_of(aten::local_response_norm(image, 1, 1, 1, 0)),
              (Values{7.0 / 49, 5.0 / 25}));
}

TEST(aten_schedulers, a_cycle_has_parts) {
    const auto parts = aten::one_cycle(10, 0.3, true);
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_DOUBLE_EQ(parts[1].end, 4);
    EXPECT_EQ(parts[2].to, aten::CycleRate::least);
    const aten::CyclePosition at = aten::position_in(parts, 3);
    EXPECT_EQ(at.part, 1u);
    EXPECT_DOUBLE_EQ(at.share, 0.5);
    EXPECT_DOUBLE_EQ(aten::cycle_scale("triangular2", 3), 0.25);
    EXPECT_THROW((void)aten::cycle_scale("square", 1), ValueError);
}

}  // namespace
