// Closeness of tensors, and windows of signals, in C++.
#include "composit/aten/comparing.h"

#include "composit/aten/windows.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "number.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace {

using namespace composit;
using aten::number;
using aten::Values;
using aten::values_of;
using ir::DType;
using ir::Shape;
using ir::Tensor;

TEST(aten_comparing, what_is_not_close_is_counted) {
    const Tensor a = numpy::array<double>({1, 2, 3, 4}, {2, 2});
    const Tensor b = numpy::array<double>({1, 2.5, 3, 2}, {2, 2});
    EXPECT_FALSE(aten::mismatch(a, a, 0, 0));
    EXPECT_FALSE(aten::mismatch(a, b, 1, 0));
    const auto found = aten::mismatch(a, b, 1e-7, 1e-7);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->count, 2);
    EXPECT_EQ(found->size, 4);
    EXPECT_EQ(found->first, (Shape{0, 1}));
    EXPECT_EQ(number(found->absolute), 2);
    EXPECT_EQ(found->absolute_at, (Shape{1, 1}));
    EXPECT_EQ(number(found->relative), 1);
    EXPECT_EQ(found->relative_at, (Shape{1, 1}));
}

TEST(aten_comparing, what_is_not_close_is_an_assertion_error) {
    const Tensor a = numpy::array<float>({1, 2}, {2}), b = numpy::array<float>({1, 2.5F}, {2});
    aten::assert_close(a, a);
    aten::assert_close(a, b, {.rtol = 0, .atol = 1});
    aten::assert_close(a, numpy::array<double>({1, 2}, {2}), {.check_dtype = false});
    EXPECT_THROW(aten::assert_close(a, b), AssertionError);
    EXPECT_THROW(aten::assert_close(a, numpy::array<float>({1}, {1})), AssertionError);
    EXPECT_THROW(aten::assert_close(a, numpy::array<double>({1, 2}, {2})), AssertionError);
    EXPECT_THROW(aten::assert_close(a, a, {.rtol = 1}), ValueError);
    try {
        aten::assert_close(a, b);
    } catch (const AssertionError& error) {
        EXPECT_NE(std::string(error.what()).find("Mismatched elements: 1 / 2 (50.0%)"),
                  std::string::npos);
    }
}

TEST(aten_comparing, integers_are_compared_as_they_are) {
    const int64_t large = int64_t{1} << 60;
    const Tensor a = numpy::array<int64_t>({large, 5}), b = numpy::array<int64_t>({large + 1, 5});
    const auto found = aten::mismatch(a, b, 0, 0);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->count, 1);
    EXPECT_EQ(found->absolute.dtype(), DType::int64);
    EXPECT_EQ(number(found->absolute), 1);
    EXPECT_EQ(found->relative.dtype(), DType::float32);
}

TEST(aten_comparing, mismatches_are_told_as_pytorch_tells_them) {
    const Tensor a = numpy::array<double>({1, 2, 3, 4}, {2, 2});
    const Tensor b = numpy::array<double>({1, 2.5, 3, 2}, {2, 2});
    EXPECT_EQ(aten::text_of(*aten::mismatch(a, b, 1e-7, 0), 1e-7, 0),
              "Tensor-likes are not close!\n\nMismatched elements: 2 / 4 (50.0%)\n"
              "Greatest absolute difference: 2.0 at index (1, 1) (up to 0 allowed)\n"
              "Greatest relative difference: 1.0 at index (1, 1) (up to 1e-07 allowed)");
    const Tensor c = numpy::array<int64_t>({1, 4}), d = numpy::array<int64_t>({1, 2});
    EXPECT_EQ(aten::text_of(*aten::mismatch(c, d, 0, 0), 0, 0, "Places"),
              "Places are not equal!\n\nMismatched elements: 1 / 2 (50.0%)\n"
              "Greatest absolute difference: 2 at index (1,)\n"
              "Greatest relative difference: 1.0 at index (1,)");
    EXPECT_EQ(aten::text_of(aten::Number(1e-4)), "0.0001");
    EXPECT_EQ(aten::text_of(aten::Number(1e-5)), "1e-05");
    EXPECT_EQ(aten::text_of(aten::Number(123456789.0)), "123456789.0");
    EXPECT_EQ(aten::text_of(aten::Number(-1e16)), "-1e+16");
    EXPECT_EQ(aten::close_tolerances({DType::float64, DType::bfloat16}).rtol, 1.6e-2);
    EXPECT_EQ(aten::close_tolerances({DType::int32}).atol, 0);
}

TEST(aten_comparing, infinities_and_nan) {
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor a = numpy::array<double>({inf, nan, 1}), b = numpy::array<double>({inf, nan, inf});
    EXPECT_EQ(values_of(aten::isclose(a, b)), (Values{1, 0, 0}));
    EXPECT_EQ(values_of(aten::isclose(a, b, 0, 0, true)), (Values{1, 1, 0}));
    EXPECT_THROW((void)aten::isclose(a, b, -1), RuntimeError);
}

TEST(aten_windows, windows_are_symmetric_or_periodic) {
    EXPECT_EQ(values_of(aten::bartlett_window(5)), (Values{0, 0.5, 1, 0.5, 0}));
    EXPECT_EQ(values_of(aten::bartlett_window(4, false)), (Values{0, 0.5, 1, 0.5}));
    EXPECT_EQ(values_of(aten::hann_window(3, true, DType::float64)), (Values{0, 1, 0}));
    EXPECT_EQ(values_of(aten::general_cosine_window(2, {3}, true)), (Values{3, 3}));
    EXPECT_EQ(values_of(aten::exponential_window(2, 0.0, 1, false))[0], 1);
    EXPECT_EQ(values_of(aten::kaiser_window(3, 0)), (Values{1, 1, 1}));
    EXPECT_EQ(values_of(aten::nuttall_window(1)), (Values{1}));
    EXPECT_EQ(aten::gaussian_window(0).shape(), (Shape{0}));
    const Values blackman = values_of(aten::blackman_window(9)),
                 cosine = values_of(aten::cosine_window(8));
    for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(blackman[i], blackman[8 - i]);
        EXPECT_NEAR(cosine[i], cosine[7 - i], 1e-7);
    }
    EXPECT_EQ(aten::general_hamming_window(4).dtype(), DType::float32);
    EXPECT_THROW((void)aten::hann_window(-1), ValueError);
    EXPECT_THROW((void)aten::exponential_window(3, 1.0), ValueError);
    EXPECT_THROW((void)aten::gaussian_window(3, 0), ValueError);
}

}  // namespace
