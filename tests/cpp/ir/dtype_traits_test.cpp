// The table of dtypes: what follows from a float's bits.
#include "composit/ir/dtype_traits.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/short_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace composit::ir {
namespace {

std::vector<DType> short_floats() {
    std::vector<DType> found;
    for (const DTypeTraits& row : all_traits())
        if (is_short_float(row.dtype)) found.push_back(row.dtype);
    return found;
}

TEST(DTypeTraits, NumbersOfFloatsFollowFromTheirBits) {
    EXPECT_EQ(float_format(DType::float16).greatest(), 65504);
    EXPECT_EQ(float_format(DType::bfloat16).greatest(), 0x1.FEp127);
    EXPECT_EQ(float_format(DType::float32).greatest(), std::numeric_limits<float>::max());
    EXPECT_EQ(float_format(DType::float64).greatest(), std::numeric_limits<double>::max());
    EXPECT_EQ(float_format(DType::complex128).epsilon(), std::numeric_limits<double>::epsilon());
    EXPECT_EQ(float_format(DType::float64).least_normal(), std::numeric_limits<double>::min());
    EXPECT_EQ(float_format(DType::float8_e4m3fn).greatest(), 448);
    EXPECT_EQ(float_format(DType::float8_e4m3fn).least_normal(), 0x1p-6);
    EXPECT_EQ(float_format(DType::float8_e5m2).greatest(), 57344);
    EXPECT_THROW((void)float_format(DType::int8), TypeError);
}

TEST(DTypeTraits, TheTableIsWhole) {
    for (const DTypeTraits& row : all_traits()) {
        EXPECT_EQ(find_dtype(row.name), row.dtype);
        EXPECT_FALSE(row.scalar_type.empty() || row.cpp_type.empty() || row.mlir.empty());
        EXPECT_GT(row.onnx, 0) << row.name;
        const int parts = row.kind == DTypeKind::complex ? 2 : 1;
        EXPECT_EQ(row.align * parts, row.size) << row.name;
        if (is_floating(row.dtype)) EXPECT_EQ(row.format.bits(), 8 * row.size) << row.name;
    }
}

TEST(DTypeTraits, ShortFloatsThereAndBack) {
    for (const DType dtype : short_floats())
        for (uint32_t bits = 0; bits < 2 * float_format(dtype).sign_bit(); ++bits) {
            const double value = scalar::double_from_short(dtype, bits);
            const uint16_t back = scalar::short_from_double(dtype, value);
            if (std::isnan(value))
                EXPECT_TRUE(std::isnan(scalar::double_from_short(dtype, back)));
            else
                EXPECT_EQ(back, bits) << dtype;
        }
}

TEST(DTypeTraits, BeyondTheGreatest) {
    using scalar::short_from_double;
    EXPECT_EQ(short_from_double(DType::float8_e4m3fn, 464), 0x7e);  // a tie: 448
    EXPECT_EQ(short_from_double(DType::float8_e4m3fn, 464.1), 0x7f);
    EXPECT_EQ(short_from_double(DType::float8_e4m3fn, -INFINITY), 0xff);
    EXPECT_EQ(short_from_double(DType::float8_e5m2, 61439), 0x7b);
    EXPECT_EQ(short_from_double(DType::float8_e5m2, 61440), 0x7c);
    EXPECT_EQ(short_from_double(DType::float8_e5m2, 0x1p-17), 0);  // a tie
    EXPECT_EQ(short_from_double(DType::float8_e5m2, -0x1.1p-17), 0x81);
}

TEST(DTypeTraits, WhatHoldsWhat) {
    EXPECT_TRUE(holds_all(DType::float16, DType::float8_e5m2));
    EXPECT_TRUE(holds_all(DType::bfloat16, DType::float8_e4m3fn));
    EXPECT_FALSE(holds_all(DType::float8_e5m2, DType::float8_e4m3fn));
    EXPECT_FALSE(holds_all(DType::float16, DType::bfloat16));
    EXPECT_TRUE(holds_all(DType::float16, DType::uint8));
    EXPECT_FALSE(holds_all(DType::float16, DType::uint16));
    EXPECT_FALSE(holds_all(DType::float64, DType::int64));
    EXPECT_TRUE(holds_all(DType::complex64, DType::float32));
    EXPECT_FALSE(holds_all(DType::float32, DType::complex64));
}

}  // namespace
}  // namespace composit::ir
