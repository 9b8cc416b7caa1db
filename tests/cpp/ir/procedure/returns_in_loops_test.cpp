// Calls that become part of a procedure: what they return is assigned, out of loops, too.
#include "composit/ir/procedure/returns_in_loops.h"

#include "composit/ir/scalar/function.h"

#include <gtest/gtest.h>

namespace composit::ir::procedure {
namespace {

using enum DType;
using scalar::Bits;

// The first i below n with i * i >= x, or -1: for (i = 0; i < n; ++i) if (i * i >= x) return i;
Procedure first_root() {
    const Expr x = Expr::argument(0, int64, "x"), n = Expr::argument(1, int64, "n"),
               i = Expr::argument(2, int64, "i");
    const Expr one = Expr::constant_integer(int64, 1);
    Procedure made{"first_root",   "", 1, "", {{"x", int64}, {"n", int64}, {"i", int64}}, 2,
                   {{"y", int64}}, {}};
    const Statement found = Statement::branch(i * i >= x, {Statement::leave({i})}, {});
    made.body = {Statement::loop({Statement::assign(2, Expr::constant_integer(int64, 0))}, i < n,
                                 {found}, {Statement::assign(2, i + one)}),
                 Statement::leave({Expr::constant_integer(int64, -1)})};
    return made;
}

int64_t run(const Procedure& procedure, int64_t x, int64_t n) {
    const auto found = scalar::evaluate(
        flatten(procedure), {Bits{static_cast<uint64_t>(x)}, Bits{static_cast<uint64_t>(n)}});
    return static_cast<int64_t>(found[0][0]);
}

TEST(ReturnsInLoops, AreAssigned) {
    const Procedure wanted = first_root();
    Procedure made = first_root();
    const int result = made.add_variable("result", int64);
    made.body = assigning_results(made.body, made, {result});
    for (const Statement* statement : all_statements(made.body))
        EXPECT_NE(statement->kind, Statement::Kind::leave);
    EXPECT_EQ(made.variables.back().name, "has_returned");
    // Twice that, behind the call.
    const Expr value = made.variable(static_cast<size_t>(result));
    made.body.push_back(Statement::leave({value + value}));
    check(made);
    for (const int64_t x : {0, 1, 7, 9, 50}) EXPECT_EQ(run(made, x, 6), 2 * run(wanted, x, 6)) << x;
    EXPECT_EQ(run(made, 50, 6), -2);
}

TEST(ReturnsInLoops, NoLoopNeedsNoFlag) {
    const Expr x = Expr::argument(0, float64, "x");
    Procedure made{"absolute",       "", 1, "", {{"x", float64}, {"y", float64}}, 1,
                   {{"y", float64}}, {}};
    made.body = assigning_results(
        {Statement::branch(x < 0.0, {Statement::leave({-x})}, {}), Statement::leave({x})}, made,
        {1});
    EXPECT_EQ(made.variables.size(), 2U);
    ASSERT_EQ(made.body.size(), 1U);  // what followed the return stands in the other side
    EXPECT_EQ(made.body[0].otherwise.size(), 1U);
}

}  // namespace
}  // namespace composit::ir::procedure
