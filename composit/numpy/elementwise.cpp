// Rows of the scalar table applied by name.
#include "composit/numpy/elementwise.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/scalar/function.h"
#include "composit/numpy/power.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace composit::numpy {

namespace scalar = ir::scalar;

namespace {

std::vector<Tensor> tensors_of(const std::vector<Operand>& operands) {
    return {operands.begin(), operands.end()};
}

// The least or greatest value of a real dtype, as a 0-d constant.
Tensor limit(DType dtype, bool greatest) {
    if (!ir::is_integer(dtype)) {
        const double infinity = std::numeric_limits<double>::infinity();
        const double value = dtype == DType::boolean ? greatest : greatest ? infinity : -infinity;
        return ir::constant(Array::scalar(dtype, value));
    }
    const int bits = 8 * ir::size_of(dtype);
    uint64_t pattern = greatest ? ~uint64_t{0} >> (64 - bits) : 0;
    if (ir::is_signed_integer(dtype)) pattern = (uint64_t{1} << (bits - 1)) - (greatest ? 1 : 0);
    Array array(dtype, {});
    for (int byte = 0; byte < bits / 8; ++byte)
        static_cast<uint8_t*>(array.mutable_data())[byte] =
            static_cast<uint8_t>(pattern >> (8 * byte));
    return ir::constant(array);
}

double element(const Array& array, int64_t i) {
    scalar::Bits bits{};
    const auto size = static_cast<size_t>(ir::size_of(array.dtype()));
    std::memcpy(bits.data(), array.data_as<char>() + static_cast<size_t>(i) * size, size);
    return scalar::value_of(array.dtype(), bits);
}

// What NumPy raises when it meets such an exponent. One that is computed is computed now; those of
// placeholders are met by nobody.
void check_exponent(const Tensor& x, const Tensor& y) {
    const bool is_whole = ir::is_integer(result_type({x, y})) && ir::is_signed_integer(y.dtype());
    if (!is_whole || y.node().is_open() || x.size() == 0) return;
    const Array exponents = concrete("power", "the exponents", y);
    for (int64_t i = 0; i < exponents.size(); ++i)
        user_check(element(exponents, i) >= 0,
                   "Integers to negative integer powers are not allowed. (", element(exponents, i),
                   " at position ", i, " of the exponents)");
}

// Python's numbers as ldexp takes them: the operands have no dtype in common, so that they say
// nothing about each other. As NumPy, which looks for the first loop, but for bool exponents.
void settle_literals(std::vector<Tensor>& operands) {
    Tensor &x = operands[0], &exponent = operands[1];
    if (exponent.type().weak && !ir::is_inexact(exponent.dtype())) {
        check_integer_fits("ldexp", exponent, DType::int32);
        if (!x.type().weak) exponent = ops::astype(strong(exponent), DType::int32);
    }
    if (!x.type().weak || exponent.type().weak || !ir::is_integer(x.dtype())) return;
    const bool is_wide = exponent.dtype() == DType::boolean;
    x = ops::astype(strong(x), is_wide ? DType::float64 : DType::float16);
}

}  // namespace

int kind_rank(DType dtype) {
    if (ir::is_complex(dtype)) return 4;
    if (ir::is_floating(dtype)) return 3;
    if (ir::is_signed_integer(dtype)) return 2;
    return ir::is_unsigned_integer(dtype) ? 1 : 0;
}

std::string_view row_of_power(double exponent, DType exponents, DType base) {
    const bool is_inexact = ir::is_inexact(base);
    const bool is_integer = ir::is_integer(base) && ir::is_integer(exponents);
    const bool is_number = is_inexact || is_integer;
    const bool is_bool = base == DType::boolean && ir::is_integer(exponents);
    if (exponent == 2 && (is_number || is_bool)) return "square";
    if (exponent == 3 && is_number && !ir::is_complex(base)) return "cube";
    if (!is_inexact) return {};
    if (exponent == 0.5) return "sqrt";
    if (exponent == 1) return "positive";
    return exponent == -1 ? "reciprocal" : "";
}

Tensor raised(const Operand& x, const Operand& y) {
    const Tensor& base = x;
    const Tensor& exponent = y;
    const bool is_literal = exponent.type().weak && ir::is_constant(exponent.node()) &&
                            !ir::is_complex(exponent.dtype());
    if (!is_literal || base.type().weak) return apply("power", {x, y});
    const double value = element(ir::constant_value(exponent.node()), 0);
    const std::string_view same = row_of_power(value, exponent.dtype(), base.dtype());
    if (same.empty()) return apply("power", {x, y});
    return errors_as("power", [&] { return apply(same, {x}); });
}

Tensor apply(std::string_view row, const std::vector<Operand>& operands) {
    return apply_row(scalar::row(row), tensors_of(operands));
}

Tensor apply_row(const scalar::RowRef& row, std::vector<Tensor> operands) {
    static const scalar::RowRef& power = scalar::table_row("power");
    static const scalar::RowRef& where = scalar::table_row("where");
    static const scalar::RowRef& ldexp = scalar::table_row("ldexp");
    if (row == where && operands.size() == 3 && operands[1].type().weak &&
        operands[2].type().weak && !operands[0].type().weak) {
        // The condition's dtype says nothing about the result's.
        const auto both = promoted({operands[1], operands[2]});
        operands = {operands[0], both[0], both[1]};
    }
    if (row == ldexp && operands.size() == 2) settle_literals(operands);
    if (row != power || operands.size() != 2) return ops::map(row, std::move(operands));
    Tensor result = ops::map(row, operands);
    check_exponent(operands[0], operands[1]);
    return result;
}

Tensor apply(std::string_view row, const std::vector<Operand>& operands, DType dtype) {
    std::vector<Tensor> converted;
    if (row == "power" && operands.size() == 2 && ir::is_integer(dtype))
        check_exponent(operands[0], operands[1]);
    for (size_t i = 0; i < operands.size(); ++i) {
        const Tensor& x = operands[i];
        if (row == "ldexp" && i == 1) {  // exponents are integers in every loop
            converted.push_back(x);
            continue;
        }
        user_check<TypeError>(kind_rank(x.dtype()) <= kind_rank(dtype), "Cannot cast ufunc '", row,
                              "' input ", i, " from dtype('", x.dtype(), "') to dtype('", dtype,
                              "') with casting rule 'same_kind'");
        check_integer_fits(row, x, dtype);
        converted.push_back(ops::astype(x, dtype));
    }
    Tensor result = apply(row, {converted.begin(), converted.end()});
    user_check<TypeError>(result.dtype() == dtype,
                          "No loop matching the specified signature and casting was found for "
                          "ufunc ",
                          row, ": dtype=", dtype, " gives ", result.dtype(),
                          ". Leave dtype out and convert the result.");
    return result;
}

Tensor clip(const Operand& x, const Operand& low, const Operand& high) {
    if (!low && !high) return strong(x);
    std::vector<Tensor> given{x};
    for (const Operand& bound : {low, high})
        if (bound) given.push_back(bound);
    const DType dtype = result_type(given);
    for (const Tensor& bound : given) check_integer_fits("clip", bound, dtype);
    return apply("clip", {x, low ? low : Operand(limit(dtype, false)),
                          high ? high : Operand(limit(dtype, true))});
}

Tensor round(const Operand& x, int64_t decimals) {
    const Tensor value = strong(x);
    const bool is_whole = ir::is_integer(value.dtype());
    if (is_whole && decimals >= 0) return value;
    if (ir::is_complex(value.dtype()) && decimals != 0)
        return errors_as("round", [&] {
            return apply("as_complex", {round(apply("real", {value}), decimals),
                                        round(apply("imag", {value}), decimals)});
        });
    if (decimals == 0) return errors_as("round", [&] { return apply("rint", {value}); });
    user_check<TypeError>(value.dtype() != DType::boolean, "round: decimals is ", decimals,
                          " for dtype bool. 0, or a number's dtype, is required.");
    // Beyond this every power is infinite, or makes everything zero.
    constexpr int64_t most = 400;
    double power = 1;
    for (int64_t i = std::min(decimals < 0 ? -std::max(decimals, -most) : decimals, most); i > 0;
         --i)
        power *= 10;
    const Tensor wide = is_whole ? ops::astype(value, DType::float64) : value;
    const std::string_view there = decimals > 0 ? "multiply" : "divide";
    const std::string_view back = decimals > 0 ? "divide" : "multiply";
    const Tensor rounded = errors_as("round", [&] {
        return apply(back, {apply("rint", {apply(there, {wide, power})}), power});
    });
    return ops::astype(rounded, value.dtype());
}

std::vector<Tensor> divmod(const Operand& x1, const Operand& x2) {
    return errors_as("divmod", [&] {
        return std::vector<Tensor>{apply("divmod_quotient", {x1, x2}),
                                   apply("divmod_remainder", {x1, x2})};
    });
}

std::vector<Tensor> frexp(const Operand& x) {
    return errors_as("frexp", [&] {
        return std::vector<Tensor>{apply("frexp_mantissa", {x}), apply("frexp_exponent", {x})};
    });
}

std::vector<Tensor> modf(const Operand& x) {
    return errors_as("modf", [&] {
        return std::vector<Tensor>{apply("modf_fraction", {x}), apply("modf_integer", {x})};
    });
}

}  // namespace composit::numpy
