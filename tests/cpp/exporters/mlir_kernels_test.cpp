// Kernels as MLIR: the text, and procedures without ways out, which mean the same.
#include "composit/base/error.h"
#include "composit/exporters/mlir_kernels/kernel_text.h"
#include "composit/exporters/mlir_kernels/without_exits.h"
#include "composit/ir/procedure/interpret.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace composit::mlir {
namespace {

using enum ir::DType;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using Kind = Statement::Kind;

Statement way_out(Kind kind) {
    Statement made;
    made.kind = kind;
    return made;
}

// total = 0; for (i = 0; i < n; ++i) {
//     if (i % 3 == first) { if (i > n - 4) break; continue; }
//     if (i == last) return total * 2;
//     for (j = 0; j < i; ++j) { if (j == last) return total; total += x; }
// }
// return total;
Procedure jumping() {
    Procedure made{"jumping", "jumping.py", 1, "", {}, 4, {{"y", float64}}, {}};
    made.variables = {{"x", float64}, {"n", int64},       {"first", int64}, {"last", int64},
                      {"i", int64},   {"total", float64}, {"j", int64}};
    const auto variable = [&](size_t k) { return made.variable(k); };
    const Expr x = variable(0), n = variable(1), first = variable(2), last = variable(3),
               i = variable(4), total = variable(5), j = variable(6);
    const Expr zero = Expr::constant_integer(int64, 0), one = Expr::constant_integer(int64, 1);
    const Expr rest = Expr::make(ir::scalar::Op::remainder, {i, ir::procedure::integer(3)});
    const Statement inner =
        Statement::loop({Statement::assign(6, zero)}, j < i,
                        {Statement::branch(equal(j, last), {Statement::leave({total})}, {}),
                         Statement::assign(5, total + x)},
                        {Statement::assign(6, j + one)});
    const Statement outer = Statement::loop(
        {Statement::assign(4, zero)}, i < n,
        {Statement::branch(
             equal(rest, first),
             {Statement::branch(i > n - ir::procedure::integer(4), {way_out(Kind::stop)}, {}),
              way_out(Kind::go_on)},
             {}),
         Statement::branch(equal(i, last), {Statement::leave({total * 2.0})}, {}), inner},
        {Statement::assign(4, i + one)});
    made.body = {Statement::assign(5, Expr::constant(float64, 0)), outer,
                 Statement::leave({total})};
    check(made);
    return made;
}

TEST(MlirKernels, HaveNoWaysOutAndMeanTheSame) {
    const Procedure given = jumping(), made = without_exits(given);
    check(made);
    const auto all = ir::procedure::all_statements(made.body);
    EXPECT_EQ(std::count_if(all.begin(), all.end(),
                            [](const Statement* each) {
                                return each->kind == Kind::stop || each->kind == Kind::go_on ||
                                       each->kind == Kind::leave;
                            }),
              1);
    for (int64_t n = 0; n < 9; ++n)
        for (int64_t first = 0; first < 4; ++first)
            for (int64_t last = 0; last < 9; ++last) {
                const std::vector<ir::scalar::Bits> arguments = {
                    ir::scalar::bits_of(float64, 1.25), ir::scalar::bits_of_integer(int64, n),
                    ir::scalar::bits_of_integer(int64, first),
                    ir::scalar::bits_of_integer(int64, last)};
                EXPECT_EQ(ir::procedure::interpret(given, arguments, nullptr),
                          ir::procedure::interpret(made, arguments, nullptr))
                    << n << " " << first << " " << last;
            }
}

TEST(MlirKernels, AreReadable) {
    const Expr x = Expr::argument(0, float64, "x");
    Procedure bend{"bend", "bend.py", 1, "Bends.", {{"x", float64}}, 1, {{"y", float64}}, {}};
    bend.body = {Statement::branch(x < 0.0, {Statement::leave({x}, 2)}, {}, 2),
                 Statement::leave({x * x}, 3)};
    EXPECT_EQ(kernel_text({bend}), R"(module @bend {
  // Bends.
  func.func @bend(%x: f64) -> f64 {
    %c0.0 = arith.constant 0.0 : f64
    %0 = arith.cmpf olt, %x, %c0.0 : f64  // bend.py:2
    %y = scf.if %0 -> (f64) {
      scf.yield %x : f64
    } else {
      %y_2 = arith.mulf %x, %x : f64  // bend.py:3
      scf.yield %y_2 : f64
    }
    return %y : f64
  }
}
)");
    const std::string located = kernel_text({bend}, {"m", {"b"}, true});
    EXPECT_NE(located.find("%y_2 = arith.mulf %x, %x : f64 loc(\"bend.py\":3:0)"),
              std::string::npos)
        << located;
}

TEST(MlirKernels, RefuseWhatHasNoOperations) {
    const Expr x = Expr::argument(0, complex64, "x");
    Procedure own{"own", "own.py", 1, "", {{"x", complex64}}, 1, {{"y", complex64}}, {}};
    own.body = {Statement::leave({x})};
    EXPECT_THROW(static_cast<void>(kernel_text({own})), NotSupported);
    EXPECT_THROW(static_cast<void>(kernel_text({})), ValueError);
    EXPECT_THROW(static_cast<void>(kernel_text({own}, {"", {"a", "b"}})), ValueError);
}

}  // namespace
}  // namespace composit::mlir
