// Statements that calls left in a procedure are functions again.
#include "composit/backends/c_family/procedure_file.h"
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

using namespace ir::procedure;
using enum ir::DType;
using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

enum Number { n, i, j, s, t, u, count };
constexpr int x = 0, y = 1;

Expr var(int number) {
    static const char* names[] = {"n", "i", "j", "s", "t", "u"};
    return Expr::argument(number, number < s ? int64 : float64, names[number]);
}

Statement loop(int counter, Block body) {
    return Statement::loop({Statement::assign(counter, integer(0))}, var(counter) < var(n),
                           std::move(body),
                           {Statement::assign(counter, var(counter) + integer(1))});
}

// total = 0; for (counter …) total += x[counter] * x[counter] + 1, of one call.
Block squares(int counter, int total, int element, const std::string& name, bool is_of_library) {
    const Expr sum = var(total) + (var(element) * var(element) + Expr::constant(float64, 1));
    Block made = {Statement::assign(total, Expr::constant(float64, 0)),
                  loop(counter, {Statement::load(element, x, {var(counter)}),
                                 Statement::assign(total, sum)})};
    const auto call = std::make_shared<InlinedCall>(InlinedCall{name, is_of_library, {}});
    for (Statement& each : made) join_call(each, call);
    return made;
}

// double f(x, n): y[0] = squares of x; return squares of x * y[0]
Procedure twice(bool is_of_library) {
    Procedure made;
    made.name = "f";
    made.parameters = 1;
    for (int each = 0; each < count; ++each)
        made.variables.push_back({var(each).name(), var(each).dtype()});
    made.arrays = {{.name = "x", .dtype = float64, .shape = {var(n)}, .role = Role::input},
                   {.name = "y", .dtype = float64, .shape = {var(n)}, .role = Role::output}};
    made.head = {-1 - x, n};
    made.results = {{"value", float64}};
    made.body = squares(i, s, u, "squares", is_of_library);
    made.body.push_back(Statement::write(Kind::store, y, {integer(0)}, var(s)));
    const int w = made.add_variable("w", float64);
    std::vector<Expr> by = all_variables(made);
    by[u] = made.variable(static_cast<size_t>(w));
    Block more = squares(j, t, u, "squares", is_of_library);
    replace_variables(more, by, true);
    made.body.insert(made.body.end(), more.begin(), more.end());
    made.body.push_back(Statement::leave({var(s) * var(t)}));
    return made;
}

size_t times(const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

TEST(CalledParts, CallsOfOneFunctionCallIt) {
    const Procedure procedure = twice(true);
    check(procedure);
    EXPECT_EQ(c_family::print_procedure(procedure),
              "double f(const double* x, int64_t n, double* __restrict y) {\n"
              "    const double s = y[0] = squares(n, x);\n"
              "    const double t = squares(n, x);\n"
              "    return s * t;\n"
              "}\n");
    const std::string text = c_family::print_functions({procedure});
    EXPECT_EQ(times(text, "double squares(int64_t n, const double* x) {"), 1) << text;
}

TEST(CalledParts, HelpersThatAreCalledAgainStandBeforeTheFunction) {
    Procedure procedure = twice(false);
    const std::string text = c_family::print_procedure(procedure);
    // Two lines of a loop are no longer than a function and two calls.
    EXPECT_EQ(times(text, "squares("), 0) << text;
    for (Statement& each : procedure.body)
        if (each.kind == Kind::loop)
            for (int k = 0; k < 4; ++k) {
                Statement more = each.body[1];
                more.values[0] = more.values[0] * Expr::constant(float64, 2 + k);
                each.body.push_back(std::move(more));
            }
    const std::string longer = c_family::print_procedure(procedure);
    EXPECT_EQ(times(longer, " squares(int64_t n, const double* x) {"), 1) << longer;
    EXPECT_EQ(times(longer, " = squares(n, x);"), 2) << longer;
}

TEST(CalledParts, NamesOfVariablesAreNoNamesOfFunctions) {
    Procedure procedure = twice(true);
    procedure.variables[t].name = "squares";
    const std::string text = c_family::print_procedure(procedure);
    EXPECT_NE(text.find("const double squares = squares_2(n, x);"), std::string::npos) << text;
}

TEST(CalledParts, CallsWithinCallsAreKnownByBoth) {
    const auto inner = std::make_shared<InlinedCall>(InlinedCall{"inner", true, {}});
    const auto outer = std::make_shared<InlinedCall>(InlinedCall{"outer", true, {}});
    Statement statement = Statement::assign(s, var(t), 7);
    join_call(statement, inner);
    join_call(statement, outer);
    EXPECT_EQ(call_of(statement.line, nullptr), outer.get());
    EXPECT_EQ(call_of(statement.line, outer.get()), inner.get());
    EXPECT_EQ(call_of(statement.line, inner.get()), nullptr);
    EXPECT_EQ(statement.line, 7);
}

}  // namespace
}  // namespace composit::tests
