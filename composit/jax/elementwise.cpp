// Elementwise primitives: rows of the scalar table, most of them.
#include "composit/aten/special.h"
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ir/dtype_traits.h"
#include "composit/ir/operation.h"
#include "composit/jax/rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace composit::jax {
namespace {

// Those that are one row, of as many operands.
struct SameRow {
    std::string_view primitive, row;
};
constexpr SameRow same_rows[] = {
    {"abs", "absolute"},
    {"acos", "arccos"},
    {"acosh", "arccosh"},
    {"add", "add"},
    {"add_any", "add"},
    {"and", "bitwise_and"},
    {"asin", "arcsin"},
    {"asinh", "arcsinh"},
    {"atan", "arctan"},
    {"atan2", "arctan2"},
    {"atanh", "arctanh"},
    {"cbrt", "cbrt"},
    {"ceil", "ceil"},
    {"complex", "as_complex"},
    {"conj", "conjugate"},
    {"cos", "cos"},
    {"cosh", "cosh"},
    {"digamma", "digamma"},
    {"eq", "equal"},
    {"erf", "erf"},
    {"erfc", "erfc"},
    {"exp", "exp"},
    {"exp2", "exp2"},
    {"expm1", "expm1"},
    {"floor", "floor"},
    {"ge", "greater_equal"},
    {"gt", "greater"},
    {"imag", "imag"},
    {"is_finite", "isfinite"},
    {"le", "less_equal"},
    {"lgamma", "lgamma"},
    {"log", "log"},
    {"log1p", "log1p"},
    {"logistic", "sigmoid"},
    {"lt", "less"},
    {"max", "maximum"},
    {"min", "minimum"},
    {"mul", "multiply"},
    {"ne", "not_equal"},
    {"neg", "negative"},
    {"nextafter", "nextafter"},
    {"not", "invert"},
    {"or", "bitwise_or"},
    {"real", "real"},
    {"sign", "sign"},
    {"sin", "sin"},
    {"sinh", "sinh"},
    {"sqrt", "sqrt"},
    {"square", "square"},
    {"sub", "subtract"},
    {"tan", "tan"},
    {"tanh", "tanh"},
    {"xor", "bitwise_xor"},
};

Tensor multiplied(const Tensor& a, const Tensor& b) { return ops::map("multiply", {a, b}); }

// By squaring: JAX multiplies, too.
Tensor integer_power(const Tensor& x, int64_t exponent) {
    const DType dtype = x.dtype();
    const Tensor one = number(dtype, 1);
    if (exponent == 0) return ops::full(x.shape(), one);
    if (exponent < 0) return ops::map("divide", {one, integer_power(x, -exponent)});
    Tensor result, square = x;
    for (int64_t rest = exponent; rest > 0; rest /= 2) {
        if (rest % 2 == 1) result = result ? multiplied(result, square) : square;
        if (rest > 1) square = multiplied(square, square);
    }
    return result;
}

// Whether integers are known, and none of them is 0: a constant, wherever its elements went.
bool has_no_zero(const Tensor& x) {
    const ir::Node* node = &x.node();
    while (node->operation().moves_elements && node->operands().size() == 1)
        node = &node->operand(0).node();
    constexpr int64_t most_looked_at = 4096;
    if (!ir::is_constant(*node) || ir::constant_value(*node).size() > most_looked_at) return false;
    const ir::Array values = ir::constant_value(*node);
    const auto* const bytes = static_cast<const char*>(values.data());
    const int64_t size = ir::size_of(values.dtype());
    for (int64_t i = 0; i < values.size(); ++i)
        if (std::all_of(bytes + i * size, bytes + (i + 1) * size, [](char b) { return b == 0; }))
            return false;
    return true;
}

// Whether integers are 0, and 1 in place of those that are.
std::pair<Tensor, Tensor> without_zeros(const Tensor& x) {
    const Tensor is_zero = ops::map("equal", {x, integer_number(x.dtype(), 0)});
    return {is_zero, ops::map("where", {is_zero, integer_number(x.dtype(), 1), x})};
}

// Integers truncate; divided by 0 they have all bits set, as XLA has it.
Tensor quotient(const Tensor& a, const Tensor& b) {
    if (ir::is_inexact(a.dtype())) return ops::map("divide", {a, b});
    const auto divided = [&](const Tensor& by) {
        const Tensor whole = ops::map("subtract", {a, ops::map("fmod", {a, by})});
        return ops::map("floor_divide", {whole, by});
    };
    if (has_no_zero(b)) return divided(b);
    const auto [is_zero, divisor] = without_zeros(b);
    return ops::map("where", {is_zero, integer_number(a.dtype(), -1), divided(divisor)});
}

// Of integers divided by 0 the dividend.
Tensor remainder(const Tensor& a, const Tensor& b) {
    if (ir::is_inexact(a.dtype()) || has_no_zero(b)) return ops::map("fmod", {a, b});
    const auto [is_zero, divisor] = without_zeros(b);
    return ops::map("where", {is_zero, a, ops::map("fmod", {a, divisor})});
}

Tensor shifted_right_logically(const Tensor& x, const Tensor& count) {
    const DType wide = ir::unsigned_of_size(ir::size_of(x.dtype()));
    return ops::bitcast(ops::map("right_shift", {ops::bitcast(x, wide), ops::bitcast(count, wide)}),
                        x.dtype());
}

// The highest bit comes in, also of unsigned integers.
Tensor shifted_right_arithmetically(const Tensor& x, const Tensor& count) {
    const DType whole = ir::signed_of_size(ir::size_of(x.dtype()));
    return ops::bitcast(
        ops::map("right_shift", {ops::bitcast(x, whole), ops::bitcast(count, whole)}), x.dtype());
}

Tensor rounded_value(const Tensor& x, bool is_to_even) {
    if (is_to_even) return ops::map("rint", {x});
    // Halves go away from zero: trunc(x + copysign(largest below one half, x)).
    const Tensor half = ops::map("nextafter", {number(x.dtype(), 0.5), number(x.dtype(), 0)});
    return ops::map("trunc", {ops::map("add", {x, ops::map("copysign", {half, x})})});
}

Tensor converted_to(const Tensor& x, DType dtype) {
    if (ir::is_complex(x.dtype()) && !ir::is_complex(dtype))
        return converted_to(ops::map("real", {x}), dtype);
    if (!ir::is_floating(x.dtype()) || !ir::is_integer(dtype)) return ops::astype(x, dtype);
    // What does not fit becomes the integer next to it, and NaN 0. The bounds are powers of two,
    // which floats have (or infinity in their place).
    const bool is_signed = ir::is_signed_integer(dtype);
    const double bound = std::ldexp(1.0, 8 * ir::size_of(dtype) - (is_signed ? 1 : 0));
    const Tensor low = number(x.dtype(), is_signed ? -bound : 0), high = number(x.dtype(), bound);
    const Tensor is_above = ops::map("greater_equal", {x, high});
    const Tensor is_below = ops::map("less_equal", {x, low});
    const Tensor fits =
        ops::map("bitwise_and", {ops::map("less", {x, high}), ops::map("greater", {x, low})});
    const Tensor inside = ops::astype(ops::map("where", {fits, x, number(x.dtype(), 0)}), dtype);
    return ops::map("where", {is_above, extreme(dtype, false),
                              ops::map("where", {is_below, extreme(dtype, true), inside})});
}

// Which of the cases, a bool for two or an int32; the operands behind.
Tensor selected(const Tensors& x) {
    if (x[0].dtype() == DType::boolean) return ops::map("where", {x[0], x[2], x[1]});
    Tensor result = x.back();
    for (size_t k = x.size() - 2; k > 0; --k) {
        const Tensor is_this = ops::map(
            "less_equal", {x[0], integer_number(x[0].dtype(), static_cast<int64_t>(k) - 1)});
        result = ops::map("where", {is_this, x[k], result});
    }
    return result;
}

// digamma's derivative of an order that is known, and the same for all elements.
Tensor derivative_of_digamma(const Application& a) {
    constexpr const char* asked =
        "trace_jax: polygamma of an order that is computed from placeholders, or has several "
        "values. A number is required.";
    user_check<NotSupported>(!a.x[0].node().is_open() && a.x[0].size() > 0, asked);
    const Tensor order = ops::astype(a.x[0], DType::float64);
    const ir::Array known = execute::evaluate_and_keep({order})[0];
    const double* const orders = known.data_as<double>();
    const bool is_one =
        std::all_of(orders, orders + known.size(), [&](double each) { return each == orders[0]; });
    user_check<NotSupported>(is_one && orders[0] >= 0 && orders[0] < 1000, asked);
    return ops::astype(aten::polygamma(static_cast<int64_t>(orders[0]), a.x[1]), a.x[1].dtype());
}

// How many bits are 0 before the first 1.
Tensor leading_zeros(const Tensor& x) {
    const DType dtype = x.dtype(), wide = ir::unsigned_of_size(ir::size_of(dtype));
    Tensor filled = ops::bitcast(x, wide);
    for (int64_t reach = 1; reach < 8 * ir::size_of(dtype); reach *= 2)
        filled = ops::map("bitwise_or",
                          {filled, ops::map("right_shift", {filled, integer_number(wide, reach)})});
    const Tensor zeros = ops::map("bitwise_count", {ops::map("invert", {filled})});
    return ops::astype(zeros, dtype);
}

ApplyRule in_total_order(std::string_view row) {
    return [row](const Application& a) {
        return Tensors{ops::map(row, {total_order(a.x[0]), total_order(a.x[1])})};
    };
}

// With a mantissa and an exponent of so many bits: those of the dtypes that there are.
Tensor reduced_precision(const Application& a) {
    const int64_t exponent = a.integer("exponent_bits"), mantissa = a.integer("mantissa_bits");
    for (const ir::DTypeTraits& row : ir::all_traits())
        if (ir::is_floating(row.dtype) && row.format.has_infinity &&
            row.format.exponent_bits == exponent && row.format.mantissa_bits == mantissa)
            return ops::astype(ops::astype(a.x[0], row.dtype), a.x[0].dtype());
    fail<NotSupported>("trace_jax: reduce_precision to ", exponent, " bits of exponent and ",
                       mantissa, " of mantissa. The bits of a floating dtype are required.");
}

}  // namespace

Tensor total_order(const Tensor& x) {
    if (!ir::is_floating(x.dtype())) return x;
    const DType whole = ir::signed_of_size(ir::size_of(x.dtype()));
    const Tensor pattern = ops::bitcast(x, whole);
    const Tensor sign =
        ops::map("right_shift", {pattern, integer_number(whole, 8 * ir::size_of(whole) - 1)});
    const Tensor turned = ops::map("bitwise_and", {sign, extreme(whole, false)});
    return ops::map("bitwise_xor", {pattern, turned});
}

void add_elementwise_primitives(ApplyRules& rules) {
    for (const SameRow& each : same_rows)
        rules[each.primitive] = [row = each.row](const Application& a) {
            return Tensors{ops::map(row, a.x)};
        };
    for (const char* name : {"copy", "copy_p", "optimization_barrier", "device_put", "name",
                             "sharding_constraint", "mesh_cast"})
        rules[name] = [](const Application& a) { return a.x; };
    rules["div"] = [](const Application& a) { return Tensors{quotient(a.x[0], a.x[1])}; };
    rules["rem"] = [](const Application& a) { return Tensors{remainder(a.x[0], a.x[1])}; };
    rules["pow"] = [](const Application& a) {
        return Tensors{ops::map("power", {a.x[0], ops::astype(a.x[1], a.x[0].dtype())})};
    };
    rules["integer_pow"] = [](const Application& a) {
        return Tensors{integer_power(a.x[0], a.integer("y"))};
    };
    rules["rsqrt"] = [](const Application& a) {
        const Tensor& x = a.x[0];
        return Tensors{ops::map("divide", {number(x.dtype(), 1), ops::map("sqrt", {x})})};
    };
    rules["erf_inv"] = [](const Application& a) {
        const DType dtype = a.x[0].dtype();
        return Tensors{ops::astype(aten::erfinv(ops::astype(a.x[0], DType::float64)), dtype)};
    };
    rules["polygamma"] = [](const Application& a) { return Tensors{derivative_of_digamma(a)}; };
    rules["zeta"] = [](const Application& a) {
        return Tensors{ops::astype(aten::zeta(a.x[0], a.x[1]), a.x[1].dtype())};
    };
    rules["igamma"] = [](const Application& a) {
        return Tensors{ops::astype(aten::gammainc(a.x[0], a.x[1]), a.x[1].dtype())};
    };
    rules["igammac"] = [](const Application& a) {
        return Tensors{ops::astype(aten::gammaincc(a.x[0], a.x[1]), a.x[1].dtype())};
    };
    rules["regularized_incomplete_beta"] = [](const Application& a) {
        return Tensors{ops::astype(aten::betainc(a.x[0], a.x[1], a.x[2]), a.x[2].dtype())};
    };
    rules["bessel_i0e"] = [](const Application& a) {
        return Tensors{aten::modified_bessel_i(0, a.x[0], true)};
    };
    rules["bessel_i1e"] = [](const Application& a) {
        return Tensors{aten::modified_bessel_i(1, a.x[0], true)};
    };
    rules["eq_to"] = in_total_order("equal");
    rules["lt_to"] = in_total_order("less");
    rules["le_to"] = in_total_order("less_equal");
    rules["clz"] = [](const Application& a) { return Tensors{leading_zeros(a.x[0])}; };
    rules["round"] = [](const Application& a) {
        return Tensors{
            rounded_value(a.x[0], a.text_or("rounding_method", "") == "TO_NEAREST_EVEN")};
    };
    rules["population_count"] = [](const Application& a) {
        const DType dtype = a.x[0].dtype();
        const Tensor pattern = ops::bitcast(a.x[0], ir::unsigned_of_size(ir::size_of(dtype)));
        return Tensors{ops::astype(ops::map("bitwise_count", {pattern}), dtype)};
    };
    rules["shift_left"] = [](const Application& a) { return Tensors{ops::map("left_shift", a.x)}; };
    rules["shift_right_arithmetic"] = [](const Application& a) {
        return Tensors{shifted_right_arithmetically(a.x[0], a.x[1])};
    };
    rules["shift_right_logical"] = [](const Application& a) {
        return Tensors{shifted_right_logically(a.x[0], a.x[1])};
    };
    rules["convert_element_type"] = [](const Application& a) {
        return Tensors{converted_to(a.x[0], a.dtype("new_dtype"))};
    };
    rules["bitcast_convert_type"] = [](const Application& a) {
        return Tensors{ops::bitcast(a.x[0], a.dtype("new_dtype"))};
    };
    rules["reduce_precision"] = [](const Application& a) { return Tensors{reduced_precision(a)}; };
    rules["select_n"] = [](const Application& a) { return Tensors{selected(a.x)}; };
    rules["clamp"] = [](const Application& a) {
        return Tensors{ops::map("minimum", {ops::map("maximum", {a.x[1], a.x[0]}), a.x[2]})};
    };
}

}  // namespace composit::jax
