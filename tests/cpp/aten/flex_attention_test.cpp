// What flex_attention demands, and what it shows of masks of blocks.
#include "composit/aten/flex_attention.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/numpy/creation.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace composit::aten {
namespace {

template <class E, class Act>
std::string refusal(const Act& act) {
    try {
        act();
    } catch (const E& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(flex_attention, operands_must_fit) {
    const Shape query = {2, 4, 8, 16}, key = {2, 2, 8, 16};
    check_flex_attention(query, key, key, true);
    EXPECT_EQ(refusal<ValueError>([&] { check_flex_attention(query, key, key, false); }),
              "Expect query and key/value to have the same number of heads but got Hq=4 and Hkv=2. "
              "Try setting enable_gqa=True for GQA.");
    EXPECT_EQ(
        refusal<NotSupported>([&] { check_flex_attention({8, 16}, {8, 16}, {8, 16}, false); }),
        "NYI: query, key, and value must be 4D tensors");
    const BlockMaskShape mask{.shape = {1, 1, 4, 8}};
    EXPECT_NE(refusal<ValueError>([&] {
                  check_flex_attention(key, key, key, false, mask);
              }).find("smaller length than you're using it for"),
              std::string::npos);
    check_flex_options({}, true);
    EXPECT_NE(refusal<ValueError>([] {
                  check_flex_options("FAST", false);
              }).find("Invalid BACKEND value 'FAST'"),
              std::string::npos);
}

TEST(flex_attention, masks_are_shown) {
    EXPECT_EQ(masked_lengths({1, 1, 2, 3}, {4, 8}), std::pair(int64_t{8}, int64_t{24}));
    EXPECT_DOUBLE_EQ(sparsity(2, {4, 4}, {1, 1, 8, 8}), 50);
    const ir::Tensor lower = numpy::tril(numpy::ones({1, 4, 4}, ir::DType::int32));
    const ir::Array dense = execute::evaluate(std::vector<ir::Tensor>{lower})[0];
    EXPECT_EQ(block_picture(dense), "(0,)\n██      \n████    \n██████  \n████████\n");
    EXPECT_EQ(block_picture(dense, {2, 2}), "(0,)\n░░  \n██░░\n");
    EXPECT_EQ(block_picture(dense, {2, 2}, 0).substr(0, 4), "...\n");
}

}  // namespace
}  // namespace composit::aten
