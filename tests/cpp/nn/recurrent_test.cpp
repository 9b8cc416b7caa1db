// Recurrent layers' weights by PyTorch's names.
#include "composit/nn/recurrent.h"

#include "composit/base/error.h"
#include "composit/numpy/creation.h"

#include <gtest/gtest.h>

namespace composit::nn {
namespace {

using numpy::ones;

TEST(Recurrent, WeightsByName) {
    const auto named = recurrent_weights("gru", {{"weight_hh_l0", ones({6, 2})},
                                                 {"weight_ih_l0", ones({6, 3})},
                                                 {"weight_ih_l0_reverse", ones({6, 4})},
                                                 {"weight_hh_l0_reverse", ones({6, 2})}});
    ASSERT_EQ(named.layers.size(), 2U);
    EXPECT_TRUE(named.bidirectional);
    EXPECT_EQ(named.layers[0].weight_ih.shape(), (ir::Shape{6, 3}));
    EXPECT_EQ(named.layers[1].weight_ih.shape(), (ir::Shape{6, 4}));
    EXPECT_FALSE(named.layers[0].bias_ih);
    for (const char* name : {"weight_ih", "weight_ih_l", "weight_xx_l0", "weight_ih_l0_back"})
        EXPECT_THROW((void)recurrent_weights("rnn", {{name, ones({2, 2})}}), ValueError) << name;
    EXPECT_THROW((void)recurrent_weights("lstm", {{"weight_ih_l1", ones({2, 2})}}), ValueError);
}

}  // namespace
}  // namespace composit::nn
