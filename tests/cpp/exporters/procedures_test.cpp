// Procedures as text, compiled, and run: the public headers.
#include "composit/exporters/procedures/procedures.h"

#include "composit/backends/cpp/procedures.h"
#include "composit/base/error.h"
#include "composit/exporters/device_source/device_source.h"
#include "composit/ir/scalar/function.h"
#include "composit/runtime/interrupt.h"

#include <gtest/gtest.h>

namespace composit::procedures {
namespace {

using enum ir::DType;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Bits;
using ir::scalar::Expr;

// bend(x): if (x < 0) return 0; return x * x
Procedure bend() {
    const Expr x = Expr::argument(0, float64, "x");
    Procedure made{"bend", "bend.py", 1, "", {{"x", float64}}, 1, {{"y", float64}}, {}};
    const Expr zero = Expr::constant(float64, 0.0);
    made.body = {Statement::branch(x < 0.0, {Statement::leave({zero}, 2)}, {}, 2),
                 Statement::leave({x * x}, 3)};
    return made;
}

TEST(Procedures, AreShownAsFunctions) {
    EXPECT_EQ(signature_of(bend()), "double bend(double x)");
    EXPECT_NE(source_of(bend()).find("return x * x;"), std::string::npos) << source_of(bend());
    const ProcedureFile file = print_file("bend", {{bend(), {}}});
    EXPECT_NE(file.header.find("double bend(double x);"), std::string::npos);
}

TEST(Procedures, AreCompiledAndRun) {
    std::string warning;
    const auto loaded = cpp::load_procedures(
        "bend", {{bend(), {vjp(bend())}}}, "", true, [] { return false; }, warning);
    if (!loaded) GTEST_SKIP() << warning;
    void* const* const no_arrays = nullptr;
    const auto value =
        cpp::run_of(*loaded, 0, bend())({ir::scalar::bits_of(float64, 3)}, no_arrays);
    EXPECT_EQ(ir::scalar::value_of(float64, value[0]), 9);
    const std::vector<Bits> given = {ir::scalar::bits_of(float64, 3),
                                     ir::scalar::bits_of(float64, 2)};
    const auto slope = cpp::run_of(*loaded, 1, vjp(bend()))(given, no_arrays);
    EXPECT_EQ(ir::scalar::value_of(float64, slope[0]), 12);
}

TEST(DeviceSource, KnowsTwoLanguages) {
    EXPECT_THROW(device_source::print_for("fortran", {}), ValueError);
}

}  // namespace
}  // namespace composit::procedures
