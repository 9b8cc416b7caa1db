// Procedures: flattening, derivatives beside differences, text, and what is refused.
#include "composit/ir/procedure/procedure.h"

#include "composit/backends/c_family/procedure_file.h"
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"

#include <gtest/gtest.h>

#include <cmath>

namespace composit::ir::procedure {
namespace {

using enum DType;
using scalar::Bits;

Expr number(double value) { return Expr::constant(float64, value); }

double run(const Procedure& procedure, const std::vector<double>& x, size_t result = 0) {
    std::vector<Bits> bits;
    for (const double v : x) bits.push_back(scalar::bits_of(float64, v));
    return scalar::value_of(float64, scalar::evaluate(flatten(procedure), bits)[result]);
}

// relu3(x): if (x < 0) return 0; if (x < 1) return x * x * x / 3; return x - 2 / 3
Procedure relu3() {
    const Expr x = Expr::argument(0, float64, "x");
    Procedure made{"relu3", "relu3.py", 1, "", {{"x", float64}}, 1, {{"y", float64}}, {}};
    const Statement otherwise =
        Statement::branch(x < 1.0, {Statement::leave({x * x * x / 3.0}, 4)}, {}, 3);
    made.body = {Statement::branch(x < 0.0, {Statement::leave({number(0)}, 2)}, {}, 2), otherwise,
                 Statement::leave({x - 2.0 / 3}, 5)};
    return made;
}

// The square root of a by Newton's steps, until they are small.
Procedure root() {
    const Expr a = Expr::argument(0, float64, "a"), x = Expr::argument(1, float64, "x"),
               old = Expr::argument(2, float64, "old");
    Procedure made{
        "root", "root.py",        1, "", {{"a", float64}, {"x", float64}, {"old", float64}},
        1,      {{"y", float64}}, {}};
    const Block body = {
        Statement::assign(2, x, 3), Statement::assign(1, 0.5 * (x + a / x), 4),
        Statement::branch(absolute(x - old) < 1e-12, {Statement::leave({x}, 6)}, {}, 5)};
    made.body = {Statement::assign(1, a, 2),
                 Statement::loop({}, Expr::constant(boolean, 1), body, {}, 3)};
    return made;
}

TEST(Procedure, BranchesAndLoopsAsExpressions) {
    EXPECT_EQ(run(relu3(), {-1}), 0);
    EXPECT_EQ(run(relu3(), {0.5}), 0.125 / 3);
    EXPECT_EQ(run(relu3(), {2}), 2 - 2.0 / 3);
    EXPECT_DOUBLE_EQ(run(root(), {2}), std::sqrt(2));
    EXPECT_DOUBLE_EQ(run(root(), {1e6}), 1e3);
}

TEST(Procedure, DerivativesBesideDifferences) {
    for (const Procedure& procedure : {relu3(), root()}) {
        check(procedure);
        for (const double x : {0.3, 0.7, 2.5, 9.0}) {
            const double h = 1e-5;
            const double want = (run(procedure, {x + h}) - run(procedure, {x - h})) / (2 * h);
            EXPECT_NEAR(run(slope(procedure, 0, 0), {x}), want, 1e-8);
            EXPECT_NEAR(run(vjp(procedure), {x, 3}), 3 * want, 1e-8);
            EXPECT_NEAR(run(jvp(procedure), {x, -2}), -2 * want, 1e-8);
            const Procedure twice = slope(slope(procedure, 0, 0), 0, 0);
            const double second =
                (run(slope(procedure, 0, 0), {x + h}) - run(slope(procedure, 0, 0), {x - h})) /
                (2 * h);
            EXPECT_NEAR(run(twice, {x}), second, 1e-6);
        }
    }
}

TEST(Procedure, TextKeepsBranchesAndLoops) {
    EXPECT_EQ(c_family::print_procedure(vjp(relu3())),
              "double relu3_vjp(double x, double dy) {\n"
              "    if (x < 0.0) return 0.0;  // relu3.py:2\n"
              "    if (x < 1.0) return dy * ((2.0 * x * x + x * x) / 3.0);  // relu3.py:3\n"
              "    return dy;  // relu3.py:5\n"
              "}\n");
    const std::string text = c_family::print_procedure(root());
    EXPECT_NE(text.find("while (true) {  // root.py:3\n"), std::string::npos) << text;
    EXPECT_NE(text.find("const double old = x;"), std::string::npos) << text;
}

TEST(Procedure, FilesHoldFunctionsDerivativesAndSelfcheck) {
    const c_family::ProcedureFile file =
        c_family::print_file("relu3", {{relu3(), {vjp(relu3()), jvp(relu3())}}});
    for (const char* wanted : {"double relu3(double x);", "double relu3_vjp(double x, double dy);",
                               "void vrelu3(const double* x, double* __restrict y, int64_t count);",
                               "double relu3_selfcheck();"})
        EXPECT_NE(file.header.find(wanted), std::string::npos) << wanted;
    EXPECT_NE(file.source.find("namespace relu3 {"), std::string::npos);
}

TEST(Procedure, WhatIsNotReadIsNotPrinted) {
    Procedure procedure = relu3();
    const int unread = procedure.add_variable("x", float64);
    EXPECT_EQ(procedure.variables.back().name, "x_2");
    procedure.body.insert(procedure.body.begin(), Statement::assign(unread, number(1)));
    EXPECT_EQ(c_family::print_procedure(procedure), c_family::print_procedure(relu3()));
}

TEST(Procedure, MistakesAreNamedByLine) {
    const auto said = [](const Procedure& procedure) -> std::string {
        try {
            check(procedure);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    Procedure open = relu3();
    open.body.pop_back();
    EXPECT_EQ(said(open),
              "relu3: its end can be reached without a result. A return on every path is "
              "required.");
    Procedure typed = relu3();
    typed.body.back() = Statement::leave({Expr::constant(int64, 1)}, 7);
    EXPECT_EQ(said(typed), "relu3: line 7 has a value of dtype int64. float64 is required.");
    Procedure outside = relu3();
    Statement stop;
    stop.kind = Statement::Kind::stop;
    stop.line = 9;
    outside.body.insert(outside.body.begin(), stop);
    EXPECT_EQ(said(outside), "relu3: line 9 leaves a loop, and is in none.");
    Procedure unknown = relu3();
    unknown.body.back() = Statement::leave({Expr::argument(4, float64)}, 8);
    EXPECT_EQ(said(unknown),
              "relu3: line 8 reads a variable that does not exist, or one of another dtype.");
    Procedure bits = relu3();
    const Expr x = bits.variable(0);
    bits.body = {Statement::leave({Expr::bitcast(Expr::bitcast(x, int64), float64)}, 2)};
    EXPECT_NO_THROW(check(bits));
    EXPECT_THROW((void)vjp(bits), NotSupported);
}

TEST(Procedure, OneTangentForEachArrayIsRefused) {
    // a[0] = x * y; return a[0]
    Procedure product;
    product.name = "product";
    product.variables = {{"x", float64}, {"y", float64}, {"value", float64}};
    product.parameters = 2;
    product.results = {{"y", float64}};
    product.arrays = {{.name = "a", .shape = {Expr::constant_integer(int64, 1)}}};
    const Expr first = Expr::constant_integer(int64, 0);
    product.body = {Statement::allocate(0, true),
                    Statement::write(Statement::Kind::store, 0, {first},
                                     product.variable(0) * product.variable(1)),
                    Statement::load(2, 0, {first}), Statement::leave({product.variable(2)})};
    check(product);
    EXPECT_THROW((void)vjp(product), NotSupported);
    EXPECT_THROW((void)vjp_of(product, 0, 1), NotSupported);
    EXPECT_THROW((void)slope(product, 0, 1), NotSupported);
    EXPECT_EQ(reverse(product).results.size(), 2u);
    EXPECT_EQ(jvp(product).results.size(), 1u);
}

TEST(Procedure, RowsMapAndHaveTheProceduresDerivatives) {
    const scalar::TypeRule types = [](std::string_view, const std::vector<DType>&) {
        return scalar::Signature{{float64}, float64};
    };
    const auto row = std::make_shared<const scalar::Row>(
        row_of("root", "", 1, types, [](const std::vector<DType>&) { return root(); }));
    const Expr x = Expr::argument(0, float64, "x");
    const Expr y = Expr::call(row, {x});
    const auto at = [](const Expr& expr, double value) {
        return scalar::value_of(float64,
                                scalar::evaluate({expr}, {scalar::bits_of(float64, value)})[0]);
    };
    EXPECT_DOUBLE_EQ(at(y, 9), 3);
    EXPECT_NEAR(at(scalar::slopes_of(row, {x}, y)[0], 9), 1.0 / 6, 1e-12);
    EXPECT_NEAR(at(scalar::pull_back(row, {x}, y, number(6), 0), 9), 1, 1e-11);
}

}  // namespace
}  // namespace composit::ir::procedure
