// Rows of the scalar table as ONNX's operators: one where there is one of the same meaning, else a
// formula of operators. Everything else is written as the row's expression (save_expression.cpp).
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/onnx/save_rules.h"
#include "composit/ops/ops.h"

#include <cmath>
#include <numbers>

namespace composit::onnx::saving {
namespace {

using ir::scalar::Row;
using X = const ManyWritten&;

// What formulas are written in.
struct Formula {
    GraphWriter& out;

    Written number(const Written& like, double value) const {
        return out.scalar(like.dtype, value);
    }
    Written add(const Written& a, const Written& b) const { return out.binary("Add", a, b); }
    Written sub(const Written& a, const Written& b) const { return out.binary("Sub", a, b); }
    Written mul(const Written& a, const Written& b) const { return out.binary("Mul", a, b); }
    Written div(const Written& a, const Written& b) const { return out.binary("Div", a, b); }
    Written add(const Written& a, double b) const { return add(a, number(a, b)); }
    Written mul(const Written& a, double b) const { return mul(a, number(a, b)); }
    Written less(const Written& a, double b) const { return out.compare("Less", a, number(a, b)); }
    Written is(const Written& a, double b) const { return out.compare("Equal", a, number(a, b)); }
    Written both(const Written& a, const Written& b) const { return out.compare("And", a, b); }
    Written any(const Written& a, const Written& b) const { return out.compare("Or", a, b); }
    Written no(const Written& a) const { return out.unary("Not", a); }
    Written where(const Written& c, const Written& a, const Written& b) const {
        return out.where(c, a, b);
    }
    Written nan(const Written& a) const { return out.add("IsNaN", {a}, {DType::boolean, a.shape}); }
    Written infinite(const Written& a) const {
        return out.add("IsInf", {a}, {DType::boolean, a.shape}, {},
                       ir::is_short_float(a.dtype) ? 20 : 10);
    }
    Written magnitude(const Written& a) const { return out.unary("Abs", a); }
    Written exp(const Written& a) const { return out.unary("Exp", a); }
    Written log(const Written& a) const { return out.unary("Log", a); }
    Written root(const Written& a) const { return out.unary("Sqrt", a); }

    // Whether the sign bit is set: -0 is found by its reciprocal. NaN have none here.
    Written negative(const Written& a) const {
        const Written reciprocal = out.unary("Reciprocal", a);
        return any(less(a, 0), less(reciprocal, 0));
    }
    Written truncated(const Written& a) const {
        return where(less(a, 0), out.unary("Ceil", a), out.unary("Floor", a));
    }
    // Kahan's: accurate for every x, as log(u) and u - 1 have the same error.
    Written log1p(const Written& x) const {
        const Written u = add(x, 1), behind = add(u, -1);
        const Written corrected = div(mul(log(u), x), behind);
        return where(any(is(u, 1), infinite(u)), where(is(u, 1), x, log(u)), corrected);
    }
    // 2 tanh(x / 2) / (1 - tanh(x / 2)) where exp(x) - 1 would cancel.
    Written expm1(const Written& x) const {
        const Written t = out.unary("Tanh", mul(x, 0.5));
        const Written small = div(mul(t, 2), sub(number(t, 1), t));
        return where(less(magnitude(x), 0.5), small, add(exp(x), -1));
    }
    // log(base**a + base**b): the greater one, and what the other adds.
    Written log_of_sum(const Written& a, const Written& b, double base) const {
        const Written apart = sub(a, b), d = where(out.compare("Equal", a, b), number(a, 0), apart);
        const Written scaled = mul(out.unary("Neg", magnitude(d)), std::log(base));
        return add(out.binary("Max", a, b), mul(log1p(exp(scaled)), 1 / std::log(base)));
    }
};

using Rule = Written (*)(const Formula&, X);

// The operators that take one operand, or two, of one dtype and give it.
struct Same {
    std::string_view row, operation;
};
constexpr Same same[] = {
    {"absolute", "Abs"},    {"fabs", "Abs"},        {"sqrt", "Sqrt"},
    {"exp", "Exp"},         {"log", "Log"},         {"sin", "Sin"},
    {"cos", "Cos"},         {"tan", "Tan"},         {"arcsin", "Asin"},
    {"arccos", "Acos"},     {"arctan", "Atan"},     {"sinh", "Sinh"},
    {"cosh", "Cosh"},       {"tanh", "Tanh"},       {"arcsinh", "Asinh"},
    {"arccosh", "Acosh"},   {"arctanh", "Atanh"},   {"ceil", "Ceil"},
    {"floor", "Floor"},     {"rint", "Round"},      {"reciprocal", "Reciprocal"},
    {"sign", "Sign"},       {"sigmoid", "Sigmoid"}, {"softplus", "Softplus"},
    {"relu", "Relu"},       {"erf", "Erf"},         {"subtract", "Sub"},
    {"divide", "Div"},      {"power", "Pow"},       {"float_power", "Pow"},
    {"maximum", "Max"},     {"minimum", "Min"},     {"logical_not", "Not"},
    {"logical_and", "And"}, {"logical_or", "Or"},   {"logical_xor", "Xor"},
};
constexpr Same comparisons[] = {
    {"equal", "Equal"},
    {"less", "Less"},
    {"less_equal", "LessOrEqual"},
    {"greater", "Greater"},
    {"greater_equal", "GreaterOrEqual"},
};

bool is_bool(X x) { return x[0].dtype == DType::boolean; }

const std::map<std::string_view, Rule>& formulas() {
    static const std::map<std::string_view, Rule> all = {
        {"add",
         [](const Formula& f, X x) { return f.out.binary(is_bool(x) ? "Or" : "Add", x[0], x[1]); }},
        {"multiply", [](const Formula& f,
                        X x) { return f.out.binary(is_bool(x) ? "And" : "Mul", x[0], x[1]); }},
        {"negative",
         [](const Formula& f, X x) {
             return ir::is_unsigned_integer(x[0].dtype) ? f.sub(f.number(x[0], 0), x[0])
                                                        : f.out.unary("Neg", x[0]);
         }},
        {"positive", [](const Formula&, X x) { return x[0]; }},
        {"conjugate", [](const Formula&, X x) { return x[0]; }},
        {"real", [](const Formula&, X x) { return x[0]; }},
        {"square", [](const Formula& f, X x) { return f.mul(x[0], x[0]); }},
        {"cube", [](const Formula& f, X x) { return f.mul(f.mul(x[0], x[0]), x[0]); }},
        {"fourth",
         [](const Formula& f, X x) {
             const auto square = f.mul(x[0], x[0]);
             return f.mul(square, square);
         }},
        {"three_halves", [](const Formula& f, X x) { return f.mul(x[0], f.root(x[0])); }},
        {"not_equal",
         [](const Formula& f, X x) { return f.no(f.out.compare("Equal", x[0], x[1])); }},
        {"isnan", [](const Formula& f, X x) { return f.nan(x[0]); }},
        {"isinf", [](const Formula& f, X x) { return f.infinite(x[0]); }},
        {"isfinite",
         [](const Formula& f, X x) { return f.no(f.any(f.nan(x[0]), f.infinite(x[0]))); }},
        {"signbit", [](const Formula& f, X x) { return f.negative(x[0]); }},
        {"where", [](const Formula& f, X x) { return f.where(x[0], x[1], x[2]); }},
        {"clip", [](const Formula& f,
                    X x) { return f.out.binary("Min", f.out.binary("Max", x[0], x[1]), x[2]); }},
        {"fmax",
         [](const Formula& f, X x) {
             const Written greater = f.out.binary("Max", x[0], x[1]);
             return f.where(f.nan(x[0]), x[1], f.where(f.nan(x[1]), x[0], greater));
         }},
        {"fmin",
         [](const Formula& f, X x) {
             const Written less = f.out.binary("Min", x[0], x[1]);
             return f.where(f.nan(x[0]), x[1], f.where(f.nan(x[1]), x[0], less));
         }},
        {"trunc", [](const Formula& f, X x) { return f.truncated(x[0]); }},
        {"modf_integer", [](const Formula& f, X x) { return f.truncated(x[0]); }},
        {"modf_fraction",
         [](const Formula& f, X x) {
             return f.where(f.infinite(x[0]), f.number(x[0], 0), f.sub(x[0], f.truncated(x[0])));
         }},
        {"copysign",
         [](const Formula& f, X x) {
             const Written size = f.magnitude(x[0]);
             return f.where(f.negative(x[1]), f.out.unary("Neg", size), size);
         }},
        {"heaviside",
         [](const Formula& f, X x) {
             const Written step = f.where(f.less(x[0], 0), f.number(x[0], 0), f.number(x[0], 1));
             return f.where(f.nan(x[0]), x[0], f.where(f.is(x[0], 0), x[1], step));
         }},
        {"fmod",
         [](const Formula& f, X x) {
             return f.out.add("Mod", x,
                              {x[0].dtype, ops::broadcast_shapes("fmod", {x[0].shape, x[1].shape})},
                              {integer_attribute("fmod", 1)});
         }},
        {"exp2",
         [](const Formula& f, X x) { return f.out.binary("Pow", f.number(x[0], 2), x[0]); }},
        {"log2", [](const Formula& f, X x) { return f.mul(f.log(x[0]), std::numbers::log2e); }},
        {"log10", [](const Formula& f, X x) { return f.mul(f.log(x[0]), std::numbers::log10e); }},
        {"log1p", [](const Formula& f, X x) { return f.log1p(x[0]); }},
        {"expm1", [](const Formula& f, X x) { return f.expm1(x[0]); }},
        {"logaddexp",
         [](const Formula& f, X x) { return f.log_of_sum(x[0], x[1], std::numbers::e); }},
        {"logaddexp2", [](const Formula& f, X x) { return f.log_of_sum(x[0], x[1], 2); }},
        {"silu", [](const Formula& f, X x) { return f.mul(x[0], f.out.unary("Sigmoid", x[0])); }},
        {"deg2rad", [](const Formula& f, X x) { return f.mul(x[0], std::numbers::pi / 180); }},
        {"rad2deg", [](const Formula& f, X x) { return f.mul(x[0], 180 / std::numbers::pi); }},
        {"cbrt",
         [](const Formula& f, X x) {
             const Written size = f.out.binary("Pow", f.magnitude(x[0]), f.number(x[0], 1.0 / 3));
             return f.where(f.less(x[0], 0), f.out.unary("Neg", size), size);
         }},
        // The greater one times the root of 1 + ratio**2: nothing overflows before the result does.
        {"hypot",
         [](const Formula& f, X x) {
             const Written a = f.magnitude(x[0]), b = f.magnitude(x[1]);
             const Written greater = f.out.binary("Max", a, b), less = f.out.binary("Min", a, b);
             const Written ratio = f.div(less, greater);
             const Written length = f.mul(greater, f.root(f.add(f.mul(ratio, ratio), 1)));
             return f.where(f.any(f.is(greater, 0), f.infinite(a)), a,
                            f.where(f.infinite(b), b, length));
         }},
        {"arctan2",
         [](const Formula& f, X x) {
             const Written &y = x[0], &along = x[1];
             const Written angle = f.out.unary("Atan", f.div(y, along));
             const Written half = f.number(y, std::numbers::pi);
             const Written turn = f.where(f.negative(y), f.out.unary("Neg", half), half);
             const Written turned = f.where(f.negative(along), f.add(angle, turn), angle);
             // 0 / 0 and infinity / infinity have angles of their own.
             const Written zeros = f.both(f.is(y, 0), f.is(along, 0));
             const Written both = f.both(f.infinite(y), f.infinite(along));
             const Written none =
                 f.where(f.negative(y), f.out.unary("Neg", f.number(y, 0)), f.number(y, 0));
             const Written at_zero = f.where(f.negative(along), turn, none);
             const Written quarter =
                 f.where(f.negative(along), f.mul(turn, 0.75), f.mul(turn, 0.25));
             return f.where(zeros, at_zero, f.where(both, quarter, turned));
         }},
        {"gelu_slope",
         [](const Formula& f, X x) {
             const Written bell = f.exp(f.mul(f.mul(x[0], x[0]), -0.5));
             const Written area =
                 f.mul(f.add(f.out.unary("Erf", f.mul(x[0], std::numbers::sqrt2 / 2)), 1), 0.5);
             const double scale = 1 / std::sqrt(2 * std::numbers::pi);
             return f.add(area, f.mul(f.mul(x[0], bell), scale));
         }},
        {"gelu",
         [](const Formula& f, X x) {
             if (f.out.may_use(20)) return f.out.unary("Gelu", x[0], 20);
             const Written area =
                 f.add(f.out.unary("Erf", f.mul(x[0], std::numbers::sqrt2 / 2)), 1);
             return f.mul(f.mul(x[0], area), 0.5);
         }},
        {"bitwise_and",
         [](const Formula& f, X x) {
             return f.out.binary(is_bool(x) ? "And" : "BitwiseAnd", x[0], x[1]);
         }},
        {"bitwise_or",
         [](const Formula& f, X x) {
             return f.out.binary(is_bool(x) ? "Or" : "BitwiseOr", x[0], x[1]);
         }},
        {"bitwise_xor",
         [](const Formula& f, X x) {
             return f.out.binary(is_bool(x) ? "Xor" : "BitwiseXor", x[0], x[1]);
         }},
        {"invert", [](const Formula& f,
                      X x) { return f.out.unary(is_bool(x) ? "Not" : "BitwiseNot", x[0]); }},
        // Warnings are said by programs, not by models.
        {"remark_all_nan", [](const Formula&, X x) { return x[0]; }},
        {"remark_empty", [](const Formula&, X x) { return x[0]; }},
        {"remark_degrees", [](const Formula&, X x) { return x[0]; }},
    };
    return all;
}

// Whether an operator of ONNX computes a row of numbers that are not floats.
bool takes_integers(std::string_view row) {
    for (const char* name : {"absolute", "sign", "subtract", "divide", "power", "maximum",
                             "minimum", "logical_not", "logical_and", "logical_or", "logical_xor"})
        if (row == name) return true;
    return false;
}

}  // namespace

Written save_row(GraphWriter& out, const Row& row, const ManyWritten& x) {
    const bool is_floating = ir::is_floating(x.back().dtype);
    const bool is_of_bools = x.back().dtype == DType::boolean;
    for (const Same& each : same) {
        if (each.row != row.name || !(is_floating || takes_integers(row.name))) continue;
        // Powers and quotients of integers, and orders of bools, have meanings of their own.
        if (!is_floating && (row.name == "power" || row.name == "divide")) break;
        if (is_of_bools && (row.name == "maximum" || row.name == "minimum"))
            return out.binary(row.name == "maximum" ? "Or" : "And", x[0], x[1]);
        if (x.size() == 1) return out.unary(each.operation, x[0]);
        return out.binary(each.operation, x[0], x[1]);
    }
    for (const Same& each : comparisons)
        if (each.row == row.name && (!is_of_bools || row.name == "equal"))
            return out.compare(each.operation, x[0], x[1]);
    const auto formula = formulas().find(row.name);
    const bool is_exact = row.name == "add" || row.name == "multiply" || row.name == "negative" ||
                          row.name == "positive" || row.name == "square" || row.name == "where" ||
                          row.name == "not_equal" || row.name == "cube" || row.name == "clip" ||
                          row.name.starts_with("bitwise") || row.name == "invert" ||
                          row.name.starts_with("remark") || row.name == "real" ||
                          row.name == "conjugate";
    if (formula != formulas().end() && (is_floating || is_exact))
        return formula->second(Formula{out}, x);
    std::vector<DType> dtypes;
    for (const Written& each : x) dtypes.push_back(each.dtype);
    const auto found = ir::scalar::find_row(row.name);
    const auto& specialised =
        ir::scalar::specialise(found ? found : std::make_shared<Row>(row), dtypes);
    return save_expression(out, specialised.body, x);
}

void add_elementwise_rules(SaveRules& rules) {
    rules["map"] = [](GraphSaver& saver, const Node& node, const ManyWritten& x) {
        const ir::scalar::Specialisation& row = ops::specialisation_of(node);
        ManyWritten cast;
        for (size_t i = 0; i < x.size(); ++i)
            cast.push_back(saver.out.cast(x[i], row.signature.operands[i]));
        const Written result = save_row(saver.out, *row.row, cast);
        // An expression that does not read all operands has not the shape of all.
        return ManyWritten{saver.out.broadcast(saver.out.cast(result, row.signature.result),
                                               node.types()[0].shape)};
    };
    rules["astype"] = [](GraphSaver& saver, const Node& node, const ManyWritten& x) {
        return ManyWritten{saver.out.cast(x[0], node.types()[0].dtype)};
    };
    rules["bitcast"] = [](GraphSaver& saver, const Node& node, const ManyWritten& x) {
        const DType dtype = node.types()[0].dtype;
        return ManyWritten{saver.out.add(
            "BitCast", {x[0]}, {dtype, x[0].shape},
            {integer_attribute("to", static_cast<int64_t>(element_type(dtype)))}, 26)};
    };
}

}  // namespace composit::onnx::saving
