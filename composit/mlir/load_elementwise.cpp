// Elementwise operations of StableHLO and CHLO: JAX's primitives, most of them.
#include "composit/aten/special.h"
#include "composit/jax/primitives.h"
#include "composit/jax/rules.h"
#include "composit/mlir/building.h"

#include <algorithm>

namespace composit::mlir {
namespace {

// Operations that are a primitive of operands of one type. `kinds`: of their dtypes, i(ntegers),
// f(loats), c(omplex), b(ool).
struct SamePrimitive {
    std::string_view operation, primitive;
    size_t operands;
    std::string_view kinds;
};
constexpr SamePrimitive same_primitives[] = {
    {"stablehlo.abs", "abs", 1, "ifc"},
    {"stablehlo.add", "add", 2, "ifcb"},
    {"stablehlo.and", "and", 2, "ib"},
    {"stablehlo.atan2", "atan2", 2, "f"},
    {"stablehlo.cbrt", "cbrt", 1, "f"},
    {"stablehlo.ceil", "ceil", 1, "f"},
    {"stablehlo.complex", "complex", 2, "f"},
    {"stablehlo.cosine", "cos", 1, "fc"},
    {"stablehlo.count_leading_zeros", "clz", 1, "i"},
    {"stablehlo.divide", "div", 2, "ifc"},
    {"stablehlo.exponential", "exp", 1, "fc"},
    {"stablehlo.exponential_minus_one", "expm1", 1, "fc"},
    {"stablehlo.floor", "floor", 1, "f"},
    {"stablehlo.imag", "imag", 1, "fc"},
    {"stablehlo.is_finite", "is_finite", 1, "f"},
    {"stablehlo.log", "log", 1, "fc"},
    {"stablehlo.log_plus_one", "log1p", 1, "fc"},
    {"stablehlo.logistic", "logistic", 1, "fc"},
    {"stablehlo.maximum", "max", 2, "ifb"},
    {"stablehlo.minimum", "min", 2, "ifb"},
    {"stablehlo.multiply", "mul", 2, "ifcb"},
    {"stablehlo.negate", "neg", 1, "ifc"},
    {"stablehlo.not", "not", 1, "ib"},
    {"stablehlo.or", "or", 2, "ib"},
    {"stablehlo.popcnt", "population_count", 1, "i"},
    {"stablehlo.power", "pow", 2, "ifc"},
    {"stablehlo.real", "real", 1, "fc"},
    {"stablehlo.remainder", "rem", 2, "if"},
    {"stablehlo.rsqrt", "rsqrt", 1, "fc"},
    {"stablehlo.shift_left", "shift_left", 2, "i"},
    {"stablehlo.shift_right_arithmetic", "shift_right_arithmetic", 2, "i"},
    {"stablehlo.shift_right_logical", "shift_right_logical", 2, "i"},
    {"stablehlo.sign", "sign", 1, "ifc"},
    {"stablehlo.sine", "sin", 1, "fc"},
    {"stablehlo.sqrt", "sqrt", 1, "fc"},
    {"stablehlo.subtract", "sub", 2, "ifc"},
    {"stablehlo.tan", "tan", 1, "fc"},
    {"stablehlo.tanh", "tanh", 1, "fc"},
    {"stablehlo.xor", "xor", 2, "ib"},
    {"chlo.acos", "acos", 1, "fc"},
    {"chlo.acosh", "acosh", 1, "fc"},
    {"chlo.asin", "asin", 1, "fc"},
    {"chlo.asinh", "asinh", 1, "fc"},
    {"chlo.atan", "atan", 1, "fc"},
    {"chlo.atanh", "atanh", 1, "fc"},
    {"chlo.bessel_i1e", "bessel_i1e", 1, "f"},
    {"chlo.conj", "conj", 1, "fc"},
    {"chlo.cosh", "cosh", 1, "fc"},
    {"chlo.digamma", "digamma", 1, "f"},
    {"chlo.erf", "erf", 1, "f"},
    {"chlo.erf_inv", "erf_inv", 1, "f"},
    {"chlo.erfc", "erfc", 1, "f"},
    {"chlo.lgamma", "lgamma", 1, "f"},
    {"chlo.next_after", "nextafter", 2, "f"},
    {"chlo.polygamma", "polygamma", 2, "f"},
    {"chlo.sinh", "sinh", 1, "fc"},
    {"chlo.square", "square", 1, "ifc"},
    {"chlo.tan", "tan", 1, "fc"},
    {"chlo.zeta", "zeta", 2, "f"},
};

char kind_of(DType dtype) {
    if (dtype == DType::boolean) return 'b';
    if (ir::is_complex(dtype)) return 'c';
    return ir::is_floating(dtype) ? 'f' : 'i';
}

// "Integers, floats", of kinds.
std::string words_of(std::string_view kinds) {
    std::vector<std::string> words;
    for (const char kind : kinds)
        words.emplace_back(kind == 'b'   ? "bools"
                           : kind == 'c' ? "complex numbers"
                           : kind == 'f' ? "floats"
                                         : "integers");
    words[0][0] = static_cast<char>(words[0][0] - 'a' + 'A');
    return join(words);
}

void check_alike(const Site& site, size_t operands, std::string_view kinds) {
    site.check_operands(operands);
    const Tensor& x = site.x[0];
    site.check<TypeError>(kinds.find(kind_of(x.dtype())) != std::string_view::npos,
                          "an operand is ", x.type(), ". ", words_of(kinds), " are required.");
    for (const Tensor& other : site.x)
        site.check<TypeError>(other.dtype() == x.dtype() && other.shape() == x.shape(),
                              "operands are ", x.type(), " and ", other.type(),
                              ". Equal types are required.");
}

Tensors applied(const Site& site, std::string_view primitive) {
    return jax::apply(primitive, site.x, {});
}

// Both operands in the shape of the result, CHLO's broadcast_… .
// The axes of the operand with fewer ones are
// those of the result that broadcast_dimensions says, else its last ones.
Tensor spread(const Site& site, const Tensor& x) {
    const bool is_open = syntax::is_open(site.result().shape);
    const Shape shape =
        is_open ? ops::broadcast_shapes("broadcast", {site.x[0].shape(), site.x[1].shape()})
                : site.result().shape;
    const auto rank = static_cast<int64_t>(shape.size());
    site.check(x.rank() <= rank, "an operand is ", x.type(), ", the result ",
               type_text(site.result()), ". At most as many axes are required.");
    const bool is_shorter = x.rank() < std::max(site.x[0].rank(), site.x[1].rank());
    Tensor placed = x;
    if (is_shorter && site.find({"broadcast_dimensions"})) {
        const Axes axes = site.integers({"broadcast_dimensions"});
        site.checked_axes(axes, rank, "broadcast_dimensions");
        site.check(static_cast<int64_t>(axes.size()) == x.rank() && std::ranges::is_sorted(axes),
                   "broadcast_dimensions is ", axes, " for ", x.type(),
                   ". An axis of the result for each of the operand's, in their order, is "
                   "required.");
        Shape apart(shape.size(), 1);
        for (size_t d = 0; d < axes.size(); ++d) apart[static_cast<size_t>(axes[d])] = x.shape()[d];
        placed = ops::reshape(x, apart);
    }
    site.check(ops::broadcast_shapes("broadcast", {placed.shape(), shape}) == shape,
               "an operand is ", x.type(), ", the result ", type_text(site.result()),
               ". Shapes that go together are required.");
    return ops::broadcast_to(placed, shape);
}

Tensor compared(const Site& site, const Tensor& a, const Tensor& b) {
    const auto word = [&](size_t i, std::string_view attribute) {
        if (i < site.operation.words.size()) return site.operation.words[i];
        return site.word_or({attribute}, "");
    };
    const std::string direction = word(0, "comparison_direction"), kind = word(1, "compare_type");
    const struct {
        std::string_view direction, primitive, in_total_order;
    } directions[] = {{"EQ", "eq", "eq_to"}, {"NE", "ne", "eq_to"}, {"LT", "lt", "lt_to"},
                      {"LE", "le", "le_to"}, {"GT", "gt", "lt_to"}, {"GE", "ge", "le_to"}};
    for (const auto& each : directions) {
        if (each.direction != direction) continue;
        if (kind != "TOTALORDER") return jax::apply(each.primitive, {a, b}, {})[0];
        const bool is_turned = direction[0] == 'G';
        const Tensor made =
            jax::apply(each.in_total_order, is_turned ? Tensors{b, a} : Tensors{a, b}, {})[0];
        return direction == "NE" ? ops::map("invert", {made}) : made;
    }
    fail("the direction is '", direction, "'. EQ, NE, LT, LE, GT or GE is required.");
}

// The first operand says for each element, or for all of them, which of the others it is.
Tensors selected(const Site& site) {
    site.check_operands(3);
    const Tensor &which = site.x[0], &yes = site.x[1], &no = site.x[2];
    site.check<TypeError>(which.dtype() == DType::boolean && yes.type() == no.type() &&
                              (which.rank() == 0 || which.shape() == yes.shape()),
                          "operands are ", which.type(), ", ", yes.type(), " and ", no.type(),
                          ". A bool for each element of two tensors of one type is required.");
    return jax::apply("select_n", {which, no, yes}, {});
}

Tensors clamped(const Site& site) {
    site.check_operands(3);
    const Tensor& x = site.x[1];
    for (const Tensor& bound : site.x)
        site.check<TypeError>(
            bound.dtype() == x.dtype() && (bound.rank() == 0 || bound.shape() == x.shape()),
            "a bound is ", bound.type(), " of ", x.type(),
            ". A bound for each element, or for all, is required.");
    return jax::apply("clamp", site.x, {});
}

Tensor whole_number(DType dtype, int64_t value) { return jax::integer_number(dtype, value); }

// Elements of other sizes: one is several small ones along an axis behind, the lowest bits first.
Tensor reread(const Site& site, const Tensor& x, DType dtype) {
    const int64_t size = ir::size_of(x.dtype()), wanted = ir::size_of(dtype);
    site.check<NotSupported>(!ir::is_complex(x.dtype()) && !ir::is_complex(dtype) &&
                                 x.dtype() != DType::boolean && dtype != DType::boolean,
                             "it converts ", element_type_text(x.dtype()), " to ",
                             element_type_text(dtype), ". Real numbers are required.");
    if (size == wanted) return ops::bitcast(x, dtype);
    const DType wide = ir::unsigned_of_size(std::max(size, wanted)),
                narrow = ir::unsigned_of_size(std::min(size, wanted));
    const int64_t count = std::max(size, wanted) / std::min(size, wanted);
    const Tensor shifts = ops::map("multiply", {ops::astype(ops::iota({count}, 0), wide),
                                                whole_number(wide, 8 * std::min(size, wanted))});
    if (wanted < size) {
        const Tensor all = jax::with_axes_behind(ops::bitcast(x, wide), x.shape().size() + 1);
        const Tensor parts = ops::astype(ops::map("right_shift", {all, shifts}), narrow);
        return ops::bitcast(parts, dtype);
    }
    site.check(x.rank() > 0 && x.shape().back() == count, "an operand is ", x.type(),
               ". A last axis of length ", count, " is required.");
    const Tensor parts =
        ops::map("left_shift", {ops::astype(ops::bitcast(x, narrow), wide), shifts});
    const Tensor sum = ops::reduce(ops::Combiner::sum, parts, {x.rank() - 1});
    return ops::bitcast(ops::astype(sum, wide), dtype);
}

Tensors of_reduced_precision(const Site& site) {
    site.check_operands(1);
    int64_t exponent = 0, mantissa = 0;
    if (site.find({"format"})) {  // e5m10
        const std::string format = site.word({"format"});
        const size_t m = format.find('m');
        const auto digits = [&](size_t from, size_t to) {
            const std::string part = format.substr(from, to - from);
            site.check(!part.empty() && part.size() < 3 &&
                           part.find_first_not_of("0123456789") == std::string::npos,
                       "the format is '", format, "'. One as e5m10 is required.");
            return static_cast<int64_t>(std::stoi(part));
        };
        site.check(format[0] == 'e' && m != std::string::npos, "the format is '", format,
                   "'. One as e5m10 is required.");
        exponent = digits(1, m);
        mantissa = digits(m + 1, format.size());
    } else {
        exponent = site.integer({"exponent_bits"});
        mantissa = site.integer({"mantissa_bits"});
    }
    check_alike(site, 1, "f");
    return jax::apply("reduce_precision", site.x,
                      {{"exponent_bits", exponent}, {"mantissa_bits", mantissa}});
}

LoadRule rounded(const char* method) {
    return [method](const Site& site) {
        check_alike(site, 1, "f");
        return jax::apply("round", site.x, {{"rounding_method", std::string(method)}});
    };
}

// x is an infinity: of that sign, or of any.
LoadRule is_infinity(int sign) {
    return [sign](const Site& site) {
        check_alike(site, 1, "f");
        const Tensor& x = site.x[0];
        if (sign != 0) return Tensors{ops::map("equal", {x, jax::extreme(x.dtype(), sign < 0)})};
        return Tensors{ops::map("isinf", {x})};
    };
}

}  // namespace

void add_elementwise_loads(LoadRules& rules) {
    for (const SamePrimitive& each : same_primitives)
        rules[each.operation] = [&each](const Site& site) {
            check_alike(site, each.operands, each.kinds);
            return applied(site, each.primitive);
        };
    // CHLO's forms whose operands are broadcast.
    constexpr struct {
        std::string_view operation, primitive;
    } broadcast[] = {
        {"chlo.broadcast_add", "add"},
        {"chlo.broadcast_and", "and"},
        {"chlo.broadcast_atan2", "atan2"},
        {"chlo.broadcast_divide", "div"},
        {"chlo.broadcast_maximum", "max"},
        {"chlo.broadcast_minimum", "min"},
        {"chlo.broadcast_multiply", "mul"},
        {"chlo.broadcast_next_after", "nextafter"},
        {"chlo.broadcast_or", "or"},
        {"chlo.broadcast_polygamma", "polygamma"},
        {"chlo.broadcast_power", "pow"},
        {"chlo.broadcast_remainder", "rem"},
        {"chlo.broadcast_subtract", "sub"},
        {"chlo.broadcast_xor", "xor"},
        {"chlo.broadcast_zeta", "zeta"},
        {"chlo.broadcast_complex", "complex"},
        {"chlo.broadcast_shift_left", "shift_left"},
        {"chlo.broadcast_shift_right_arithmetic", "shift_right_arithmetic"},
        {"chlo.broadcast_shift_right_logical", "shift_right_logical"},
    };
    for (const auto& each : broadcast)
        rules[each.operation] = [primitive = each.primitive](const Site& site) {
            site.check_operands(2);
            site.check<TypeError>(site.x[0].dtype() == site.x[1].dtype(), "operands are ",
                                  site.x[0].type(), " and ", site.x[1].type(),
                                  ". Equal dtypes are required.");
            return jax::apply(primitive, {spread(site, site.x[0]), spread(site, site.x[1])}, {});
        };
    rules["stablehlo.compare"] = [](const Site& site) {
        check_alike(site, 2, "ifcb");
        return Tensors{compared(site, site.x[0], site.x[1])};
    };
    rules["chlo.broadcast_compare"] = [](const Site& site) {
        site.check_operands(2);
        return Tensors{compared(site, spread(site, site.x[0]), spread(site, site.x[1]))};
    };
    rules["stablehlo.select"] = selected;
    rules["stablehlo.clamp"] = clamped;
    rules["stablehlo.round_nearest_afz"] = rounded("AWAY_FROM_ZERO");
    rules["stablehlo.round_nearest_even"] = rounded("TO_NEAREST_EVEN");
    rules["chlo.is_inf"] = is_infinity(0);
    rules["chlo.is_pos_inf"] = is_infinity(1);
    rules["chlo.is_neg_inf"] = is_infinity(-1);
    rules["stablehlo.reduce_precision"] = of_reduced_precision;
    rules["stablehlo.convert"] = [](const Site& site) {
        site.check_operands(1);
        return jax::apply("convert_element_type", site.x, {{"new_dtype", site.result().dtype}});
    };
    rules["stablehlo.bitcast_convert"] = [](const Site& site) {
        site.check_operands(1);
        return Tensors{reread(site, site.x[0], site.result().dtype)};
    };
    rules["stablehlo.optimization_barrier"] = [](const Site& site) { return site.x; };
}

}  // namespace composit::mlir
