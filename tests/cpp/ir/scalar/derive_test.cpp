// Derivation and simplification: chain rule against differences, refusals, and bits preserved on
// special values.
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace composit::ir::scalar {
namespace {

using enum DType;

double run(const Expr& expr, std::vector<double> x) {
    if (!expr) return 0;  // an empty slope
    std::vector<Bits> bits;
    for (double v : x) bits.push_back(bits_of(float64, v));
    return value_of(expr.dtype(), evaluate({expr}, bits)[0]);
}

const Expr x = Expr::argument(0, float64, "x");
const Expr y = Expr::argument(1, float64, "y");

Expr call(const char* name, std::vector<Expr> operands) {
    return Expr::call(row(name), std::move(operands));
}

TEST(Derive, FollowsTheChainRule) {
    const std::vector<Expr> cases{
        x * y + x / y,
        fma(x, y, x * x) - y,
        square_root(x * x + y * y),
        absolute(x - y) * copysign(y, x),
        select(x < y, x * x, y * x),
        Expr::cast(Expr::cast(x * 2.0, float64), float64) + floor(y) * x,
        call("exp", {call("sigmoid", {x * y})}),
        call("logaddexp", {x, y}) * call("log", {y}),
        Expr::make(Op::remainder, {y * 3.0, x + 2.0}),
    };
    for (const Expr& f : cases) {
        const std::vector<Expr> slopes = derive(f, 2);
        for (const auto& [a, b] :
             std::vector<std::pair<double, double>>{{0.3, 1.7}, {-0.8, 2.3}, {2.6, 1.2}}) {
            const double h = 1e-6;
            EXPECT_NEAR(run(slopes[0], {a, b}), (run(f, {a + h, b}) - run(f, {a - h, b})) / (2 * h),
                        1e-6)
                << print(f);
            EXPECT_NEAR(run(slopes[1], {a, b}), (run(f, {a, b + h}) - run(f, {a, b - h})) / (2 * h),
                        1e-6)
                << print(f);
        }
    }
}

TEST(Derive, TwiceAndMoreOften) {
    Expr f = call("tanh", {x});
    for (int i = 0; i < 3; ++i) f = derive(f, 1)[0];
    const double t = std::tanh(0.4);
    EXPECT_NEAR(run(f, {0.4}), (1 - t * t) * (6 * t * t - 2), 1e-12);
}

TEST(Derive, IsEmptyWhereNothingDepends) {
    const std::vector<Expr> slopes = derive(x * 2.0, 2);
    EXPECT_EQ(slopes[0].value(), 2);
    EXPECT_FALSE(slopes[1]);
    EXPECT_FALSE(derive(x < y, 2)[0]);
    EXPECT_FALSE(derive(call("floor", {x}), 1)[0]);
    EXPECT_FALSE(derive(Expr::cast(Expr::cast(x, int32), float64), 1)[0]);
    const Expr flag = Expr::argument(0, boolean);
    EXPECT_FALSE(
        derive(select(flag, Expr::constant(float64, 1), Expr::constant(float64, 2)), 1)[0]);
}

TEST(Derive, TheBranchNotTakenContributesZero) {
    const Expr f = select(x > 0, call("log", {x}), x);
    EXPECT_EQ(run(derive(f, 1)[0], {2}), 0.5);
    // In the branch not taken, 0 meets the slope 1 / x at x = 0: guard the operand, as one does in
    // PyTorch.
    const Expr guarded = select(x > 0, call("log", {select(x > 0, x, 1.0)}), x);
    EXPECT_EQ(run(derive(guarded, 1)[0], {0}), 1);
}

TEST(Derive, RefusesFloatsMadeOfBits) {
    const Expr bits = Expr::bitcast(x, int64) & Expr::constant_integer(int64, INT64_MAX);
    EXPECT_THROW(derive(Expr::bitcast(bits, float64), 1), TypeError);
    EXPECT_FALSE(derive(Expr::bitcast(x, int64), 1)[0]);
}

TEST(Derive, DeepChainsAreDerivedWithoutRecursion) {
    Expr f = x;
    for (int i = 0; i < 100000; ++i) f = f + 1.0;
    EXPECT_EQ(run(derive(f, 1)[0], {3}), 1);
}

// ----- simplify

TEST(Simplify, FoldsSharesAndDrops) {
    const auto one = [](const Expr& expr) { return simplify({expr})[0]; };
    EXPECT_EQ(one(x * 1.0), x);
    EXPECT_EQ(one(x - 0.0), x);
    EXPECT_EQ(one(-(-x)), x);
    EXPECT_EQ(one(Expr::constant(float64, 2) * 3.0 + 1.0).value(), 7);
    EXPECT_EQ(one(call("exp", {Expr::constant(float64, 0)})).value(), 1);
    EXPECT_EQ(one(select(~(x < y), x, y)).operand(1), y);
    const Expr twice = one(square_root(x + 1.0) * square_root(x + 1.0));
    EXPECT_EQ(twice.operand(0), twice.operand(1));
    const Expr narrow = Expr::argument(0, float32);
    EXPECT_EQ(one(Expr::cast(Expr::cast(narrow, float64), float32)), narrow);
    const Expr n = Expr::argument(0, int32);
    EXPECT_EQ(one((n + 0.0) * 1.0), n);
    EXPECT_EQ(one(n * 0.0).value(), 0);
}

TEST(Simplify, LeavesWhatWouldChangeBits) {
    const auto is_kept = [](const Expr& expr) { return simplify({expr})[0].op() == expr.op(); };
    EXPECT_TRUE(is_kept(x + 0.0));  // -0 + 0 is +0
    EXPECT_TRUE(is_kept(x * 0.0));  // infinities, NaN, -0
    EXPECT_TRUE(is_kept(x - x));
    const Expr n = Expr::argument(0, int64);
    EXPECT_TRUE(is_kept(Expr::cast(Expr::cast(n, float64), int64)));
    EXPECT_TRUE(is_kept(Expr::cast(Expr::cast(x, float32), float64)));
    const Expr zero = Expr::constant_integer(int64, 0);
    EXPECT_TRUE(is_kept(Expr::constant_integer(int64, 1) / zero));
}

// A random expression of float64 over x, y with conversions through other dtypes.
Expr random_expression(std::mt19937& random) {
    std::vector<Expr> pool{x,
                           y,
                           Expr::constant(float64, 0),
                           Expr::constant(float64, -0.0),
                           Expr::constant(float64, 1),
                           Expr::constant(float64, 2.5)};
    const auto pick = [&] { return pool[random() % pool.size()]; };
    for (int i = 0; i < 25; ++i) {
        const Expr a = pick();
        const Expr b = pick();
        switch (random() % 14) {
            case 0: pool.push_back(a + b); break;
            case 1: pool.push_back(a - b); break;
            case 2: pool.push_back(a * b); break;
            case 3: pool.push_back(a / b); break;
            case 4: pool.push_back(-a); break;
            case 5: pool.push_back(absolute(a)); break;
            case 6: pool.push_back(floor(a)); break;
            case 7: pool.push_back(select(~(a < b), a, b)); break;
            case 8: pool.push_back(Expr::cast(Expr::cast(a, float32), float64)); break;
            case 9: pool.push_back(fma(a, b, pick())); break;
            case 10: pool.push_back(call("maximum", {a, b})); break;
            case 11: pool.push_back(Expr::cast(Expr::cast(a < b, int8), float64)); break;
            case 12: pool.push_back(copysign(a, b)); break;
            default:
                pool.push_back(Expr::cast(not_equal(Expr::cast(a, float16), 0), float64));
                break;
        }
    }
    return pool.back();
}

TEST(Simplify, KeepsTheBitsOfRandomExpressions) {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> grid{0.0,       -0.0,         1,         -1,    2.5, -0.5, infinity,
                                   -infinity, std::nan(""), 0x1p-1074, 1e308, 3};
    std::mt19937 random(7);
    for (int trial = 0; trial < 300; ++trial) {
        const Expr expr = random_expression(random);
        const Expr simple = simplify({expr})[0];
        for (double a : grid)
            for (double b : grid) {
                const double before = run(expr, {a, b});
                const double after = run(simple, {a, b});
                const bool same = (std::isnan(before) && std::isnan(after)) ||
                                  (before == after && std::signbit(before) == std::signbit(after));
                ASSERT_TRUE(same) << print(expr) << "\nbecame\n"
                                  << print(simple) << "\nat " << a << ", " << b;
            }
    }
}

}  // namespace
}  // namespace composit::ir::scalar
