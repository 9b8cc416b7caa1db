// Expressions: construction, walking, evaluation, printing, and that nothing recurses over their
// depth.
#include "composit/ir/scalar/expr.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"

#include <gtest/gtest.h>

#include <limits>

namespace composit::ir::scalar {
namespace {

double run(const Expr& expr, double x = 0) {
    return value_of(expr.dtype(), evaluate({expr}, {bits_of(DType::float64, x)})[0]);
}

TEST(Expr, LiteralsTakeTheOtherOperandsDtype) {
    const Expr x = Expr::argument(0, DType::float32, "x");
    EXPECT_EQ((x + 0.1).operand(1).dtype(), DType::float32);
    EXPECT_EQ((1 - x).operand(0).value(), 1.0);
    EXPECT_EQ((x < 2).dtype(), DType::boolean);
    const Expr n = Expr::argument(0, DType::int8);
    EXPECT_EQ((n >> 3).operand(1).value(), 3.0);
    EXPECT_THROW(n + 0.5, InternalError);
}

TEST(Expr, OperandsAreChecked) {
    const Expr x = Expr::argument(0, DType::float32);
    const Expr n = Expr::argument(1, DType::int32);
    EXPECT_THROW(x + n, InternalError);
    EXPECT_THROW(x & x, InternalError);
    EXPECT_THROW(square_root(n), InternalError);
    EXPECT_THROW(select(x, x, x), InternalError);
    EXPECT_THROW(Expr::make(Op::add, {x}), InternalError);
    EXPECT_THROW(Expr::bitcast(x, DType::int64), InternalError);
    const Expr z = Expr::argument(0, DType::complex64);
    EXPECT_THROW(floor(z), NotSupported);
}

TEST(Expr, DeepChainsAreWalkedWithoutRecursion) {
    const Expr x = Expr::argument(0, DType::float64, "x");
    const auto chain_of = [&](int length) {
        Expr chain = x;
        for (int i = 0; i < length; ++i) chain = chain + 1.0;
        return chain;
    };
    EXPECT_EQ(run(chain_of(1000000), 2), 1000002.0);
    const Expr chain = chain_of(100000);
    EXPECT_EQ(topological_order({chain}).size(), 200001u);
    const Expr moved = substitute({chain}, {x * 2.0})[0];
    EXPECT_EQ(run(moved, 2), 100004.0);
    EXPECT_NE(structural_hash({chain}), structural_hash({moved}));
    EXPECT_TRUE(structurally_equal({chain}, {chain_of(100000)}));
    EXPECT_EQ(run(simplify({chain})[0], 2), 100002.0);
    EXPECT_FALSE(print(chain, {"x"}).empty());
}

TEST(Expr, SubstituteSharesWhatDoesNotChange) {
    const Expr x = Expr::argument(0, DType::float64);
    const Expr y = Expr::argument(1, DType::float64);
    const Expr square = x * x;
    const Expr sum = square + y;
    const std::vector<Expr> out = substitute({sum, square}, {x, x * 3.0});
    EXPECT_EQ(out[1], square);
    EXPECT_EQ(out[0].operand(0), square);
}

TEST(Expr, StructuralHashIgnoresNamesAndSharing) {
    const Expr x = Expr::argument(0, DType::float64, "x");
    const Expr a = square_root(x) + square_root(x);
    const Expr root = square_root(Expr::argument(0, DType::float64, "other")).named("root");
    const Expr b = root + root;
    EXPECT_EQ(structural_hash({a}), structural_hash({b}));
    EXPECT_TRUE(structurally_equal({a}, {b}));
    EXPECT_FALSE(structurally_equal({a}, {x + x}));
    EXPECT_FALSE(structurally_equal({x * 2.0}, {x * 3.0}));
}

TEST(Expr, PrintsSharedAndNamedPartsAsLets) {
    const Expr x = Expr::argument(0, DType::float32);
    const Expr root = square_root(x + 0.5).named("root");
    EXPECT_EQ(print(Function{"f", {"x"}, {DType::float32}, {root * root}}),
              "(x: float32) ->\n"
              "    let root: float32 = square_root(add(x, 0.5))\n"
              "    multiply(root, root)");
    EXPECT_EQ(print(Function{"f", {}, {DType::float32}, {Expr::cast(x, DType::int8)}}),
              "(x0: float32) -> int8(x0)");
}

TEST(Expr, IntegersWrap) {
    const auto wrap = [](DType dtype, Op op, int64_t a, int64_t b) {
        const Expr x = Expr::constant_integer(dtype, a);
        const Expr y = Expr::constant_integer(dtype, b);
        return static_cast<int64_t>(
            evaluate({Expr::cast(Expr::make(op, {x, y}), DType::int64)}, {})[0][0]);
    };
    EXPECT_EQ(wrap(DType::int8, Op::add, 127, 1), -128);
    EXPECT_EQ(wrap(DType::int16, Op::multiply, -32768, -1), -32768);
    EXPECT_EQ(wrap(DType::uint16, Op::multiply, 65535, 65535), 1);
    EXPECT_EQ(wrap(DType::int64, Op::subtract, std::numeric_limits<int64_t>::min(), 1),
              std::numeric_limits<int64_t>::max());
    EXPECT_EQ(wrap(DType::int8, Op::shift_left, -1, 7), -128);
    EXPECT_EQ(wrap(DType::int8, Op::shift_right, -128, 7), -1);
}

TEST(Expr, HalfTypesRoundOnce) {
    // 2049 is a tie in float16; 1 + 2^-11 and a little decides a tie only when nothing rounds in
    // between.
    EXPECT_EQ(value_of(DType::float16, bits_of(DType::float16, 2049)), 2048.0);
    EXPECT_EQ(value_of(DType::float16, bits_of(DType::float16, 2051)), 2052.0);
    EXPECT_EQ(bits_of(DType::float16, 65520)[0], 0x7c00u);
    EXPECT_EQ(bits_of(DType::float16, 65519.99)[0], 0x7bffu);
    EXPECT_EQ(bits_of(DType::float16, 0x1p-25)[0], 0u);
    EXPECT_EQ(bits_of(DType::float16, 0x1.001p-25)[0], 1u);
    EXPECT_EQ(bits_of(DType::bfloat16, 1.00390625)[0], 0x3f80u);
    EXPECT_EQ(bits_of(DType::bfloat16, -0.0)[0], 0x8000u);
    // 2^53 + 2^45 + 1 lies just above a tie of bfloat16 that double cannot tell from the tie.
    EXPECT_EQ(bits_of_integer(DType::bfloat16, (int64_t{1} << 61) + (int64_t{1} << 53) + 1)[0],
              0x5e01u);
}

}  // namespace
}  // namespace composit::ir::scalar
