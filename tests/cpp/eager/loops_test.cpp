// Numbers that the processor computes by itself have the bits of the table's expressions.
#include "composit/eager/loops.h"

#include "composit/ir/node.h"
#include "composit/ir/scalar/row.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace composit::eager {
namespace {

using ir::DType;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double special[] = {
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -3.0,
    1e-310,
    -5e-324,
    1e308,
    -1.7e308,
    infinity,
    -infinity,
    std::numeric_limits<double>::quiet_NaN(),
    4503599627370497.5,
};
constexpr int64_t special_integers[] = {
    0, 1, -1, 2, -7, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
};

class Numbers {
  public:
    uint64_t next(DType dtype) {
        if (dtype == DType::int64) {
            if (draw_() % 4 == 0)
                return static_cast<uint64_t>(
                    special_integers[draw_() % std::size(special_integers)]);
            return static_cast<uint64_t>(static_cast<int64_t>(draw_()) >> (draw_() % 64));
        }
        if (draw_() % 4 == 0) return std::bit_cast<uint64_t>(special[draw_() % std::size(special)]);
        if (draw_() % 4 == 0) return draw_();  // any bits
        return std::bit_cast<uint64_t>(
            std::ldexp(static_cast<double>(static_cast<int64_t>(draw_())),
                       static_cast<int>(draw_() % 40) - 84));
    }

  private:
    std::mt19937_64 draw_{5};
};

bool is_nan(DType dtype, uint64_t bits) {
    return dtype == DType::float64 && std::isnan(std::bit_cast<double>(bits));
}

TEST(Loops, QuickOnesHaveTheBitsOfTheTable) {
    Numbers numbers;
    for (const char* name : {"add", "subtract", "multiply", "divide", "floor_divide", "remainder",
                             "less", "less_equal", "greater", "greater_equal", "equal", "not_equal",
                             "negative", "absolute", "square", "sqrt", "maximum", "minimum"})
        for (const DType dtype : {DType::float64, DType::int64}) {
            const ir::scalar::RowRef row = ir::scalar::find_row(name);
            const size_t count = static_cast<size_t>(row->arity);
            const auto& function = ir::scalar::specialise(row, std::vector<DType>(count, dtype));
            if (function.signature.operands[0] != dtype) continue;
            int quick = 0;
            for (int i = 0; i < 20000; ++i) {
                std::vector<Scalar> operands;
                std::vector<ir::scalar::Bits> bits;
                for (size_t k = 0; k < count; ++k) {
                    operands.push_back({dtype, false, numbers.next(dtype)});
                    bits.push_back({operands.back().bits, 0});
                }
                const auto found = computed_quickly(row, operands, 0);
                if (!found) continue;
                ++quick;
                const auto expected = computed(function, bits, 0);
                ASSERT_TRUE(expected);
                EXPECT_EQ(found->dtype, function.signature.result);
                EXPECT_TRUE(found->bits == (*expected)[0] || (is_nan(found->dtype, found->bits) &&
                                                              is_nan(found->dtype, (*expected)[0])))
                    << name << " of " << operands[0].bits << ", "
                    << (count > 1 ? operands[1].bits : 0);
            }
            if (dtype == DType::float64) EXPECT_GT(quick, 4000) << name;
        }
}

}  // namespace
}  // namespace composit::eager
