// Reverse accumulation of loops that change elements after they were read: logs, taken from the
// end.
#include "composit/base/error.h"
#include "composit/ir/procedure/interpret.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <gtest/gtest.h>

namespace composit::ir::procedure {
namespace {

using enum DType;
using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

// Variables n, i, j, v, w; the input x and the output y of n elements.
constexpr int n = 0, i = 1, j = 2, v = 3, w = 4, x = 0, y = 1;
Expr var(int number) {
    static const char* names[] = {"n", "i", "j", "v", "w"};
    return Expr::argument(number, number < v ? int64 : float64, names[number]);
}

Statement loop(int counter, const Expr& end, Block body) {
    return Statement::loop({Statement::assign(counter, integer(0))}, var(counter) < end,
                           std::move(body),
                           {Statement::assign(counter, var(counter) + integer(1))});
}

Procedure of(Block body, bool has_log = false) {
    Procedure made;
    made.name = "f";
    made.variables = {{"n", int64}, {"i", int64}, {"j", int64}, {"v"}, {"w"}};
    made.parameters = 1;
    made.body = std::move(body);
    made.arrays = {{"x", float64, {var(n)}, Role::input}, {"y", float64, {var(n)}, Role::output}};
    if (has_log) made.arrays.push_back({"log", float64, {integer(0)}, Role::local, true});
    made.head = {-1, n};
    made.body.push_back(Statement::leave({}));
    check(made);
    return made;
}

// y = 1; for i: for j: y[j] = y[j] * x[i] + x[j]
Procedure products() {
    return of(
        {Statement::allocate(y, false),
         loop(i, var(n), {Statement::write(Kind::store, y, {var(i)}, Expr::constant(float64, 1))}),
         loop(i, var(n),
              {loop(j, var(n),
                    {Statement::load(v, y, {var(j)}), Statement::load(w, x, {var(i)}),
                     Statement::assign(v, var(v) * var(w)), Statement::load(w, x, {var(j)}),
                     Statement::write(Kind::store, y, {var(j)}, var(v) + var(w))})})});
}

TEST(LoggedLoops, TakeWhatWasOverwritten) {
    const Procedure back = reverse(products());
    std::vector<double> given = {0.5, -1.5, 2}, received = {1, 2, -1}, found(3);
    void* arrays[] = {given.data(), received.data(), found.data()};
    interpret(back, {scalar::bits_of_integer(int64, 3)}, arrays);
    const auto value = [&](std::vector<double> at) {
        std::vector<double> made(3, 1);
        for (size_t a = 0; a < 3; ++a)
            for (size_t b = 0; b < 3; ++b) made[b] = made[b] * at[a] + at[b];
        return made[0] * received[0] + made[1] * received[1] + made[2] * received[2];
    };
    for (size_t k = 0; k < 3; ++k) {
        std::vector<double> up = given, down = given;
        up[k] += 1e-5;
        down[k] -= 1e-5;
        EXPECT_NEAR(found[k], (value(up) - value(down)) / 2e-5, 1e-8) << k;
    }
}

TEST(LoggedLoops, RunNothingAgain) {
    size_t loops = 0, appended = 0, taken = 0;
    const Procedure back = reverse(products());
    for (const Statement* each : all_statements(back.body)) {
        loops += each->kind == Kind::loop;
        appended += each->kind == Kind::append;
        taken += each->kind == Kind::take;
    }
    EXPECT_EQ(appended, 1u);
    EXPECT_EQ(taken, 1u);
    EXPECT_LE(loops, 7u);  // two nests, and those of the ones and of dy's copy
}

// for i: u = x, if that is the first iteration or `always`; for j: u[j] = u[j]^2; y[i] = u[0]
Procedure squares(bool always) {
    constexpr int u = 2;
    const Block fill = {Statement::allocate(u, false),
                        loop(j, var(n),
                             {Statement::load(v, x, {var(j)}),
                              Statement::write(Kind::store, u, {var(j)}, var(v))})};
    Block body = {loop(j, var(n),
                       {Statement::load(v, u, {var(j)}),
                        Statement::write(Kind::store, u, {var(j)}, var(v) * var(v))}),
                  Statement::load(w, u, {integer(0)}),
                  Statement::write(Kind::store, y, {var(i)}, Expr(var(w)))};
    if (always)
        body.insert(body.begin(), fill.begin(), fill.end());
    else
        body.insert(body.begin(), Statement::branch(var(i) < integer(1), fill, {}));
    Procedure made = of({Statement::allocate(y, false)});
    made.arrays.push_back({"u", float64, {var(n)}, Role::local});
    made.body.insert(made.body.begin() + 1, loop(i, var(n), std::move(body)));
    check(made);
    return made;
}

// The array of one iteration may be that of the one before: it is logged, then.
TEST(LoggedLoops, IterationsThatMakeTheirArraysRunAgain) {
    for (const bool always : {true, false}) {
        const Procedure back = reverse(squares(always));
        std::vector<double> given = {1.5, 2}, received = {1, 1}, found(2);
        void* arrays[] = {given.data(), received.data(), found.data()};
        interpret(back, {scalar::bits_of_integer(int64, 2)}, arrays);
        const double power = always ? 2 * given[0] : 4 * given[0] * given[0] * given[0];
        EXPECT_EQ(found[0], 2 * given[0] + power);
        EXPECT_EQ(found[1], 0);
        // Loops over i have others within: backwards alone, or forwards, too.
        size_t outermost = 0;
        for (const Statement& each : back.body)
            outermost += each.kind == Kind::loop && has_own(each.body, Kind::loop);
        EXPECT_EQ(outermost, always ? 1u : 2u);
    }
}

// Of two values that are taken, one that is read keeps both.
TEST(LoggedLoops, AllOfALogIsTakenOrNone) {
    const auto made = [](const Expr& stored) {
        return without_dead_code(
            of({Statement::allocate(2, false),
                Statement::write(Kind::append, 2, {}, Expr::constant(float64, 2)),
                Statement::write(Kind::append, 2, {}, Expr::constant(float64, 3)),
                Statement::take(v, 2), Statement::take(w, 2),
                Statement::write(Kind::store, y, {integer(0)}, stored)},
               true));
    };
    EXPECT_EQ(made(var(w)).body.size(), 7u);
    EXPECT_EQ(made(Expr::constant(float64, 1)).body.size(), 2u);
    double in = 0, out = 0;
    void* arrays[] = {&in, &out};
    interpret(made(var(w)), {scalar::bits_of_integer(int64, 1)}, arrays);
    EXPECT_EQ(out, 2);
}

TEST(LoggedLoops, TakingHasNoIndex) {
    Procedure p = products();
    Statement take = Statement::take(v, y);
    take.index = {integer(0)};
    p.body.insert(p.body.begin(), take);
    EXPECT_THROW(check(p), TypeError);
}

}  // namespace
}  // namespace composit::ir::procedure
