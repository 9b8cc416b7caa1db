// Bounds of arrays that loops decide about, before they run.
#include "composit/backends/c_family/known_values.h"
#include "composit/backends/c_family/procedure_room.h"
#include "composit/ir/procedure/structure.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

using namespace ir::procedure;
using enum ir::DType;
using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

constexpr int n = 0, i = 1, j = 2, v = 3;
constexpr int x = 0, log = 1, part = 2;

Expr var(int number) { return Expr::argument(number, number < v ? int64 : float64, ""); }

Statement counting(int counter, const Expr& end, int64_t step, Block body) {
    return Statement::loop({Statement::assign(counter, integer(0))}, var(counter) < end,
                           std::move(body),
                           {Statement::assign(counter, var(counter) + integer(step))});
}

// f(x, n), with a log, and an array of i + 1 elements.
Procedure of(Block body) {
    Procedure made;
    made.name = "f";
    made.parameters = 1;
    made.variables = {{"n", int64}, {"i", int64}, {"j", int64}, {"v", float64}};
    made.arrays = {
        {.name = "x", .dtype = float64, .shape = {var(n)}, .role = Role::input},
        {.name = "log", .dtype = float64, .shape = {integer(0)}, .grows = true},
        {.name = "part", .dtype = float64, .shape = {var(i) + integer(1)}},
    };
    made.head = {-1 - x, n};
    made.body = std::move(body);
    return made;
}

Statement append() { return Statement::write(Kind::append, log, {}, var(v)); }

// -1: there is no bound.
int64_t most(const Procedure& procedure, int array, int64_t length) {
    const auto bounds = c_family::most_elements(procedure);
    const auto found = bounds.find(array);
    if (found == bounds.end()) return -1;
    const c_family::KnownValues known(procedure, {{n, ir::scalar::bits_of_integer(int64, length)}});
    return known.most_of(found->second).value_or(-1);
}

TEST(MostElements, AddsWhatIsAppendedInSeveralPlaces) {
    // Every second element, and some of a triangle, whatever a branch says.
    const Procedure made = of(
        {Statement::allocate(log, false), counting(i, var(n), 2, {append()}),
         counting(i, var(n), 1,
                  {counting(
                      j, var(i) + integer(1), 1,
                      {Statement::branch(var(v) > Expr::constant(float64, 0), {append()}, {})})})});
    EXPECT_EQ(most(made, log, 5), 5 + 5 * 5);
    EXPECT_EQ(most(made, log, 0), 0);
}

TEST(MostElements, ForgetsLoopsAroundWhatIsEmptied) {
    const Block within = {Statement::allocate(log, false), counting(j, var(n), 1, {append()})};
    EXPECT_EQ(most(of({counting(i, var(n), 1, within)}), log, 7), 7);
    const Block without = {counting(j, var(n), 1, {append()})};
    EXPECT_EQ(most(of({Statement::allocate(log, false), counting(i, var(n), 1, without)}), log, 7),
              49);
}

TEST(MostElements, BoundsExtentsOfCounters) {
    const Procedure made =
        of({counting(i, var(n), 1,
                     {Statement::allocate(part, true),
                      Statement::write(Kind::store, part, {var(i)}, Expr::constant(float64, 1))})});
    EXPECT_EQ(most(made, part, 6), 6);
}

TEST(MostElements, KnowsNothingOfLoopsThatEndByACondition) {
    const Expr is_large = var(v) > Expr::constant(float64, 0);
    const Procedure made =
        of({Statement::allocate(log, false), Statement::loop({}, is_large, {append()}, {})});
    EXPECT_EQ(most(made, log, 5), -1);
}

}  // namespace
}  // namespace composit::tests
