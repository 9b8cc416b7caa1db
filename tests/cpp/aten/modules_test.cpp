// What PyTorch's modules demand, and the parameters that they have.
#include "composit/aten/modules.h"

#include "composit/base/assertion_error.h"
#include "composit/base/error.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace composit::aten {
namespace {

std::vector<std::string> names_of(const std::vector<NamedShape>& shapes) {
    std::vector<std::string> names;
    for (const auto& [name, shape] : shapes) names.push_back(name);
    return names;
}

TEST(modules, recurrent_layers_have_weights_of_each_direction) {
    const auto one = recurrent_parameters(
        "LSTM", {.input = 3, .hidden = 4, .layers = 2, .has_bias = false, .projection = 2});
    EXPECT_EQ(names_of(one),
              (std::vector<std::string>{"weight_ih_l0", "weight_hh_l0", "weight_hr_l0",
                                        "weight_ih_l1", "weight_hh_l1", "weight_hr_l1"}));
    EXPECT_EQ(one[0].second, (Shape{16, 3}));
    EXPECT_EQ(one[1].second, (Shape{16, 2}));
    EXPECT_EQ(one[3].second, (Shape{16, 2}));
    const auto both = recurrent_parameters(
        "GRU", {.mode = "GRU", .input = 3, .hidden = 4, .layers = 2, .is_bidirectional = true});
    EXPECT_EQ(both[4].first, "weight_ih_l0_reverse");
    EXPECT_EQ(both[8].second, (Shape{12, 8}));
    EXPECT_THROW((void)recurrent_parameters("GRU", {.mode = "GRU", .hidden = 4, .projection = 2}),
                 ValueError);
    EXPECT_THROW((void)recurrent_parameters("LSTM", {.hidden = 0}), ValueError);
}

TEST(modules, attention_has_one_weight_or_three) {
    const auto one = attention_parameters(8, 2, 8, 8, true, false);
    EXPECT_FALSE(one[0].second);
    EXPECT_EQ(one[3].second, (Shape{24, 8}));
    EXPECT_EQ(attention_parameters(8, 2, 4, 8, false, true)[1].second, (Shape{8, 4}));
    EXPECT_THROW((void)attention_parameters(8, 3, 8, 8, true, false), AssertionError);
}

TEST(modules, convolutions_are_shaped_shown_and_padded) {
    ConvolutionSizes sizes{.in_channels = 4,
                           .out_channels = 6,
                           .groups = 2,
                           .kernel = {3, 2},
                           .stride = {1, 1},
                           .dilation = {1, 2},
                           .output_padding = {0, 0},
                           .padding = "same"};
    EXPECT_EQ(convolution_parameters(sizes)[0].second, (Shape{6, 2, 3, 2}));
    EXPECT_EQ(convolution_parameters(sizes, true)[0].second, (Shape{4, 3, 3, 2}));
    EXPECT_EQ(widths_before(sizes), (std::vector<int64_t>{1, 1, 1, 1}));
    EXPECT_EQ(shown_convolution(sizes),
              "4, 6, kernel_size=(3, 2), stride=(1, 1), padding=same, "
              "dilation=(1, 2), groups=2");
    sizes.padding = Shape{1, 0};
    EXPECT_EQ(widths_before(sizes), (std::vector<int64_t>{0, 0, 1, 1}));
    sizes.stride = {2, 2};
    EXPECT_EQ(padding_for(sizes, {1, 4, 5, 5}, {10, 12}), (Shape{1, 1}));
    sizes.groups = 3;
    EXPECT_THROW((void)convolution_parameters(sizes), ValueError);
}

TEST(modules, classes_are_clustered) {
    const ClassClusters found = class_clusters(64, 100, {10, 40}, 4);
    EXPECT_EQ(found.cutoffs, (std::vector<int64_t>{10, 40, 100}));
    EXPECT_EQ(found.widths, (std::vector<int64_t>{16, 4}));
    EXPECT_EQ(found.sizes, (std::vector<int64_t>{30, 60}));
    EXPECT_THROW((void)class_clusters(64, 100, {40, 10}, 4), ValueError);
    EXPECT_THROW((void)class_clusters(64, 100, {}, 4), ValueError);
    EXPECT_THROW((void)class_clusters(64, 100, {1.5, 3}, 4), ValueError);
    EXPECT_THROW((void)class_clusters(64, 100, {10}, 0), ZeroDivisionError);
    check_clustered({2, 64}, {2}, 0, 99, 100);
    EXPECT_THROW(check_clustered({2, 64}, {2}, 0, 100, 100), RuntimeError);
    EXPECT_THROW(check_clustered({2, 64}, {2, 1}, 0, 9, 100), RuntimeError);
}

TEST(modules, fractional_pools_take_a_size_or_ratios) {
    check_fractional("FractionalMaxPool2d", true, {});
    check_fractional("FractionalMaxPool2d", false, std::vector{0.5, 0.5});
    EXPECT_THROW(check_fractional("FractionalMaxPool2d", false, {}), ValueError);
    EXPECT_THROW(check_fractional("FractionalMaxPool2d", true, std::vector{0.5}), ValueError);
    EXPECT_THROW(check_fractional("FractionalMaxPool2d", false, std::vector{1.0}), ValueError);
}

}  // namespace
}  // namespace composit::aten
