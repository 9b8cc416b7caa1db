// Tokens chosen by their likelihoods.
#include "composit/nn/choosing.h"

#include "composit/base/error.h"

#include <gtest/gtest.h>

#include <vector>

namespace composit::nn {
namespace {

const ir::Array logits = ir::Array::of<float>(ir::DType::float32, {4}, {0, 2, 2, 1});

int64_t chosen(double drawn, const TokenChoice& how = {}) {
    return choose_token(logits, [=] { return drawn; }, how);
}

TEST(Choosing, LikelihoodsInOrder) {
    EXPECT_EQ(chosen(0.0), 1);
    EXPECT_EQ(chosen(0.999), 0);
    EXPECT_EQ(chosen(0.999, {.top_k = 2}), 2);
    EXPECT_EQ(chosen(0.999, {.top_p = 0.5}), 2);
    EXPECT_EQ(chosen(0.999, {.top_p = 0.1}), 1);
    EXPECT_EQ(chosen(0.999, {.temperature = 0.01}), 2);
}

TEST(Choosing, TheLikeliestNeedsNoDraw) {
    const auto none = []() -> double { throw std::runtime_error("drawn"); };
    EXPECT_EQ(choose_token(logits, none, {.temperature = 0}), 1);
    EXPECT_EQ(choose_token(logits, none, {.top_k = 1}), 1);
}

TEST(Choosing, OptionsOutsideTheirRange) {
    EXPECT_THROW((void)chosen(0, {.temperature = -1}), ValueError);
    EXPECT_THROW((void)chosen(0, {.top_k = 0}), ValueError);
    EXPECT_THROW((void)chosen(0, {.top_p = 1.5}), ValueError);
    EXPECT_THROW((void)choose_token(ir::Array(ir::DType::float32, {0}), [] { return 0.0; }),
                 ValueError);
}

}  // namespace
}  // namespace composit::nn
