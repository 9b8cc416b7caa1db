// The table as a whole, its type rules, rows of users, and every row's slopes against differences.
#include "composit/ir/scalar/row.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/convert.h"
#include "composit/ir/scalar/function.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace composit::ir::scalar {
namespace {

using enum DType;

const std::vector<DType> real_dtypes{boolean, int8,   int16,   int32,    int64,   uint8,  uint16,
                                     uint32,  uint64, float16, bfloat16, float32, float64};
const double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

// The row's value in float64 (or in `dtype`).
double value(const std::string& name, std::vector<double> x, DType dtype = float64) {
    const RowRef found = row(name);
    const Specialisation& s = specialise(found, std::vector<DType>(x.size(), dtype));
    std::vector<Bits> bits;
    for (size_t i = 0; i < x.size(); ++i) bits.push_back(bits_of(s.signature.operands[i], x[i]));
    return value_of(s.signature.result, evaluate({s.body}, bits)[0]);
}

DType result_of(const std::string& name, std::vector<DType> operands) {
    return row(name)->types(name, operands).result;
}

TEST(Table, NamesAreUniqueAndEveryRowIsDocumented) {
    std::set<std::string> names;
    for (const RowRef& row : all_rows()) {
        EXPECT_FALSE(row->doc.empty()) << row->name;
        EXPECT_TRUE(names.insert(row->name).second) << row->name;
        for (const std::string& alias : row->aliases) {
            EXPECT_TRUE(names.insert(alias).second) << alias;
            EXPECT_EQ(find_row(alias), row);
        }
        const bool is_derived =
            row->name == "digamma";  // its derivative is derived from its definition
        EXPECT_EQ(static_cast<bool>(row->slopes), !row->is_piecewise_constant && !is_derived)
            << row->name;
    }
}

TEST(Table, UnknownNamesListNearOnes) {
    EXPECT_EQ(find_row("maximun"), nullptr);
    try {
        row("maximun");
        FAIL();
    } catch (const KeyError& error) {
        EXPECT_NE(std::string(error.what()).find("Did you mean maximum"), std::string::npos)
            << error.what();
    }
}

TEST(Table, EveryRowIsDefinedForEveryRealDtypeThatItsTypesAllow) {
    for (const RowRef& row : all_rows()) {
        for (DType dtype : real_dtypes) {
            const std::vector<DType> operands(static_cast<size_t>(row->arity), dtype);
            try {
                const Specialisation& s = specialise(row, operands);
                EXPECT_EQ(s.body.dtype(), s.signature.result) << s.symbol;
                EXPECT_EQ(&specialise(row, operands), &s);
            } catch (const TypeError&) {
            } catch (const NotSupported& error) {
                EXPECT_NE(std::string(error.what()).find("is not supported yet"), std::string::npos)
                    << row->name << ": " << error.what();
            }
        }
    }
}

TEST(Types, FollowNumpysLoops) {
    EXPECT_EQ(result_of("add", {int8, uint8}), int16);
    EXPECT_EQ(result_of("add", {int64, uint64}), float64);
    EXPECT_EQ(result_of("add", {boolean, boolean}), boolean);
    EXPECT_EQ(result_of("divide", {int8, int8}), float64);
    EXPECT_EQ(result_of("divide", {int8, float16}), float16);
    EXPECT_EQ(result_of("floor_divide", {boolean, boolean}), int8);
    EXPECT_EQ(result_of("exp", {int8}), float16);
    EXPECT_EQ(result_of("exp", {uint16}), float32);
    EXPECT_EQ(result_of("exp", {bfloat16}), bfloat16);
    EXPECT_EQ(result_of("absolute", {complex64}), float32);
    EXPECT_EQ(result_of("floor", {int32}), int32);
    EXPECT_EQ(result_of("bitwise_count", {int64}), uint8);
    EXPECT_EQ(result_of("where", {float32, int64, float32}), float64);
    EXPECT_EQ(row("where")->types("where", {float32, int8, int8}).operands[0], boolean);
    EXPECT_EQ(row("less")->types("less", {int8, uint64}).operands,
              (std::vector<DType>{int64, uint64}));
    EXPECT_EQ(row("ldexp")->types("ldexp", {float16, uint32}).operands,
              (std::vector<DType>{float16, int64}));
    EXPECT_THROW(result_of("bitwise_and", {int64, uint64}), TypeError);
    EXPECT_THROW(result_of("floor", {complex128}), TypeError);
    EXPECT_THROW(result_of("negative", {boolean}), TypeError);
    EXPECT_THROW(result_of("subtract", {boolean, boolean}), TypeError);
    EXPECT_EQ(result_of("subtract", {boolean, int8}), int8);
}

TEST(Rows, ComplexOnesHaveTheirSignature) {
    EXPECT_EQ(specialise(row("add"), {complex64, complex64}).signature.result, complex64);
    EXPECT_EQ(specialise(row("exp"), {complex128}).signature.result, complex128);
    EXPECT_EQ(specialise(row("absolute"), {complex128}).signature.result, float64);
    EXPECT_THROW(specialise(row("cbrt"), {complex128}), TypeError);
}

TEST(Rows, IntegerDivisionIsDefinedEverywhere) {
    const double least = std::numeric_limits<int32_t>::min();
    EXPECT_EQ(value("floor_divide", {7, 0}, int32), 0);
    EXPECT_EQ(value("remainder", {7, 0}, int32), 0);
    EXPECT_EQ(value("fmod", {7, 0}, uint8), 0);
    EXPECT_EQ(value("floor_divide", {least, -1}, int32), least);
    EXPECT_EQ(value("remainder", {least, -1}, int32), 0);
    EXPECT_EQ(value("floor_divide", {-7, 2}, int32), -4);
    EXPECT_EQ(value("remainder", {-7, 2}, int32), 1);
    EXPECT_EQ(value("remainder", {7, -2}, int32), -1);
    EXPECT_EQ(value("fmod", {-7, 2}, int32), -1);
    EXPECT_EQ(value("power", {-3, 5}, int8), -243 + 256);
    EXPECT_EQ(value("power", {2, 63}, uint64), 0x1p63);
    EXPECT_EQ(value("power", {-1, -3}, int64), -1);
    EXPECT_EQ(value("left_shift", {1, 200}, uint8), 0);
    EXPECT_EQ(value("right_shift", {-5, 200 - 256}, int8), -1);
    EXPECT_EQ(value("bitwise_count", {-128}, int8), 1);
}

TEST(Rows, ZerosAndNaNOfExtrema) {
    EXPECT_TRUE(std::signbit(value("maximum", {-0.0, 0.0})));
    EXPECT_FALSE(std::signbit(value("maximum", {0.0, -0.0})));
    EXPECT_TRUE(std::isnan(value("maximum", {1, nan})));
    EXPECT_TRUE(std::isnan(value("minimum", {nan, 1})));
    EXPECT_EQ(value("fmax", {nan, 1}), 1);
    EXPECT_EQ(value("fmin", {1, nan}), 1);
    EXPECT_TRUE(std::isnan(value("clip", {1, nan, 2})));
    EXPECT_TRUE(std::isnan(value("clip", {nan, 0, 2})));
    EXPECT_EQ(value("clip", {5, 3, 1}), 1);
    EXPECT_TRUE(std::isnan(value("relu", {nan})));
    EXPECT_FALSE(std::signbit(value("relu", {-0.0})));
}

TEST(Rows, ComparisonsAcrossSignsAreExact) {
    const auto compare = [](const char* name, DType left, int64_t a, DType right, int64_t b) {
        const Specialisation& s = specialise(row(name), {left, right});
        return evaluate({s.body}, {bits_of_integer(left, a), bits_of_integer(right, b)})[0][0] != 0;
    };
    EXPECT_TRUE(compare("less", int64, -1, uint64, 0));
    EXPECT_FALSE(compare("equal", int64, -1, uint64, -1));
    EXPECT_TRUE(compare("greater", uint64, -1, int64, -1));
    EXPECT_TRUE(compare("not_equal", uint64, -1, int64, -1));
    EXPECT_FALSE(compare("less_equal", uint64, 0, int64, -1));
}

TEST(Rows, LdexpRoundsOnce) {
    const auto load_exponent = [](double x, int n) {
        const Specialisation& s = specialise(row("ldexp"), {float64, int32});
        return value_of(float64,
                        evaluate({s.body}, {bits_of(float64, x), bits_of_integer(int32, n)})[0]);
    };
    for (double x : {1.0, -1.5, 0x1.fffffffffffffp0, 0x1.0000000000001p0, 0x1p-1074, 0x1.8p-1060,
                     infinity, 0.0})
        for (int n : {-2200, -1076, -1075, -1074, -1073, -1023, -54, -1, 0, 1, 52, 1023, 1024, 2046,
                      2098, 5000})
            EXPECT_EQ(load_exponent(x, n), std::ldexp(x, n)) << x << " " << n;
}

// Central differences in float64 over the row's domain, away from kinks.
void check_slopes(const RowRef& row) {
    const size_t arity = static_cast<size_t>(row->arity);
    const Specialisation& s = specialise(row, std::vector<DType>(arity, float64));
    if (!is_floating(s.signature.result)) return;
    std::vector<Expr> arguments;
    for (size_t i = 0; i < arity; ++i)
        arguments.push_back(Expr::argument(static_cast<int>(i), s.signature.operands[i]));
    const Expr y = Expr::call(row, arguments);
    const std::vector<Expr> slopes = slopes_of(row, arguments, y);
    for (int sample = 0; sample < 5; ++sample) {
        std::vector<Bits> x;
        std::vector<double> point;
        for (size_t i = 0; i < arity; ++i) {
            const Interval in =
                row->domain.empty() ? Interval() : row->domain[std::min(i, row->domain.size() - 1)];
            const double fraction =
                std::fmod(0.123 + 0.377 * sample + 0.291 * static_cast<double>(i), 1.0);
            point.push_back(in.low + (in.high - in.low) * fraction);
            x.push_back(bits_of(s.signature.operands[i], point.back()));
        }
        for (size_t i = 0; i < arity; ++i) {
            if (!is_floating(s.signature.operands[i])) continue;
            const double h = 1e-6;
            std::vector<Bits> above = x, below = x;
            above[i] = bits_of(float64, point[i] + h);
            below[i] = bits_of(float64, point[i] - h);
            const double difference = (value_of(float64, evaluate({y}, above)[0]) -
                                       value_of(float64, evaluate({y}, below)[0])) /
                                      (2 * h);
            const double slope = slopes[i] ? value_of(float64, evaluate({slopes[i]}, x)[0]) : 0;
            EXPECT_NEAR(slope, difference, 1e-6 * std::max(1.0, std::fabs(slope)))
                << row->name << " operand " << i;
        }
    }
}

TEST(Rows, SlopesAgreeWithDifferences) {
    for (const RowRef& row : all_rows()) {
        if (row->is_piecewise_constant || row->name == "nextafter" || row->name == "ldexp")
            continue;
        try {
            specialise(row, std::vector<DType>(static_cast<size_t>(row->arity), float64));
        } catch (const Error&) {
            continue;  // not a row of floats, or not supported yet, which is tested above
        }
        check_slopes(row);
    }
}

double contribution(const std::string& name, std::vector<double> x, double g, int operand) {
    std::vector<Expr> operands;
    const RowRef found = row(name);
    const Signature signature = found->types(name, std::vector<DType>(x.size(), float64));
    for (size_t i = 0; i < x.size(); ++i)
        operands.push_back(Expr::constant(signature.operands[i], x[i]));
    const Expr out = pull_back(found, operands, Expr::call(found, operands),
                               Expr::constant(float64, g), operand);
    return out ? value_of(float64, evaluate({out}, {})[0]) : 0;
}

TEST(PullBack, WhatIsNotChosenReceivesZeroEvenOfInfinity) {
    EXPECT_EQ(contribution("where", {1, 5, 6}, infinity, 2), 0);
    EXPECT_EQ(contribution("where", {0, 5, 6}, nan, 1), 0);
    EXPECT_EQ(contribution("where", {0, 5, 6}, infinity, 2), infinity);
    EXPECT_EQ(contribution("relu", {-1}, infinity, 0), 0);
    EXPECT_EQ(contribution("maximum", {1, 2}, infinity, 0), 0);
    EXPECT_EQ(contribution("clip", {5, 0, 1}, infinity, 0), 0);
}

TEST(PullBack, KinksHavePyTorchsValues) {
    EXPECT_EQ(contribution("relu", {0}, 1, 0), 0);
    EXPECT_EQ(contribution("absolute", {0}, 1, 0), 0);
    EXPECT_EQ(contribution("sqrt", {0}, 1, 0), infinity);
    EXPECT_EQ(contribution("maximum", {2, 2}, 1, 0), 0.5);
    EXPECT_EQ(contribution("minimum", {2, 2}, 1, 1), 0.5);
    EXPECT_EQ(contribution("clip", {1, 1, 2}, 1, 0), 1);
    EXPECT_EQ(contribution("clip", {2, 1, 2}, 1, 0), 1);
    EXPECT_EQ(contribution("copysign", {0, 1}, 1, 0), 0);
}

TEST(Users, RowsAreRegisteredReplacedAndToldApart) {
    const auto make = [](double factor) {
        Row row;
        row.name = "user_scale";
        row.aliases = {"user_scaled"};
        row.types = types::floating;
        row.doc = "a multiple";
        row.value = [factor](const std::vector<Expr>& x) { return x[0] * factor; };
        return row;
    };
    const RowRef first = register_row(make(2));
    EXPECT_TRUE(is_user_row(*first));
    EXPECT_FALSE(is_user_row(*row("exp")));
    EXPECT_EQ(value("user_scaled", {3}), 6);
    const Expr x = Expr::argument(0, float64);
    const uint64_t before = structural_hash({Expr::call(first, {x})});
    const RowRef second = register_row(make(5));
    EXPECT_EQ(find_row("user_scale"), second);
    EXPECT_EQ(value("user_scale", {3}), 15);
    EXPECT_NE(structural_hash({Expr::call(second, {x})}), before);
    EXPECT_NE(specialise(first, {float64}).symbol, specialise(second, {float64}).symbol);
    EXPECT_EQ(all_rows().back(), second);
    // Without slopes the derivative is derived from the definition.
    EXPECT_EQ(slopes_of(second, {x}, Expr())[0].value(), 5);

    Row taken = make(1);
    taken.name = "exp";
    EXPECT_THROW(register_row(taken), ValueError);
    taken.name = "user_other";
    taken.aliases = {"add"};
    EXPECT_THROW(register_row(taken), ValueError);
    EXPECT_EQ(find_row("user_other"), nullptr);
    taken.aliases = {};
    taken.value = {};
    EXPECT_THROW(register_row(taken), ValueError);
}

TEST(Convert, GivesWhatX86Gives) {
    const auto run = [](DType from, double x, DType to) {
        const Expr converted = convert(Expr::argument(0, from), to);
        return static_cast<int64_t>(
            evaluate({Expr::cast(converted, int64)}, {bits_of(from, x)})[0][0]);
    };
    for (DType from : {float16, float32, float64}) {
        EXPECT_EQ(run(from, 300.7, int8), 44);
        EXPECT_EQ(run(from, -300.7, uint8), 212);
        EXPECT_EQ(run(from, nan, int16), 0);
        EXPECT_EQ(run(from, infinity, int32), std::numeric_limits<int32_t>::min());
        EXPECT_EQ(run(from, -infinity, int64), std::numeric_limits<int64_t>::min());
        EXPECT_EQ(run(from, nan, uint32), 0);
        EXPECT_EQ(run(from, -1.5, uint32), 4294967295);
        EXPECT_EQ(run(from, infinity, uint64), 0);
        EXPECT_EQ(run(from, nan, uint64), std::numeric_limits<int64_t>::min());
        EXPECT_EQ(run(from, -2.5, uint64), -2);
        EXPECT_EQ(run(from, nan, boolean), 1);
    }
    EXPECT_EQ(run(float64, -2147483648.5, int32), -2147483648);
    EXPECT_EQ(run(float64, 1.2e19, uint64), static_cast<int64_t>(12000000000000000000u));
    EXPECT_EQ(run(float32, 3e9, uint32), 3000000000);
    EXPECT_EQ(run(float64, 5e9, uint32), 705032704);
}

}  // namespace
}  // namespace composit::ir::scalar
