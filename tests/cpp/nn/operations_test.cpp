// Convolution and pooling against slow loops, gradients against differences; losses against
// formulas.
#include "composit/nn/operations.h"

#include "../numpy/values.h"
#include "composit/functional/functional.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/random.h"
#include "composit/numpy/reductions.h"

#include <cmath>
#include <limits>

namespace composit::nn {
namespace {

using numpy::array;
using numpy::expect_error;
using numpy::expect_near;
using numpy::expect_values;
using numpy::values;

// Elements in row-major order, by index.
struct Image {
    Shape shape;
    std::vector<double> elements;
    explicit Image(const Tensor& x) : shape(x.shape()), elements(values<double>(x)) {}
    double at(const Shape& index) const {  // zero outside
        int64_t place = 0;
        for (size_t d = 0; d < shape.size(); ++d) {
            if (index[d] < 0 || index[d] >= shape[d]) return 0;
            place = place * shape[d] + index[d];
        }
        return elements[static_cast<size_t>(place)];
    }
};

struct Case {
    Shape x, filters;
    ConvolutionOptions options;
};

// Two spatial dimensions, channels first.
std::vector<double> slow_convolution(const Image& x, const Image& f, const ConvolutionOptions& o,
                                     const Shape& result) {
    const int64_t per_group = f.shape[0] / o.groups;
    std::vector<double> out;
    for (int64_t n = 0; n < result[0]; ++n)
        for (int64_t c = 0; c < result[1]; ++c)
            for (int64_t i = 0; i < result[2]; ++i)
                for (int64_t j = 0; j < result[3]; ++j) {
                    double total = 0;
                    for (int64_t k = 0; k < f.shape[1]; ++k)
                        for (int64_t a = 0; a < f.shape[2]; ++a)
                            for (int64_t b = 0; b < f.shape[3]; ++b)
                                total +=
                                    f.at({c, k, a, b}) *
                                    x.at({n, c / per_group * f.shape[1] + k,
                                          i * o.strides[0] - o.padding[0] + a * o.dilation[0],
                                          j * o.strides[1] - o.padding[1] + b * o.dilation[1]});
                    out.push_back(total);
                }
    return out;
}

TEST(convolution, two_dimensions_against_loops) {
    const std::vector<Case> cases{
        {{2, 3, 5, 6}, {4, 3, 3, 2}, {false, {1, 1}, {0, 0}, {1, 1}, 1}},
        {{1, 2, 7, 8}, {3, 2, 3, 3}, {false, {2, 3}, {1, 2}, {1, 1}, 1}},
        {{1, 4, 6, 6}, {6, 2, 2, 2}, {false, {1, 2}, {0, 1}, {2, 3}, 2}},
        {{1, 3, 4, 4}, {3, 1, 3, 3}, {false, {1, 1}, {1, 1}, {1, 1}, 3}},
    };
    numpy::RandomState random(1);
    for (const Case& c : cases) {
        SCOPED_TRACE(text(c.x, c.filters));
        const Tensor x = random.random(c.x), f = random.random(c.filters);
        const Tensor y = convolution(x, f, c.options);
        expect_near(y, y.shape(), slow_convolution(Image(x), Image(f), c.options, y.shape()));
        ConvolutionOptions last = c.options;
        last.channels_last = true;
        const Tensor z = convolution(numpy::moveaxis(x, 1, -1), numpy::moveaxis(f, 1, -1), last);
        expect_values<double>(numpy::moveaxis(z, -1, 1), y.shape(), values<double>(y));
    }
}

TEST(convolution, other_ranks_and_mistakes) {
    const Tensor x = array<double>({1, 2, 3, 4}, {1, 1, 4});
    expect_values<double>(convolution(x, array<double>({1, -1}, {1, 1, 2})), {1, 1, 3},
                          {-1, -1, -1});
    const Tensor cube = numpy::ones({1, 1, 3, 3, 3});
    expect_values<double>(convolution(cube, cube), {1, 1, 1, 1, 1}, {27});
    EXPECT_EQ(convolution(x, numpy::ones({1, 1, 3}, DType::float32)).dtype(), DType::float64);
    expect_error<ValueError>([&] { (void)convolution(x, cube); }, "x has shape (1, 1, 4)");
    expect_error<ValueError>([&] { (void)convolution(x, numpy::ones({1, 2, 2})); }, "channels");
    expect_error<ValueError>([&] { (void)convolution(x, x, {.strides = {0}}); }, "strides is (0,)");
    expect_error<ValueError>([&] { (void)convolution(numpy::ones({3, 3}), x); }, "(3, 3)");
}

TEST(pooling, windows) {
    const Tensor x = numpy::counting({1, 1, 4, 4});
    expect_values<double>(max_pool(x, {.kernel_size = {2, 2}, .strides = {2, 2}}), {1, 1, 2, 2},
                          {5, 7, 13, 15});
    expect_values<double>(average_pool(x, {.kernel_size = {2}, .strides = {2}}), {1, 1, 2, 2},
                          {2.5, 4.5, 10.5, 12.5});
    EXPECT_EQ(max_pool(x, {.kernel_size = {3, 2}}).shape(), (Shape{1, 1, 2, 3}));
    const Tensor last = numpy::reshape(x, {1, 4, 4, 1});
    expect_values<double>(
        max_pool(last, {.kernel_size = {2, 2}, .channels_last = true, .strides = {2, 2}}),
        {1, 2, 2, 1}, {5, 7, 13, 15});
    expect_values<double>(average_pool(last, {.kernel_size = {4}, .channels_last = true}),
                          {1, 1, 1, 1}, {7.5});
}

TEST(pooling, padding_counts_as_zeros_or_as_nothing) {
    const Tensor x = array<double>({-1, -2, -3}, {1, 1, 3});
    const PoolOptions options{.kernel_size = {3}, .strides = {2}, .padding = {1}};
    expect_values<double>(max_pool(x, options), {1, 1, 2}, {-1, -2});
    expect_values<double>(average_pool(x, options), {1, 1, 2}, {-1, -5.0 / 3});
    expect_values<int8_t>(max_pool(array<int8_t>({-128, -127}, {1, 1, 2}),
                                   {.kernel_size = {2}, .strides = {2}, .padding = {1}}),
                          {1, 1, 2}, {-128, -127});
    expect_error<ValueError>([&] { (void)max_pool(x, {.kernel_size = {4}}); },
                             "the window is larger than the padded input");
}

TEST(pooling, max_gradient_goes_to_the_first) {
    const auto f = [](const Tensor& x) {
        return numpy::sum(max_pool(x, {.kernel_size = {2}, .strides = {1}, .padding = {1}}));
    };
    expect_values<double>(grad(f)(array<double>({3, 3, 1, 3}, {1, 1, 4})), {1, 1, 4}, {2, 1, 0, 2});
    const auto mean = [](const Tensor& x) {
        return numpy::sum(average_pool(x, {.kernel_size = {2}, .strides = {2}}));
    };
    expect_values<double>(grad(mean)(numpy::ones({1, 1, 3})), {1, 1, 3}, {0.5, 0.5, 0});
}

TEST(activations, known_values) {
    const Tensor x = array<double>({-1, 0, 2});
    expect_values<double>(relu(x), {3}, {0, 0, 2});
    expect_near(sigmoid(x), {3}, {1 / (1 + std::exp(1.0)), 0.5, 1 / (1 + std::exp(-2.0))}, 1e-15);
    expect_near(silu(x), {3}, {-1 / (1 + std::exp(1.0)), 0, 2 / (1 + std::exp(-2.0))}, 1e-15);
    expect_near(gelu(x), {3}, {-0.5 * std::erfc(std::sqrt(0.5)), 0, std::erfc(-std::sqrt(2.0))},
                1e-15);
}

TEST(embedding, rows_by_id) {
    const Tensor weights = numpy::counting({3, 2});
    expect_values<double>(embedding(array<int64_t>({2, 0}, {1, 2}), weights), {1, 2, 2},
                          {4, 5, 0, 1});
    expect_error<IndexError>([&] { (void)embedding(array<int64_t>({3}), weights); },
                             "index 3 is out of bounds for axis 0 with size 3");
    expect_error<TypeError>([&] { (void)embedding(numpy::ones({1}), weights); }, "Integers");
}

TEST(losses, log_softmax_is_stable) {
    const Tensor x = array<double>({1000, 1001, -1000, -1000}, {2, 2});
    const double a = std::log1p(std::exp(-1.0)), half = std::log(2.0);
    expect_near(log_softmax(x), {2, 2}, {-1 - a, -a, -half, -half});
    expect_near(logsumexp(x, 1), {2}, {1001 + a, -1000 + half}, 1e-10);
    EXPECT_EQ(logsumexp(x, 0, true).shape(), (Shape{1, 2}));
}

TEST(losses, one_hot) {
    expect_values<float>(one_hot(array<int64_t>({2, 0, 5}), 3), {3, 3},
                         {0, 0, 1, 1, 0, 0, 0, 0, 0});
}

TEST(losses, cross_entropy_and_its_gradient) {
    const Tensor x = array<double>({1, 2, 3, 1, 1, 1}, {2, 3});
    const Tensor labels = array<int64_t>({2, 0});
    const double total = std::exp(1.0) + std::exp(2.0) + std::exp(3.0);
    const double first = std::log(total) - 3, second = std::log(3.0);
    expect_near(cross_entropy(x, labels, "none"), {2}, {first, second});
    expect_near(cross_entropy(x, labels), {}, {(first + second) / 2});
    expect_near(cross_entropy(x, labels, "sum"), {}, {first + second});
    expect_error<ValueError>([&] { (void)cross_entropy(x, labels, "bogus"); },
                             "cross_entropy: reduction is 'bogus'. Available: mean, sum, none.");
    const auto loss = [&](const Tensor& logits) { return cross_entropy(logits, labels); };
    expect_near(grad(loss)(x), {2, 3},
                {std::exp(1.0) / total / 2, std::exp(2.0) / total / 2,
                 (std::exp(3.0) / total - 1) / 2, -1.0 / 3, 1.0 / 6, 1.0 / 6});
    expect_error<ValueError>([&] { (void)cross_entropy(x, array<int64_t>({1})); }, "(2, 3)");
    expect_error<IndexError>([&] { (void)cross_entropy(x, array<int64_t>({1, 3})); }, "index 3");
    expect_error<ValueError>([&] { (void)cross_entropy(x, labels, "median"); }, "median");
}

TEST(losses, mse) {
    expect_values<double>(mse(array<double>({1, 2}), array<double>({3, 5})), {}, {6.5});
}

}  // namespace
}  // namespace composit::nn
