// Loops that become one, and arrays whose elements first receive an addition each.
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <gtest/gtest.h>

namespace composit::ir::procedure {
namespace {

using enum DType;
using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

enum Number { n, i, j, k, s, t, u, count };
constexpr int x = 0, y = 1, z = 2;

Expr var(int number) {
    static const char* names[] = {"n", "i", "j", "k", "s", "t", "u"};
    return Expr::argument(number, number < s ? int64 : float64, names[number]);
}

// Of n, an input x and an output z of n elements each, and a local array y of as many.
Procedure of(Block body) {
    Procedure made;
    made.name = "f";
    made.parameters = 1;
    for (int each = 0; each < count; ++each)
        made.variables.push_back({var(each).name(), var(each).dtype()});
    for (const Role role : {Role::input, Role::local, Role::output})
        made.arrays.push_back({.name = std::string(1, "xyz"[made.arrays.size()]),
                               .dtype = float64,
                               .shape = {var(n)},
                               .role = role});
    made.body = {Statement::allocate(z, true), Statement::allocate(y, true)};
    made.body.insert(made.body.end(), body.begin(), body.end());
    return made;
}

Statement loop(int counter, Block body, const Expr& begin = integer(0)) {
    return Statement::loop({Statement::assign(counter, begin)}, var(counter) < var(n),
                           std::move(body),
                           {Statement::assign(counter, var(counter) + integer(1))});
}

Statement load(int variable, int array, const Expr& index) {
    return Statement::load(variable, array, {index});
}
Statement write(Kind kind, int array, const Expr& index, const Expr& value) {
    return Statement::write(kind, array, {index}, value);
}

// y[i] += x[i]
Statement filling(int counter = i) {
    return loop(counter, {load(s, x, var(counter)), write(Kind::add, y, var(counter), var(s))});
}

// t = y[place]; z[j] = t * t
Statement taking(const Expr& place, const Expr& begin = integer(0)) {
    return loop(j, {load(t, y, place), write(Kind::store, z, var(j), var(t) * var(t))}, begin);
}

size_t loops_in(const Procedure& procedure) {
    size_t found = 0;
    for (const Statement* each : all_statements(procedure.body)) found += each->kind == Kind::loop;
    return found;
}

size_t mentions_of(const Procedure& procedure, int array) {
    size_t found = 0;
    for (const Statement* each : all_statements(procedure.body))
        found += each->array == array && each->kind != Kind::allocate;
    return found;
}

TEST(LoopsTogether, HandOnAnElementWithoutAnArray) {
    const Procedure made = with_loops_together(of({filling(), taking(var(j))}), {});
    EXPECT_EQ(loops_in(made), 1u);
    EXPECT_EQ(mentions_of(made, y), 0u);
    // A second loop that adds to the same element: the sum of both.
    const Statement more =
        loop(k, {load(u, x, var(k)), write(Kind::add, y, var(k), var(u) * var(u))});
    const Procedure sum = with_loops_together(of({filling(), more, taking(var(j))}), {});
    EXPECT_EQ(loops_in(sum), 1u);
    EXPECT_EQ(mentions_of(sum, y), 0u);
    // Two that share a variable stay two.
    const Statement shares =
        loop(k, {load(s, x, var(k)), write(Kind::add, y, var(k), var(s) * var(s))});
    EXPECT_EQ(loops_in(with_loops_together(of({filling(), shares}), {})), 2u);
}

TEST(LoopsTogether, ButNotThoseThatReadOtherElementsOrRunOverOthers) {
    for (const Block& body : std::initializer_list<Block>{
             {filling(), taking(var(n) - integer(1) - var(j))},
             {filling(), taking(var(j) + integer(1))},
             {filling(), taking(var(j), integer(1))},
             {filling(), taking(integer(0))},
         })
        EXPECT_EQ(loops_in(with_loops_together(of(body), {})), 2u);
    // What the second reads is whole only behind the first.
    const Statement total = loop(i, {load(s, x, var(i)), write(Kind::add, y, var(i), var(s)),
                                     Statement::assign(t, var(t) + var(s))});
    const Statement scaled =
        loop(j, {write(Kind::add, y, var(j), var(t)), write(Kind::store, z, var(j), var(t))});
    EXPECT_EQ(loops_in(with_loops_together(of({total, scaled}), {})), 2u);
    // A statement between that reads what the first assigns stays between.
    EXPECT_EQ(loops_in(with_loops_together(
                  of({filling(), write(Kind::store, z, integer(0), var(s)), taking(var(j))}), {})),
              2u);
}

TEST(LoopsTogether, ElementsThatOtherIterationsReadStay) {
    for (const Expr& place : {var(i) - integer(1), integer(0)}) {
        const Statement chain = loop(
            i,
            {load(u, y, place), load(s, x, var(i)), write(Kind::store, y, var(i), var(s) + var(u)),
             load(t, y, var(i)), write(Kind::store, z, var(i), var(t))},
            integer(1));
        EXPECT_EQ(mentions_of(with_loops_together(of({chain}), {}), y), 3u);
    }
    // One element that all iterations add to.
    const Statement sum = loop(i, {load(s, x, var(i)), write(Kind::add, y, integer(0), var(s)),
                                   load(t, y, integer(0)), write(Kind::store, z, var(i), var(t))});
    EXPECT_EQ(mentions_of(with_loops_together(of({sum}), {}), y), 2u);
}

TEST(LoopsTogether, ArraysOfTheFunctionStartWithZerosThatAreAddedTo) {
    // 0 + -0 is 0.
    const Procedure made = with_loops_together(of({filling(), taking(var(j))}), {"y"});
    EXPECT_EQ(loops_in(made), 1u);
    EXPECT_GT(mentions_of(made, y), 0u);
    EXPECT_TRUE(made.body[1].is_zeroed);
}

TEST(LoopsTogether, ElementsThatOthersReadStay) {
    const Statement again = loop(i, {load(s, y, var(i)), write(Kind::add, z, var(i), var(s))});
    const Procedure made = with_loops_together(of({filling(), taking(var(j)), again}), {});
    EXPECT_EQ(loops_in(made), 2u);  // s is that of the first
    EXPECT_EQ(mentions_of(made, y), 3u);
}

TEST(LoopsTogether, TheFirstAdditionIsAStoreWhereItMeetsEachElement) {
    const auto kinds = [](const Procedure& procedure) {
        std::vector<Kind> found;
        for (const Statement* each : all_statements(procedure.body))
            if (each->array == y) found.push_back(each->kind);
        return found;
    };
    const Statement last = taking(var(n) - integer(1) - var(j));
    const Procedure made = with_loops_together(of({filling(), last}), {});
    EXPECT_EQ(kinds(made), (std::vector{Kind::allocate, Kind::store, Kind::load}));
    EXPECT_FALSE(made.body[1].is_zeroed);
    // Not all elements, not one each, not always.
    const Statement late =
        loop(i, {load(s, x, var(i)), write(Kind::add, y, var(i), var(s))}, integer(1));
    const Statement all = loop(i, {load(s, x, var(i)), write(Kind::add, y, integer(0), var(s))});
    const Statement some =
        loop(i, {load(s, x, var(i)),
                 Statement::branch(var(s) < var(t), {write(Kind::add, y, var(i), var(s))}, {})});
    for (const Statement& first : {late, all, some}) {
        const Procedure kept =
            with_loops_together(of({Statement::assign(t, Expr(var(s))), first, last}), {});
        EXPECT_EQ(kinds(kept), (std::vector{Kind::allocate, Kind::add, Kind::load}));
        EXPECT_TRUE(kept.body[1].is_zeroed);
    }
    // An element of another iteration, before its own addition.
    const Statement mixed = loop(i, {load(s, x, var(i)), write(Kind::add, y, var(i), var(s)),
                                     write(Kind::add, y, integer(0), var(s))});
    EXPECT_TRUE(with_loops_together(of({mixed, last}), {}).body[1].is_zeroed);
}

}  // namespace
}  // namespace composit::ir::procedure
