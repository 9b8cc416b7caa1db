// What of a loop's iterations runs before what, and loops that run in blocks.
#include "composit/ir/procedure/interpret.h"
#include "composit/ir/procedure/iteration_order.h"
#include "composit/ir/procedure/iterations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace composit::ir::procedure {
namespace {

using enum DType;
using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

enum BlockVariable { n, i, s, t, v, variable_count };
constexpr int x = 0, y = 1;

Expr of_number(int number) {
    static const char* names[] = {"n", "i", "s", "t", "v"};
    return Expr::argument(number, number < s ? int64 : float64, names[number]);
}

Expr real(double value) { return Expr::constant(float64, value); }

// for (i = 1; i < n - 1; ++i) v = x[i]; t = sqrt(v) / 3; s = s / 2 + t / (v v + 1); y[i + 1] += t;
// y[i] += s;  or the same from the last to the first
Procedure handing_on(bool is_down) {
    Procedure made;
    made.name = "f";
    made.parameters = 1;
    for (int each = 0; each < variable_count; ++each)
        made.variables.push_back({of_number(each).name(), of_number(each).dtype()});
    for (const Role role : {Role::input, Role::output})
        made.arrays.push_back({.name = std::string(1, "xy"[made.arrays.size()]),
                               .dtype = float64,
                               .shape = {of_number(n)},
                               .role = role});
    const Expr here = of_number(i), value = of_number(v), part = of_number(t);
    const Expr share = Expr::make(scalar::Op::divide, {part, value * value + real(1)});
    Block body{
        Statement::load(v, x, {here}),
        Statement::assign(t, Expr::make(scalar::Op::divide,
                                        {Expr::make(scalar::Op::square_root, {value}), real(3)})),
        Statement::assign(s, of_number(s) * real(0.5) + share),
        Statement::write(Kind::add, y, {here + integer(1)}, part),
        Statement::write(Kind::add, y, {here}, of_number(s))};
    const Expr last = of_number(n) - integer(2);
    made.body = {Statement::allocate(y, true), Statement::assign(s, real(1)),
                 is_down ? Statement::loop({Statement::assign(i, last)}, here >= integer(1), body,
                                           {Statement::assign(i, here - integer(1))})
                         : Statement::loop({Statement::assign(i, integer(1))}, here <= last, body,
                                           {Statement::assign(i, here + integer(1))})};
    return made;
}

std::vector<double> run(const Procedure& procedure, const std::vector<double>& given) {
    std::vector<double> in = given, out(given.size());
    void* const arrays[] = {in.data(), out.data()};
    interpret(procedure, {scalar::bits_of_integer(int64, static_cast<int64_t>(in.size()))}, arrays);
    return out;
}

TEST(LoopsInBlocks, OrderOfStatements) {
    const Procedure up = handing_on(false);
    const IterationOrder order = order_in(up, up.body[2], {i, t, v});
    EXPECT_EQ(order.is_free, (std::vector<char>{1, 1, 0, 1, 0}));
    EXPECT_EQ(order.group[2], order.group[4]);  // y reads what each iteration hands on
    EXPECT_TRUE(order.after[1][3] && !order.after[3][1]);
    EXPECT_TRUE(order.after[3][4] && order.carried[3][4] && !order.after[4][3]);
    const Procedure down = handing_on(true);
    const IterationOrder back = order_in(down, down.body[2], {i, t, v});
    EXPECT_TRUE(back.after[4][3] && back.carried[4][3] && !back.after[3][4]);
}

TEST(LoopsInBlocks, ValuesStay) {
    for (const bool is_down : {false, true}) {
        const Procedure plain = handing_on(is_down), made = with_loops_in_blocks(plain);
        const auto all = all_statements(made.body);
        EXPECT_GT(std::count_if(all.begin(), all.end(),
                                [](const Statement* each) { return each->kind == Kind::loop; }),
                  3);
        for (const size_t size : {0, 1, 2, 17, 18, 66, 67, 131}) {
            std::vector<double> given;
            for (size_t each = 0; each < size; ++each)
                given.push_back(1.0 / static_cast<double>(each + 3));
            EXPECT_EQ(run(plain, given), run(made, given)) << size;
        }
    }
}

}  // namespace
}  // namespace composit::ir::procedure
