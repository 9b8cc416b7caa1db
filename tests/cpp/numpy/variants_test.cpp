// Functions that are others with some arguments fixed.
#include "composit/numpy/variants.h"

#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "values.h"

#include <gtest/gtest.h>

namespace composit::numpy {
namespace {

using Integers = std::vector<int64_t>;

TEST(Variants, AreTheFunctionsThatTheyStandFor) {
    const Tensor x = array(std::vector<double>{1.26, -2.5, 3, 4, 5, 6}, {2, 3});
    const auto same = [](const Tensor& a, const Tensor& b) {
        EXPECT_EQ(a.shape(), b.shape());
        EXPECT_EQ(values<double>(a), values<double>(b));
    };
    same(around(x, 1), round(x, 1));
    same(concat({x, x}, 1), concatenate({x, x}, 1));
    same(fliplr(x), flip(x, 1));
    same(flipud(x), flip(x, 0));
    EXPECT_THROW((void)fliplr(array(std::vector<double>{1}, {1})), ValueError);
}

TEST(Variants, PartsOfUnique) {
    const Tensor x = array(Integers{3, 1, 3, 2}, {4});
    EXPECT_EQ(values<int64_t>(unique_values(x)), (Integers{1, 2, 3}));
    EXPECT_EQ(values<int64_t>(unique_counts(x).counts), (Integers{1, 1, 2}));
    EXPECT_EQ(values<int64_t>(unique_inverse(x).inverse), (Integers{2, 0, 2, 1}));
    EXPECT_EQ(values<int64_t>(unique_all(x).indices), (Integers{1, 3, 0}));
}

TEST(Variants, HistogramOfTwo) {
    const Tensor x = array(std::vector<double>{0, 1, 1}, {3});
    const Tensor y = array(std::vector<double>{0, 0, 4}, {3});
    const Histogram found = histogram2d(x, y, {2, 2});
    EXPECT_EQ(values<double>(found.counts), (std::vector<double>{1, 0, 1, 1}));
    EXPECT_EQ(values<double>(found.edges[1]), (std::vector<double>{0, 2, 4}));
    EXPECT_THROW((void)histogram2d(x, array(std::vector<double>{1}, {1})), ValueError);
}

TEST(Variants, QuestionsAboutDtypes) {
    EXPECT_EQ(promote_types(DType::int64, DType::float32), DType::float64);
    EXPECT_TRUE(can_cast(DType::int8, DType::int16));
    EXPECT_FALSE(can_cast(DType::int16, DType::int8));
    EXPECT_TRUE(can_cast(DType::int16, DType::int8, "same_kind"));
    EXPECT_FALSE(can_cast(DType::int8, DType::int16, "no"));
    EXPECT_TRUE(can_cast(DType::float64, DType::boolean, "unsafe"));
    EXPECT_THROW((void)can_cast(DType::int8, DType::int8, "maybe"), ValueError);
    EXPECT_TRUE(isdtype(DType::uint8, "unsigned integer"));
    EXPECT_TRUE(isdtype(DType::complex64, "numeric"));
    EXPECT_FALSE(isdtype(DType::boolean, "numeric"));
    EXPECT_THROW((void)isdtype(DType::int8, "odd"), ValueError);
}

}  // namespace
}  // namespace composit::numpy
