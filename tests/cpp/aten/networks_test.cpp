// Attention by heads, recurrent networks by mode, losses and weights as formulas, refused values.
#include "composit/aten/attention.h"
#include "composit/aten/flex_attention.h"
#include "composit/aten/modules.h"
#include "composit/aten/multi_head.h"
#include "composit/aten/network_formulas.h"
#include "composit/aten/products.h"
#include "composit/aten/recurrent.h"
#include "composit/aten/sequences.h"
#include "composit/aten/value_checks.h"
#include "composit/base/assertion_error.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using namespace composit;
using aten::number;
using aten::Values;
using aten::values_of;
using aten::formulas::Value;
using ir::Shape;
using ir::Tensor;

// Numbers that differ: sines of 1, 2, … times a step.
Tensor some(const Shape& shape, double step) {
    std::vector<double> values;
    for (int64_t i = 0; i < ir::element_count(shape); ++i)
        values.push_back(std::sin(step * static_cast<double>(i + 1)));
    return numpy::array<double>(values, shape);
}

void expect_near(const Tensor& a, const Tensor& b) {
    ASSERT_EQ(a.shape(), b.shape());
    const Values one = values_of(a), other = values_of(b);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 1e-12);
}

TEST(aten_networks, heads_attend_alike_in_both_orders) {
    const Tensor q = some({3, 2, 4}, 0.7), k = some({5, 2, 4}, 1.3);
    const aten::HeadWeights weights{.in_weight = Value(some({12, 4}, 0.3)),
                                    .in_bias = Value(some({12}, 0.9)),
                                    .out_weight = Value(some({4, 4}, 0.5)),
                                    .out_bias = Value(some({4}, 0.2))};
    aten::HeadOptions options{.heads = 2};
    options.key_padding = Value(numpy::array<bool>(
        {false, false, false, false, true, false, true, false, false, false}, {2, 5}));
    const aten::HeadAttention one = aten::multi_head_attention(q, k, k, weights, options, 4);
    const aten::HeadAttention other = aten::attention_of_heads(q, k, k, weights, options);
    expect_near(one.output.tensor(), other.output.tensor());
    expect_near(one.weights->tensor(), other.weights->tensor());
    EXPECT_EQ(one.weights->shape(), (Shape{2, 3, 5}));
    EXPECT_EQ(values_of(one.weights->tensor())[4], 0);  // a key that is hidden
    options.shows_weights = false;
    const aten::HeadAttention hidden = aten::attention_of_heads(q, k, k, weights, options);
    EXPECT_FALSE(hidden.weights);
    expect_near(hidden.output.tensor(), one.output.tensor());
    options.heads = 3;
    EXPECT_THROW((void)aten::multi_head_attention(q, k, k, weights, options), AssertionError);
    options.heads = 2;
    EXPECT_THROW((void)aten::multi_head_attention(q, k, k, weights, options, 8), AssertionError);
    options.is_causal = true;
    EXPECT_THROW((void)aten::multi_head_attention(q, k, k, weights, options), RuntimeError);
}

TEST(aten_networks, added_keys_are_attended_to) {
    const Tensor q = some({3, 4}, 0.7), k = some({5, 4}, 1.3);
    const aten::HeadWeights weights{.in_weight = Value(some({12, 4}, 0.3)),
                                    .added_key = Value(some({1, 1, 4}, 0.4)),
                                    .added_value = Value(some({1, 1, 4}, 0.6)),
                                    .out_weight = Value(some({4, 4}, 0.5))};
    const aten::HeadAttention made =
        aten::attention_of_heads(q, k, k, weights, {.heads = 2, .adds_zero_key = true});
    EXPECT_EQ(made.output.shape(), (Shape{3, 4}));
    EXPECT_EQ(made.weights->shape(), (Shape{3, 7}));
    double sum = 0;
    for (const double weight : values_of(made.weights->tensor())) sum += weight;
    EXPECT_NEAR(sum, 3, 1e-12);
}

TEST(aten_networks, packed_sequences_run_as_each_alone) {
    const aten::NamedTensors weights = {
        {"weight_ih_l0", some({12, 2}, 0.3)},         {"weight_hh_l0", some({12, 3}, 0.5)},
        {"weight_ih_l0_reverse", some({12, 2}, 0.2)}, {"weight_hh_l0_reverse", some({12, 3}, 0.8)},
        {"weight_ih_l1", some({12, 6}, 0.4)},         {"weight_hh_l1", some({12, 3}, 0.6)},
        {"weight_ih_l1_reverse", some({12, 6}, 0.1)}, {"weight_hh_l1_reverse", some({12, 3}, 0.7)}};
    const Tensor x = some({4, 2, 2}, 0.7);
    const aten::PackedSequence packed = aten::pack_padded_sequence(x, {4, 2});
    std::vector<Tensor> states;
    for (const Shape& shape :
         aten::recurrent_states({.hidden = 3, .layers = 2, .is_bidirectional = true}, 2))
        states.push_back(numpy::zeros(shape, ir::DType::float64));
    const std::vector<Tensor> made =
        aten::packed_recurrent("LSTM", packed.data, packed.batch_sizes, weights, states);
    ASSERT_EQ(made.size(), 3U);
    EXPECT_EQ(made[1].shape(), (Shape{4, 2, 3}));
    const Tensor first = numpy::take(x, numpy::array<int64_t>({0}), 1);
    const std::vector<Tensor> alone = aten::recurrent("LSTM", first, weights);
    const aten::PaddedSequences padded = aten::pad_packed_sequence(
        {made[0], packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices});
    expect_near(numpy::take(padded.data, numpy::array<int64_t>({0}), 1), alone[0]);
    EXPECT_THROW((void)aten::packed_recurrent("GRU", packed.data, packed.batch_sizes, weights, {}),
                 ValueError);
    const auto check = [](const Shape& input, ir::DType dtype, bool batch_first = false) {
        aten::check_recurrent_input("LSTM", input, dtype, 2, ir::DType::float64, batch_first);
    };
    check({4, 2, 2}, ir::DType::float64);
    check({4, 0, 2}, ir::DType::float64);
    EXPECT_THROW(check({4}, ir::DType::float64), ValueError);
    EXPECT_THROW(check({4, 3}, ir::DType::float64), RuntimeError);
    EXPECT_THROW(check({4, 2}, ir::DType::float32), ValueError);
    EXPECT_THROW(check({0, 4, 2}, ir::DType::float64), RuntimeError);
    EXPECT_THROW(check({4, 0, 2}, ir::DType::float64, true), RuntimeError);
    EXPECT_THROW(aten::check_packed_input({4, 2}, ir::DType::float32, 2, ir::DType::float64),
                 RuntimeError);
    aten::check_cell_input("LSTMCell", {4, 2}, 2, 3, {{4, 3}, {4, 3}});
    aten::check_cell_input("LSTMCell", {2}, 2, 3, {{3}, {3}});
    EXPECT_THROW(aten::check_cell_input("GRUCell", {1, 4, 2}, 2, 3, {}), ValueError);
    EXPECT_THROW(aten::check_cell_input("GRUCell", {4, 2}, 2, 3, {{5, 3}}), RuntimeError);
    EXPECT_THROW(aten::check_cell_input("GRUCell", {4, 2}, 2, 3, {{4}}), RuntimeError);
    EXPECT_THROW((void)aten::recurrent("none", first, weights), ValueError);
}

TEST(aten_networks, scores_are_changed_and_masked_by_functions) {
    const Tensor q = some({1, 2, 3, 4}, 0.7), k = some({1, 1, 5, 4}, 1.1);
    aten::FlexOptions options{.shows_lse = true, .shows_max_scores = true};
    options.mask_mod = [](const Value&, const aten::Positions& positions) {
        const aten::Positions at = aten::spread(positions);
        return at[2] >= at[3];  // a query looks at keys up to its own position
    };
    const aten::FlexAttention made = aten::flex_attention(q, k, k, options);
    const Tensor keys = numpy::broadcast_to(k, {1, 2, 5, 4});
    const Tensor mask = numpy::array<bool>({true, false, false, false, false, true, true, false,
                                            false, false, true, true, true, false, false},
                                           {3, 5});
    expect_near(made.output.tensor(),
                aten::scaled_dot_product_attention(q, keys, keys, {.mask = mask}));
    EXPECT_EQ(made.lse->shape(), (Shape{1, 2, 3}));
    EXPECT_LE(values_of(made.max_scores->tensor())[0], values_of(made.lse->tensor())[0] + 1e-12);
    EXPECT_THROW(aten::check_flex_devices({"cpu", "cpu", "cuda:0"}), ValueError);
    EXPECT_THROW(aten::check_flex_devices({"cpu", "cpu", "cpu"}, "cuda:0"), RuntimeError);
    EXPECT_THROW(aten::check_block_parts({.rank = 1}), RuntimeError);
    EXPECT_THROW(aten::check_block_parts({.has_full_counts = true}), AssertionError);
}

TEST(aten_networks, losses_are_made_of_products_and_distances) {
    const Tensor x = some({3, 4}, 0.7), w = some({5, 4}, 0.3);
    const Tensor labels = numpy::array<int64_t>({0, 4, 2});
    EXPECT_NEAR(number(aten::linear_cross_entropy(x, w, labels).tensor()),
                number(aten::cross_entropy_loss(aten::linear(x, w), labels)), 1e-12);
    const aten::Distance apart = [](const Value& a, const Value& b) {
        return aten::formulas::sum(aten::formulas::abs(a - b), -1);
    };
    const Value loss = aten::triplet_margin_with_distance_loss(
        numpy::array<double>({0, 0}, {1, 2}), numpy::array<double>({1, 1}, {1, 2}),
        numpy::array<double>({2, 3}, {1, 2}), apart, 4.0);
    EXPECT_DOUBLE_EQ(number(loss.tensor()), 1);
    EXPECT_THROW((void)aten::triplet_margin_with_distance_loss(x, x, x, apart, 0), ValueError);
    const aten::Draw draw = [](const Shape& shape) { return Value(numpy::full(shape, 0.25)); };
    EXPECT_EQ(values_of(aten::alpha_dropout(x, 0.5, false, false, draw).tensor()), values_of(x));
    EXPECT_EQ(aten::alpha_dropout(x, 0.5, true, true, draw).shape(), x.shape());
    EXPECT_THROW((void)aten::alpha_dropout(x, 1.5, true, false, draw), ValueError);
}

TEST(aten_networks, weights_are_fused_and_made_orthonormal) {
    const Tensor weight = some({2, 3}, 0.4), mean = some({2}, 0.5);
    const auto [made, bias] = aten::fused_with_norm(
        weight, {}, {Value(mean), Value(numpy::array<double>({3, 8})), 1.0}, {2, 1});
    EXPECT_NEAR(values_of(made.tensor())[3], values_of(weight)[3] / 3, 1e-15);
    EXPECT_NEAR(values_of(bias.tensor())[0], -values_of(mean)[0] / 2, 1e-15);
    const Tensor basis = aten::orthonormal(some({2, 3}, 0.9)).tensor();
    expect_near(numpy::matmul(basis, numpy::transpose(basis)),
                numpy::eye(2, {}, 0, ir::DType::float64));
    EXPECT_EQ(aten::channel_norm_tensors(3, true, false, true).size(), 5U);
    EXPECT_FALSE(aten::norm_tensors({3}, true, false)[1].shape);
    EXPECT_THROW(aten::check_channel_groups(2, 3), ValueError);
    EXPECT_THROW(aten::check_norm_rank(1, {}), ValueError);
    EXPECT_THROW(aten::check_norm_rank(4, {2, 3}), ValueError);
}

TEST(aten_networks, values_are_refused) {
    aten::check_probabilities("input", 0, 1);
    EXPECT_THROW(aten::check_probabilities("input", 0, NAN), RuntimeError);
    EXPECT_THROW(aten::check_margin_labels(0, 3, 3), RuntimeError);
    EXPECT_THROW(aten::check_margin_power(3), ValueError);
    EXPECT_THROW(aten::check_class_values(-1, 2, -1), RuntimeError);
    EXPECT_THROW(aten::check_class_values(0, 2, 2), RuntimeError);
    EXPECT_THROW(aten::check_class_count(ir::DType::int32, 1, 1), RuntimeError);
    EXPECT_THROW(aten::check_class_count(ir::DType::int64, 0, 0), RuntimeError);
    aten::check_ctc_lengths(3, 3, 9);
    EXPECT_THROW(aten::check_ctc_lengths(4, 3, 0), RuntimeError);
    EXPECT_THROW(aten::check_ctc_lengths(3, 3, 2, 1), RuntimeError);
}

}  // namespace
