// Loops of the scalar language: meaning, text, equality, derivatives, and what is refused.
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"

#include <gtest/gtest.h>

#include <cmath>

namespace composit::ir::scalar {
namespace {

using Exprs = std::vector<Expr>;

std::vector<Expr> euclid(const Expr& a, const Expr& b, int64_t limit = 93) {
    return loop(
        {a, b}, [](const Exprs& s) { return not_equal(s[1], 0); },
        [](const Exprs& s) { return Exprs{s[1], Expr::make(Op::remainder, {s[0], s[1]})}; }, limit);
}

// x^(2^n) for an int64 n.
Expr squared_times(const Expr& x, const Expr& n) {
    return loop(
        {x, n}, [](const Exprs& s) { return s[1] > 0; },
        [](const Exprs& s) { return Exprs{s[0] * s[0], s[1] - 1}; }, 100)[0];
}

const Expr a = Expr::argument(0, DType::int64, "a");
const Expr b = Expr::argument(1, DType::int64, "b");
const Expr x = Expr::argument(0, DType::float64, "x");
const Expr n = Expr::argument(1, DType::int64, "n");

int64_t integer(Bits bits) { return static_cast<int64_t>(bits[0]); }

TEST(Loop, RepeatsItsStepWhileTheConditionHolds) {
    const auto run = [](const Exprs& results, int64_t x, int64_t y) {
        return evaluate(results,
                        {bits_of_integer(DType::int64, x), bits_of_integer(DType::int64, y)});
    };
    EXPECT_EQ(integer(run({euclid(a, b)[0]}, 84, 36)[0]), 12);
    EXPECT_EQ(integer(run({euclid(a, b)[0]}, 7, 0)[0]), 7);
    const std::vector<Bits> both = run(euclid(a, b, 1), 84, 36);
    EXPECT_EQ(integer(both[0]), 36);
    EXPECT_EQ(integer(both[1]), 12);
    EXPECT_EQ(integer(run({euclid(a, b, 0)[0]}, 84, 36)[0]), 84);
}

TEST(Loop, HasAText) {
    EXPECT_EQ(print(euclid(a, b)[0], {"a", "b"}),
              "loop(a = a, b = b; while not_equal(b, 0); (b, remainder(a, b)); at most 93)[0]");
}

TEST(Loop, IsComparedByStructure) {
    const Expr first = euclid(a, b)[0];
    EXPECT_TRUE(structurally_equal({first}, {euclid(a, b)[0]}));
    EXPECT_EQ(structural_hash({first}), structural_hash({euclid(a, b)[0]}));
    EXPECT_FALSE(structurally_equal({first}, {euclid(a, b)[1]}));
    EXPECT_FALSE(structurally_equal({first}, {euclid(a, b, 92)[0]}));
    EXPECT_FALSE(structurally_equal({first}, {euclid(b, a)[0]}));
    EXPECT_NE(structural_hash({first}), structural_hash({euclid(a, b, 92)[0]}));
}

TEST(Loop, TakesNewOperandsAndIsFoundInside) {
    const Expr twice = substitute({euclid(a, b)[0]}, {a * 2, b * 2})[0];
    const std::vector<Bits> arguments{bits_of_integer(DType::int64, 84),
                                      bits_of_integer(DType::int64, 36)};
    EXPECT_EQ(integer(evaluate({twice}, arguments)[0]), 24);
    EXPECT_EQ(integer(evaluate(simplify({twice}), arguments)[0]), 24);
    bool has_remainder = false;
    for (const Expr& expr : all_expressions({twice})) has_remainder |= expr.op() == Op::remainder;
    EXPECT_TRUE(has_remainder);
}

TEST(Loop, IsDerivedForward) {
    const Expr power = squared_times(x, n);
    const Expr slope = derive(power, 2)[0];
    const Expr second = derive(slope, 2)[0];
    EXPECT_FALSE(derive(power, 2)[1]);
    const std::vector<Bits> arguments{bits_of(DType::float64, 1.5),
                                      bits_of_integer(DType::int64, 3)};
    const auto value = [&](const Expr& expr) {
        return value_of(DType::float64, evaluate({expr}, arguments)[0]);
    };
    EXPECT_DOUBLE_EQ(value(power), std::pow(1.5, 8));
    EXPECT_DOUBLE_EQ(value(slope), 8 * std::pow(1.5, 7));
    EXPECT_DOUBLE_EQ(value(second), 56 * std::pow(1.5, 6));
}

TEST(Loop, RefusesWhatItCannotBe) {
    const auto still = [](const Exprs& s) { return s; };
    const auto message = [](auto make) -> std::string {
        try {
            make();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message([&] { (void)loop({a}, [](const Exprs& s) { return s[0]; }, still, 1); }),
              "loop: the condition has dtype int64. bool is required.");
    EXPECT_EQ(message([&] { (void)loop({a}, [](const Exprs& s) { return s[0] > b; }, still, 1); }),
              "loop: b is read inside the loop, but not part of its state. What a loop reads is "
              "required to be: give it a value of the state that does not change.");
    EXPECT_EQ(
        message([&] { (void)loop({a}, [](const Exprs& s) { return s[0] > 0.0; }, still, -2); }),
        "loop: limit is -2. 0 or more is required.");
}

}  // namespace
}  // namespace composit::ir::scalar
