// Dropout and the initialisers.
#include "composit/base/error.h"
#include "composit/functional/functional.h"
#include "composit/nn/initializers.h"
#include "composit/nn/layers.h"
#include "composit/numpy/creation.h"

#include <gtest/gtest.h>

namespace composit::nn {
namespace {

std::vector<float> values(const Tensor& x) {
    const ir::Array array = evaluate(x);
    return {array.data_as<float>(), array.data_as<float>() + array.size()};
}

TEST(dropout, leaves_out_at_its_rate_and_scales_the_rest) {
    const Tensor x = numpy::ones({10'000}, DType::float32);
    const Tensor y = dropout(x, 0.25, random::key(int64_t{1}));
    EXPECT_EQ(ir::topological_order({y}).size(), 3u);
    int zeros = 0;
    for (const float element : values(y)) {
        if (element == 0)
            ++zeros;
        else
            EXPECT_EQ(element, static_cast<float>(1 / 0.75));
    }
    EXPECT_NEAR(zeros, 2500, 4 * 43);
    EXPECT_THROW((void)dropout(x, -0.1, random::key(int64_t{1})), ValueError);
}

TEST(initializers, have_the_variance_of_their_fans) {
    const Tensor key = random::key(int64_t{2});
    const auto variance = [](const Tensor& x) {
        double sum = 0;
        for (const float w : values(x)) sum += double{w} * w;
        return sum / static_cast<double>(x.size());
    };
    EXPECT_NEAR(variance(he_normal(key, {100, 50})), 2.0 / 100, 1e-3);
    EXPECT_NEAR(variance(he_uniform(key, {16, 20, 5, 5}, {1, 0})), 2.0 / 500, 2e-4);
    EXPECT_NEAR(variance(glorot_uniform(key, {100, 60})), 2.0 / 160, 6e-4);
    EXPECT_NEAR(variance(lecun_normal(key, {100, 60})), 1.0 / 100, 6e-4);
    EXPECT_NEAR(variance(variance_scaling(key, {50, 80}, 3, "fan_out", "truncated_normal")),
                3.0 / 80, 3e-3);
}

}  // namespace
}  // namespace composit::nn
