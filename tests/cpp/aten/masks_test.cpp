// Masks of pruned weights, of attention, and of reductions, in C++.
#include "composit/aten/block_masks.h"
#include "composit/aten/masked.h"
#include "composit/aten/pruning.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/ops/ops.h"
#include "number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace composit;
using aten::Values;
using aten::values_of;
using ir::DType;
using ir::Shape;
using ir::Tensor;

TEST(aten_pruning, the_least_scores_are_pruned) {
    const Tensor mask = numpy::array<double>({1, 1, 0, 1, 1, 1}, {2, 3});
    const Tensor scores = numpy::array<double>({5, 1, 0, 4, 3, 2}, {2, 3});
    EXPECT_EQ(values_of(aten::prune_elements(mask, scores, 3)), (Values{1, 0, 0, 1, 1, 0}));
    EXPECT_EQ(values_of(aten::prune_elements(mask, scores, 0)), values_of(mask));
    const Tensor columns = numpy::array<double>({3, 1, 2});
    EXPECT_EQ(values_of(aten::prune_channels(mask, columns, 1, -1)), (Values{1, 0, 0, 1, 0, 1}));
    EXPECT_EQ(values_of(aten::prune_channels(mask, numpy::array<double>({1, 2}), 1, 0)),
              (Values{0, 0, 0, 1, 1, 1}));
    EXPECT_THROW((void)aten::prune_elements(mask, scores, 7), ValueError);
}

TEST(aten_block_masks, blocks_are_full_partly_there_or_not) {
    // Rows 0 to 2 of a mask of 3 by 5 look at columns up to their own.
    const Tensor mask =
        ops::astype(numpy::array<int64_t>({1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0}, {3, 5}),
                    DType::boolean);
    const auto [partial, full] = aten::mask_blocks(mask, 1, 2);
    EXPECT_EQ(partial.shape(), (Shape{3, 3}));
    EXPECT_EQ(values_of(partial), (Values{1, 0, 0, 0, 0, 0, 0, 1, 0}));
    EXPECT_EQ(values_of(full), (Values{0, 0, 0, 1, 0, 0, 1, 0, 0}));
    const auto [any, none] = aten::mask_blocks(mask, 2, 2, false);
    EXPECT_EQ(values_of(any), (Values{1, 0, 0, 1, 1, 0}));
    EXPECT_FALSE(none);
    const auto [counts, columns] = aten::ordered_blocks(any);
    EXPECT_EQ(values_of(counts), (Values{1, 2}));
    EXPECT_EQ(values_of(columns), (Values{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(values_of(aten::dense_blocks(counts, columns, 3)), values_of(any));
    EXPECT_THROW((void)aten::mask_blocks(mask, 0, 2), ValueError);
}

TEST(aten_masked, what_is_masked_changes_nothing) {
    const Tensor x = numpy::array<double>({1, 2, 3, 4}, {2, 2});
    const Tensor mask = ops::astype(numpy::array<int64_t>({1, 0}), DType::boolean);
    EXPECT_EQ(values_of(aten::identity_filled(x, mask, "sum")), (Values{1, 0, 3, 0}));
    EXPECT_EQ(values_of(aten::identity_filled(x, mask, "prod")), (Values{1, 1, 3, 1}));
    const Tensor bytes = ops::astype(x, DType::int8);
    EXPECT_EQ(values_of(aten::identity_filled(bytes, mask, "amin")), (Values{1, 127, 3, 127}));
    EXPECT_EQ(values_of(aten::identity_filled(bytes, mask, "amax")), (Values{1, -128, 3, -128}));
    EXPECT_TRUE(std::isinf(values_of(aten::identity_filled(x, mask, "norm", -INFINITY))[1]));
    EXPECT_THROW((void)aten::identity_filled(x, mask, "mean"), NotSupported);
    EXPECT_THROW((void)aten::identity_filled(numpy::array<double>({1, 2}), x, "sum"), IndexError);
}

TEST(aten_masked, groups_are_normalised) {
    const Tensor x = numpy::array<double>({1, 5, 1, 5}),
                 groups = numpy::array<int64_t>({0, 1, 0, 2});
    EXPECT_EQ(values_of(aten::group_softmax(x, groups, 3)), (Values{0.5, 1, 0.5, 1}));
    EXPECT_NEAR(values_of(aten::group_softmax(x, groups, 3, true))[0], -std::log(2.0), 1e-15);
}

}  // namespace
