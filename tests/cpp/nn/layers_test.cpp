// Layers against their formulas, computed by slow loops.
#include "composit/nn/layers.h"

#include "../numpy/values.h"
#include "composit/nn/operations.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/random.h"

#include <cmath>

namespace composit::nn {
namespace {

using ir::Shape;
using numpy::array;
using numpy::expect_error;
using numpy::expect_near;
using numpy::values;

// Each row of x minus its mean, over its deviation.
std::vector<double> slow_normalised(const std::vector<double>& x, size_t width, double epsilon) {
    std::vector<double> result;
    for (size_t row = 0; row < x.size(); row += width) {
        double mean = 0, variance = 0;
        for (size_t i = 0; i < width; ++i) mean += x[row + i] / static_cast<double>(width);
        for (size_t i = 0; i < width; ++i)
            variance += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(width);
        for (size_t i = 0; i < width; ++i)
            result.push_back((x[row + i] - mean) / std::sqrt(variance + epsilon));
    }
    return result;
}

TEST(layers, softmax) {
    const Tensor x = array<double>({0, std::log(3.0), 1000, 1000}, {2, 2});
    expect_near(softmax(x, 1), {2, 2}, {0.25, 0.75, 0.5, 0.5});
    expect_near(softmax(numpy::zeros({2, 2}), {0, 1}), {2, 2}, {0.25, 0.25, 0.25, 0.25});
    expect_error<AxisError>([&] { (void)softmax(x, 2); }, "axis 2 is out of bounds");
}

TEST(layers, layer_norm) {
    numpy::RandomState random(3);
    const Tensor x = random.random({4, 5}), one = numpy::ones({5}), zero = numpy::zeros({5});
    const auto expected = slow_normalised(values<double>(x), 5, 1e-5);
    expect_near(layer_norm(x, one, zero), {4, 5}, expected);
    std::vector<double> scaled;
    for (double element : expected) scaled.push_back(2 * element + 1);
    expect_near(layer_norm(x, numpy::full({5}, 2.0), one), {4, 5}, scaled);
}

TEST(layers, group_norm_is_layer_norm_of_groups) {
    numpy::RandomState random(4);
    const Tensor x = random.random({2, 4, 3});
    const Tensor one = numpy::ones({4}), zero = numpy::zeros({4});
    const auto expected = slow_normalised(values<double>(x), 6, 1e-5);
    expect_near(group_norm(x, one, zero, 1, 2), {2, 4, 3}, expected);
    expect_near(group_norm(x, {}, {}, 1, 2), {2, 4, 3}, expected);  // they may be left out
    const Tensor last = group_norm(numpy::moveaxis(x, 1, -1), one, zero, -1, 2);
    expect_near(numpy::moveaxis(last, -1, 1), {2, 4, 3}, expected);
    expect_error<ValueError>([&] { (void)group_norm(x, one, zero, 1, 3); }, "num_groups is 3");
}

TEST(layers, batch_norm) {
    const Tensor x = array<double>({1, 2, 3, 4}, {2, 2});
    const Tensor mean = array<double>({2, 3}), variance = array<double>({1, 4});
    expect_near(batch_norm(x, mean, variance, array<double>({1, 2}), array<double>({0, 1}), 0),
                {2, 2}, {-1, 0, 1, 2});
}

TEST(layers, attention) {
    const Tensor q = array<double>({1, 0, 0, 1}, {2, 2}), v = array<double>({1, 2, 3, 4}, {2, 2});
    const double e = std::exp(1 / std::sqrt(2.0)), a = e / (e + 1), b = 1 / (e + 1);
    expect_near(scaled_dot_product_attention(q, q, v), {2, 2},
                {a + 3 * b, 2 * a + 4 * b, b + 3 * a, 2 * b + 4 * a});
    const Tensor mask = array<double>({0, -1e30, 0, -1e30}, {2, 2});
    expect_near(scaled_dot_product_attention(q, q, v, mask), {2, 2}, {1, 2, 1, 2});
}

TEST(layers, multi_head_attention_is_attention_of_each_head) {
    numpy::RandomState random(5);
    const auto weight = [&] { return random.randn({4, 4}); };
    const auto bias = [&] { return random.randn({4}); };
    const AttentionParameters p{weight(), bias(), weight(), bias(),
                                weight(), bias(), weight(), bias()};
    const Tensor hidden = random.randn({1, 3, 4});
    const auto project = [&](const Tensor& w, const Tensor& b) {
        return numpy::apply("add", {numpy::matmul(hidden, w), b});
    };
    const Tensor q = project(p.query_weight, p.query_bias), k = project(p.key_weight, p.key_bias);
    const Tensor v = project(p.value_weight, p.value_bias);
    std::vector<Tensor> heads;
    for (size_t head = 0; head < 2; ++head) {
        const auto part = [&](const Tensor& x) { return numpy::split(x, 2, 2)[head]; };
        heads.push_back(scaled_dot_product_attention(part(q), part(k), part(v)));
    }
    const Tensor joined = numpy::concatenate(heads, 2);
    const Tensor expected =
        numpy::apply("add", {numpy::matmul(joined, p.output_weight), p.output_bias});
    expect_near(multi_head_attention(hidden, {}, p, 2), {1, 3, 4}, values<double>(expected));
    expect_error<ValueError>([&] { (void)multi_head_attention(hidden, {}, p, 3); },
                             "head_size is 3");
}

TEST(layers, resnet_module_in_both_layouts) {
    numpy::RandomState random(6);
    const auto layer = [&](int64_t out, int64_t in, int64_t size) {
        return ConvolutionNorm{random.randn({out, in, size, size}), random.randn({out}),
                               random.random({out}), random.randn({out}), random.randn({out})};
    };
    const auto first = layer(2, 3, 1), second = layer(2, 2, 3), third = layer(4, 2, 1);
    const auto left = layer(4, 3, 1);
    const auto turned = [](ConvolutionNorm x) {
        x.filters = numpy::moveaxis(x.filters, 1, -1);
        return x;
    };
    const Tensor x = random.randn({1, 3, 5, 5});
    const Tensor y = resnet_module(x, first, second, third, left, false, {2, 2});
    EXPECT_EQ(y.shape(), (Shape{1, 4, 3, 3}));
    const Tensor z = resnet_module(numpy::moveaxis(x, 1, -1), turned(first), turned(second),
                                   turned(third), turned(left), true, {2, 2});
    expect_near(numpy::moveaxis(z, -1, 1), y.shape(), values<double>(y), 1e-10);
}

}  // namespace
}  // namespace composit::nn
