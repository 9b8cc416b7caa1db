// Scalar functions from their text.
#include "composit/ir/scalar/parse.h"

#include "composit/backends/c_family/procedure_printer.h"
#include "composit/base/error.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/scalar/row.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace composit::tests {
namespace {

using ir::DType;
using ir::scalar::Bits;
using ir::scalar::Expr;
using ir::scalar::Function;
using ir::scalar::Op;
using ir::scalar::parse;

double value_at(const Function& function, std::vector<double> x) {
    std::vector<Bits> arguments;
    for (size_t i = 0; i < x.size(); ++i)
        arguments.push_back(ir::scalar::bits_of(function.parameters[i], x[i]));
    const Bits bits = ir::scalar::evaluate(function.results, arguments)[0];
    return ir::scalar::value_of(function.results[0].dtype(), bits);
}

std::string error_of(std::string_view text) {
    try {
        (void)parse(text);
    } catch (const ValueError& error) {
        return error.what();
    }
    return "none";
}

TEST(ParseScalar, MeansWhatItSays) {
    const Function relu3 = parse(R"((x: float) ->
        # a third of the cube, then a line
        let cube: float = multiply(0.3333333333333333, multiply(x, multiply(x, x)))
        select(less(x, 0), 0, select(less(x, 1), cube, subtract(x, 0.6666666666666666)))
    )");
    EXPECT_EQ(value_at(relu3, {-1}), 0);
    EXPECT_EQ(value_at(relu3, {0.5}), 0.3333333333333333 * 0.125);
    EXPECT_EQ(value_at(relu3, {2}), 2 - 0.6666666666666666);
    EXPECT_EQ(parse("(x: float) -> x", DType::float32).parameters[0], DType::float32);
    EXPECT_EQ(value_at(parse("(x: float64) -> numpy.remainder(x, 3)"), {-1}), 2);
    EXPECT_EQ(value_at(parse("(x: float64) -> remainder(x, 3)"), {-1}), -1);
    EXPECT_EQ(value_at(parse("(n: int64) -> float32(n)"), {3}), 3);
    EXPECT_EQ(value_at(parse("(x: float64) -> tanh(x)"), {0}), 0);
}

TEST(ParseScalar, LoopsKeepTheirState) {
    const Function gcd = parse(
        "(a: int, b: int) -> loop(a = a, b = b; while not_equal(b, 0); (b, remainder(a, b)); at "
        "most 93)[0]");
    EXPECT_EQ(value_at(gcd, {48, 36}), 12);
}

// Functions of every kind, composed, and all rows of the table.
std::vector<Function> functions() {
    std::vector<Function> all;
    const Expr x = Expr::argument(0, DType::float32, "x"), y = Expr::argument(1, DType::float32);
    const Expr n = Expr::argument(2, DType::int64), b = Expr::argument(3, DType::boolean);
    const auto add = [&](std::vector<Expr> results) {
        all.push_back({"f",
                       {"x"},
                       {DType::float32, DType::float32, DType::int64, DType::boolean},
                       std::move(results)});
    };
    add({x + y});
    add({(x * 2.5).named("twice") / (x * 2.5).named("twice"), -x});
    add({select(b, x, 0.1), Expr::constant(DType::float32, 1.0 / 3)});
    add({select(x < y, 1.0, Expr::cast(n, DType::float32))});
    add({Expr::bitcast(x, DType::int32) & Expr::constant_integer(DType::int32, -2147483647)});
    add({Expr::constant_bits(DType::uint64, {~0ull, 0}), ~b});
    add({Expr::constant(DType::float32, INFINITY), Expr::constant(DType::float64, -0.0)});
    add({ir::scalar::square_root(x).named("x")});  // of the parameter's name
    add(ir::scalar::loop(
        {n, x}, [](auto& s) { return s[0] > 0.0; },
        [](auto& s) { return std::vector{s[0] - 1.0, s[1] * 0.5}; }, 7));
    for (const auto& row : ir::scalar::all_rows()) {
        for (const DType dtype : {DType::float32, DType::float64, DType::int32, DType::boolean}) {
            const std::vector<DType> dtypes(static_cast<size_t>(row->arity), dtype);
            std::vector<Expr> operands;
            for (int i = 0; i < row->arity; ++i) operands.push_back(Expr::argument(i, dtype));
            try {
                all.push_back({"f", {}, dtypes, {Expr::call(row, operands)}});
            } catch (const Error&) {
                continue;  // not for this dtype
            }
        }
    }
    return all;
}

// A row that is one operation is read as that.
bool is_operation(const Expr& made, const Expr& call) {
    if (call.op() != Op::call || made.op() == Op::call) return false;
    std::vector<DType> dtypes;
    for (const Expr& operand : call.operands()) dtypes.push_back(operand.dtype());
    const Expr& body = ir::scalar::specialise(call.row(), dtypes).body;
    return structurally_equal({made}, ir::scalar::substitute({body}, call.operands()));
}

TEST(ParseScalar, WhatIsPrintedIsParsed) {
    size_t tried = 0;
    for (const Function& function : functions()) {
        const std::string text = print(function);
        if (text.find("lookup") != std::string::npos) continue;
        const Function again = parse(text);
        EXPECT_EQ(print(again), text);
        const bool is_alike = structurally_equal(again.results, function.results);
        EXPECT_TRUE(is_alike || is_operation(again.results[0], function.results[0])) << text;
        ++tried;
    }
    EXPECT_GT(tried, 300u);
}

TEST(ParseScalar, MistakesAreNamedWithTheirPlace) {
    EXPECT_EQ(error_of("(x: float64) -> sinus(x)"),
              "parse: line 1, column 17: there is no function sinus. One of the table or an "
              "operation is required.");
    EXPECT_EQ(error_of("(x: float64) ->\n    add(x, z)"),
              "parse: line 2, column 12: there is no z here. A parameter, or a name that let "
              "gave, is required.");
    EXPECT_EQ(error_of("(x: float64) -> add(x)"),
              "parse: line 1, column 17: add of 1 operands. 2 are required.");
    EXPECT_EQ(error_of("(x: float64) -> 2"),
              "parse: line 1, column 17: nothing says the dtype of 2. float64(2) is required.");
    EXPECT_EQ(error_of("(n: int64) -> add(n, 0.5)"),
              "parse: line 1, column 22: found \"0.5\". A number of dtype int64 is required.");
    EXPECT_EQ(error_of("(x: float64, x: int64) -> x"),
              "parse: line 1, column 14: there are two parameters x. Other names are required.");
    EXPECT_EQ(error_of("(x: float64) -> add(x, x"),
              "parse: line 1, column 25: found the end of the text. ',' between operands is "
              "required.");
    EXPECT_NE(error_of("(x: float64, n: int64) -> add(x, n)").find("line 1, column 27"),
              std::string::npos);
    EXPECT_NE(error_of("(x: float64) -> floor(lookup([1], x))").find("tables"), std::string::npos);
    EXPECT_NE(error_of("(x: float64) -> " + std::string(100000, '(')), "none");
    std::string deep = "(x: float64) -> ";
    for (int i = 0; i < 10000; ++i) deep += "negate(";
    EXPECT_NE(error_of(deep).find("more than 200 terms"), std::string::npos);
}

TEST(ParseScalar, ProceduresOfFunctionsAreKernels) {
    const auto kernel = ir::procedure::procedure_of("softplus2", parse(R"((x: float64) ->
        let e: float64 = exp(x)
        multiply(log(add(1, e)), e)
    )"));
    EXPECT_EQ(c_family::print_procedure(kernel),
              "double softplus2(double x) {\n"
              "    const double e = exp_float64(x);\n"
              "    return log_float64(1.0 + e) * e;\n"
              "}\n");
    const auto slope = ir::procedure::vjp(kernel);
    const Function pulled{"", {}, {DType::float64, DType::float64}, flatten(slope)};
    const double e = std::exp(0.3);
    EXPECT_NEAR(value_at(pulled, {0.3, 1}), e * e / (1 + e) + std::log(1 + e) * e, 1e-14);
    const ir::scalar::Row row = ir::procedure::row_of(kernel);
    EXPECT_EQ(row.arity, 1);
    EXPECT_THROW((void)row.types("softplus2", {DType::float32}), TypeError);
}

}  // namespace
}  // namespace composit::tests
