// What derivatives leave out of procedures: sums in several statements, assertions that hold.
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/ir/procedure/procedure.h"

#include <gtest/gtest.h>

namespace composit::ir::procedure {
namespace {

using enum DType;
using Kind = Statement::Kind;

Expr integer(int64_t value) { return Expr::constant_integer(int64, value); }

Statement expect(const Expr& holds) {
    Statement made;
    made.kind = Kind::expect;
    made.values = {holds};
    return made;
}

// Of numbers a, b, c (0 to 2), integers n, m, k (3 to 5) and an output y of n elements.
Procedure of(Block body, size_t results = 0) {
    Procedure made;
    made.name = "f";
    made.parameters = 6;
    for (const char* name : {"a", "b", "c"}) made.variables.push_back({name, float64});
    for (const char* name : {"n", "m", "k"}) made.variables.push_back({name, int64});
    for (const char* name : {"i", "j"}) made.variables.push_back({name, int64});
    for (const char* name : {"s", "t"}) made.variables.push_back({name, float64});
    if (results > 0) made.results.push_back({"value", float64});
    made.arrays.push_back({.name = "y",
                           .dtype = float64,
                           .shape = {Expr::argument(3, int64)},
                           .role = ArrayVariable::Role::output});
    made.body = std::move(body);
    return made;
}

Expr var(int number) {
    static const char* names[] = {"a", "b", "c", "n", "m", "k", "i", "j", "s", "t"};
    const bool is_integer = number >= 3 && number <= 7;
    return Expr::argument(number, is_integer ? int64 : float64, names[number]);
}

Statement loop(int counter, const Expr& end, Block body) {
    return Statement::loop({Statement::assign(counter, integer(0))}, var(counter) < end,
                           std::move(body),
                           {Statement::assign(counter, var(counter) + integer(1))});
}

// The same range, from its end.
Statement loop_back(int counter, const Expr& end, Block body) {
    return Statement::loop({Statement::assign(counter, end - integer(1))},
                           var(counter) >= integer(0), std::move(body),
                           {Statement::assign(counter, var(counter) - integer(1))});
}

size_t assertions_in(const Procedure& procedure) {
    size_t count = 0;
    for (const Statement* each : all_statements(procedure.body))
        count += each->kind == Kind::expect;
    return count;
}

TEST(Sums, OfAVariableStandInOneStatement) {
    const Expr s = var(8);
    const Procedure made = with_sums_gathered(
        of({Statement::assign(8, var(0) * var(1)), Statement::assign(9, var(2) * var(2)),
            Statement::assign(8, s + -(var(9) * var(1))), Statement::assign(8, s + var(2)),
            Statement::leave({s + var(9)})},
           1),
        {});
    EXPECT_EQ(c_family::print_procedure(made),
              "double f(double a, double b, double c, int64_t, int64_t, int64_t, double* "
              "__restrict) {\n"
              "    const double t = c * c, s = rounded(a * b) - t * b + c;\n"
              "    return s + t;\n}\n");
}

TEST(Sums, StayWhereWhatTheyReadChanges) {
    const Block body = {Statement::assign(9, var(0)), Statement::assign(8, var(9) * var(1)),
                        Statement::assign(9, var(2)), Statement::assign(8, var(8) + var(9)),
                        Statement::leave({var(8)})};
    EXPECT_EQ(with_sums_gathered(of(body, 1), {}).body.size(), body.size());
    // Those of the function's own variables stay, too.
    const Block own = {Statement::assign(8, var(0)), Statement::assign(8, var(8) + var(1)),
                       Statement::leave({var(8)})};
    EXPECT_EQ(with_sums_gathered(of(own, 1), {"s"}).body.size(), own.size());
    EXPECT_EQ(with_sums_gathered(of(own, 1), {}).body.size(), own.size() - 1);
}

TEST(Sums, OfAnElementAreAddedAtOnce) {
    const auto add = [](const Expr& index, const Expr& value) {
        return Statement::write(Kind::add, 0, {index}, value);
    };
    const Procedure made =
        with_sums_gathered(of({loop(6, var(3),
                                    {add(var(6), var(0) * var(1)), add(integer(0), var(2)),
                                     add(var(6), var(1) * var(0))})}),
                           {});
    ASSERT_EQ(made.body[0].body.size(), 2u);
    EXPECT_EQ(made.body[0].body[1].values[0].op(), scalar::Op::multiply);  // 2 * (a * b)
    // Those of an array of the function keep their order.
    const Procedure own = of({loop(6, var(3), {add(var(6), var(0)), add(var(6), var(1))})});
    EXPECT_EQ(with_sums_gathered(own, {}).body[0].body.size(), 1u);
    EXPECT_EQ(with_sums_gathered(own, {own.arrays[0].name}).body[0].body.size(), 2u);
    const Statement read = Statement::load(8, 0, {integer(1)});
    const Block between = {add(var(6), var(0)), read, add(var(6), var(8))};
    EXPECT_EQ(with_sums_gathered(of({loop(6, var(3), between)}), {}).body[0].body.size(), 3u);
}

TEST(Assertions, HoldForAllLoopsOfARangeInAnyOrder) {
    const Block inner = {expect(var(6) + var(7) < var(5))};
    const Statement first = loop(6, var(3), {loop(7, var(4), inner)});
    const Statement again = loop_back(6, var(3), {loop_back(7, var(4), inner)});
    EXPECT_EQ(assertions_in(without_known_assertions(of({first, again}))), 1u);
    const Statement other = loop_back(6, var(3), {loop_back(7, var(5), inner)});
    EXPECT_EQ(assertions_in(without_known_assertions(of({first, other}))), 2u);
    // i + j of one loop is not i + j of the other if their counters' ranges are exchanged.
    const Statement exchanged = loop(6, var(4), {loop(7, var(3), inner)});
    EXPECT_EQ(assertions_in(without_known_assertions(of({first, exchanged}))), 2u);
}

TEST(Assertions, OfLoopsThatMayNotRunAreNotKnownBehindThem) {
    const Block inner = {expect(var(7) < var(5))};
    const Statement first = loop(6, var(3), {loop(7, var(4), inner)});
    const Statement alone = loop(7, var(4), inner);
    EXPECT_EQ(assertions_in(without_known_assertions(of({first, alone}))), 2u);
    EXPECT_EQ(assertions_in(without_known_assertions(of({alone, first}))), 1u);
    const Statement fixed = expect(var(4) < var(5));
    EXPECT_EQ(assertions_in(without_known_assertions(of({loop(6, var(3), {fixed}), fixed}))), 2u);
}

TEST(Assertions, AreForgottenWithWhatTheyReadAndBehindBranchesAndJumps) {
    const Statement small = expect(var(6) < var(5));
    const Statement changed = Statement::assign(6, var(6) + integer(1));
    EXPECT_EQ(assertions_in(without_known_assertions(
                  of({Statement::assign(6, var(3)), small, small, changed, small}))),
              2u);
    const Statement branch = Statement::branch(var(0) < var(1), {small}, {});
    EXPECT_EQ(
        assertions_in(without_known_assertions(of({Statement::assign(6, var(3)), branch, small}))),
        2u);
    Statement stop;
    stop.kind = Kind::stop;
    const Block leaves = {Statement::branch(var(0) < var(1), {stop}, {}), expect(var(7) < var(5))};
    const Block plain = {expect(var(7) < var(5))};
    EXPECT_EQ(assertions_in(
                  without_known_assertions(of({loop(7, var(4), leaves), loop(7, var(4), plain)}))),
              2u);
}

TEST(Assertions, ThatHoldWhateverTheIntegersAreAreNone) {
    const Expr zero = integer(0);
    const auto equal = [](const Expr& a, const Expr& b) {
        return expect(Expr::make(scalar::Op::equal, {a, b}));
    };
    const Block block = {equal(var(3), var(3)), expect((zero >= var(3)) | (var(3) > zero)),
                         equal(var(3), var(4)), expect((zero >= var(3)) | (var(4) > zero))};
    EXPECT_EQ(assertions_in(without_known_assertions(of(block))), 2u);
}

TEST(Assertions, OfNestedLoopsOfOneRangeAreTwo) {
    const Statement inner = loop(7, var(3), {expect(var(7) < var(5))});
    const Statement outer = loop(6, var(3), {inner, expect(var(6) < var(5))});
    EXPECT_EQ(assertions_in(without_known_assertions(of({outer}))), 2u);
}

}  // namespace
}  // namespace composit::ir::procedure
