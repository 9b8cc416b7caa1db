// Rows of the scalar table: StableHLO's operation where there is one of the same meaning, else the
// row's expression (expression.cpp), as a function of its own where it is long.
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/mlir/graph_printer.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace composit::mlir {
namespace {

using ir::scalar::Row;
using X = const Values&;
using RowRule = Value (*)(Writer&, X);

// The operations that take one operand, or two, of one inexact dtype and give it.
struct Same {
    std::string_view row, operation;
    bool takes_complex = false;
};
constexpr Same same[] = {
    {"exp", "exponential", true},
    {"expm1", "exponential_minus_one"},
    {"log", "log", true},
    {"log1p", "log_plus_one"},
    {"sigmoid", "logistic"},
    {"sqrt", "sqrt", true},
    {"cbrt", "cbrt"},
    {"sin", "sine", true},
    {"cos", "cosine", true},
    {"tan", "tan"},
    {"tanh", "tanh", true},
    {"arctan2", "atan2"},
    {"power", "power"},
    {"float_power", "power"},
    {"ceil", "ceil"},
    {"floor", "floor"},
    {"rint", "round_nearest_even"},
    {"sign", "sign"},
    {"fabs", "abs"},
    {"divide", "divide", true},
    {"fmod", "remainder"},
};
// The same of CHLO, the dialect beside StableHLO for functions that readers write out.
constexpr Same of_chlo[] = {
    {"arcsin", "asin"},   {"arccos", "acos"},   {"arctan", "atan"},   {"arcsinh", "asinh"},
    {"arccosh", "acosh"}, {"arctanh", "atanh"}, {"sinh", "sinh"},     {"cosh", "cosh"},
    {"erf", "erf"},       {"erfc", "erfc"},     {"lgamma", "lgamma"}, {"digamma", "digamma"},
};
// The same for all dtypes but bool.
constexpr Same for_numbers[] = {
    {"subtract", "subtract", true},
    {"maximum", "maximum"},
    {"minimum", "minimum"},
};
// For integers and bool.
constexpr Same for_bits[] = {
    {"bitwise_and", "and"},
    {"bitwise_or", "or"},
    {"bitwise_xor", "xor"},
    {"invert", "not"},
};
constexpr Same for_bools[] = {
    {"add", "or"},          {"multiply", "and"},    {"logical_and", "and"}, {"logical_or", "or"},
    {"logical_xor", "xor"}, {"logical_not", "not"}, {"maximum", "or"},      {"minimum", "and"},
};
constexpr Same comparisons[] = {
    {"equal", "EQ", true}, {"not_equal", "NE", true}, {"less", "LT"},
    {"less_equal", "LE"},  {"greater", "GT"},         {"greater_equal", "GE"},
};

Value same_operation(Writer& out, std::string_view operation, X x) {
    return x.size() == 1 ? out.unary(operation, x[0]) : out.binary(operation, x[0], x[1]);
}

Value scaled(Writer& out, const Value& x, double factor) {
    return out.binary("multiply", x, out.number(x.type(), factor));
}

// log(base**a + base**b): the greater one, and what the other adds. Equal infinities are that.
Value log_of_sum(Writer& out, X x, double base) {
    const Value greater = out.binary("maximum", x[0], x[1]);
    const Value apart = out.select(out.compare("EQ", x[0], x[1]), out.number(x[0].type(), 0),
                                   out.unary("abs", out.binary("subtract", x[0], x[1])));
    const Value part = out.unary("exponential", scaled(out, apart, -std::log(base)));
    return out.binary("add", greater,
                      scaled(out, out.unary("log_plus_one", part), 1 / std::log(base)));
}

struct Formula {
    RowRule rule;
    bool needs_inexact = false, takes_complex = false;
    // Whether it is near to the row alone: then it is a function with the row's name.
    bool is_near = false;
};

const std::map<std::string_view, Formula>& formulas() {
    static const std::map<std::string_view, Formula> all = {
        {"add", {[](Writer& out, X x) { return out.binary("add", x[0], x[1]); }, false, true}},
        {"multiply",
         {[](Writer& out, X x) { return out.binary("multiply", x[0], x[1]); }, false, true}},
        {"square",
         {[](Writer& out, X x) { return out.binary("multiply", x[0], x[0]); }, false, true}},
        {"cube",
         {[](Writer& out, X x) {
              return out.binary("multiply", out.binary("multiply", x[0], x[0]), x[0]);
          },
          false, true}},
        {"negative", {[](Writer& out, X x) { return out.unary("negate", x[0]); }, false, true}},
        {"positive", {[](Writer&, X x) { return x[0]; }, false, true}},
        {"reciprocal",
         {[](Writer& out, X x) { return out.binary("divide", out.number(x[0].type(), 1), x[0]); },
          true, true}},
        {"absolute",
         {[](Writer& out, X x) {
              if (ir::is_unsigned_integer(x[0].dtype)) return x[0];
              if (!ir::is_complex(x[0].dtype)) return out.unary("abs", x[0]);
              return out.apply("abs", {x[0]}, "", {ir::real_part_of(x[0].dtype), x[0].shape});
          },
          false, true}},
        {"isfinite",
         {[](Writer& out, X x) {
              return out.apply("is_finite", {x[0]}, "", {DType::boolean, x[0].shape});
          },
          true}},
        {"isnan", {[](Writer& out, X x) { return out.compare("NE", x[0], x[0]); }, true}},
        {"where", {[](Writer& out, X x) { return out.select(x[0], x[1], x[2]); }, false, true}},
        {"clip", {[](Writer& out, X x) {
             return out.binary("minimum", out.binary("maximum", x[0], x[1]), x[2]);
         }}},
        {"relu",
         {[](Writer& out, X x) { return out.binary("maximum", out.number(x[0].type(), 0), x[0]); },
          true}},
        {"silu",
         {[](Writer& out, X x) {
              return out.binary("multiply", x[0], out.unary("logistic", x[0]));
          },
          true, false, true}},
        // x erfc(-x / sqrt(2)) / 2: no sum cancels.
        {"gelu",
         {[](Writer& out, X x) {
              const Value area = out.chlo("erfc", scaled(out, x[0], -std::numbers::sqrt2 / 2));
              return out.binary("multiply", scaled(out, x[0], 0.5), area);
          },
          true, false, true}},
        {"exp2",
         {[](Writer& out, X x) { return out.binary("power", out.number(x[0].type(), 2), x[0]); },
          true, false, true}},
        {"log2",
         {[](Writer& out, X x) { return scaled(out, out.unary("log", x[0]), std::numbers::log2e); },
          true, false, true}},
        {"log10",
         {[](Writer& out, X x) {
              return scaled(out, out.unary("log", x[0]), std::numbers::log10e);
          },
          true, false, true}},
        {"logaddexp",
         {[](Writer& out, X x) { return log_of_sum(out, x, std::numbers::e); }, true, false, true}},
        {"logaddexp2", {[](Writer& out, X x) { return log_of_sum(out, x, 2); }, true, false, true}},
        {"softplus",
         {[](Writer& out, X x) {
              return log_of_sum(out, {x[0], out.number(x[0].type(), 0)}, std::numbers::e);
          },
          true, false, true}},
        {"real", {[](Writer& out, X x) { return out.real(x[0]); }, false, true}},
        {"imag",
         {[](Writer& out, X x) {
              return ir::is_complex(x[0].dtype) ? out.imag(x[0]) : out.number(x[0].type(), 0);
          },
          false, true}},
        {"conjugate",
         {[](Writer& out, X x) {
              if (!ir::is_complex(x[0].dtype)) return x[0];
              return out.complex(out.real(x[0]), out.unary("negate", out.imag(x[0])));
          },
          false, true}},
        {"as_complex", {[](Writer& out, X x) { return out.complex(x[0], x[1]); }, true, true}},
        // Warnings are said by composit, not by other programs.
        {"remark_all_nan", {[](Writer&, X x) { return x[0]; }, false, true}},
        {"remark_empty", {[](Writer&, X x) { return x[0]; }, false, true}},
        {"remark_degrees", {[](Writer&, X x) { return x[0]; }, false, true}},
    };
    return all;
}

template <size_t n>
const Same* find(const Same (&list)[n], std::string_view row) {
    const auto* const found =
        std::find_if(std::begin(list), std::end(list), [&](const Same& s) { return s.row == row; });
    return found == std::end(list) ? nullptr : found;
}

// Expressions with no more operations than that stand where they are used.
constexpr size_t most_inline_operations = 6;

}  // namespace

bool takes_complex(const Node& node) {
    const std::string& name = node.operation().name;
    if (name == "map") {
        const std::string& row = ops::specialisation_of(node).row->name;
        for (const Same* each : {find(same, row), find(for_numbers, row), find(comparisons, row)})
            if (each) return each->takes_complex;
        const auto formula = formulas().find(row);
        return formula != formulas().end() && formula->second.takes_complex;
    }
    if (name == "astype") return node.types()[0].dtype != DType::boolean;
    if (name == "reduce") {
        using ir::kernel::Combiner;
        const auto combiner = static_cast<Combiner>(node.attributes().get<int64_t>("combiner"));
        return combiner == Combiner::sum || combiner == Combiner::product;
    }
    return (node.operation().moves_elements && name != "sort") || name == "contract" ||
           name == "pad" || name == "scatter" || name == "with_slice" || name == "fold" ||
           name == "call" || name == "loop" || name == "stop_gradient" ||
           name == "refuse_gradient" || name == "gradient_where" || name == "with_values" ||
           name == "after" || name == "cholesky" || name == "solve" || name == "inv" ||
           name == "slogdet" || name == "transfer";
}

Value print_row(Writer& out, const Row& row, const Values& x) {
    const DType dtype = x.back().dtype;
    const Shape shape = x[0].shape;
    if (dtype == DType::boolean)
        if (const Same* each = find(for_bools, row.name))
            return same_operation(out, each->operation, x);
    if (ir::is_inexact(dtype))
        if (const Same* each = find(same, row.name)) return same_operation(out, each->operation, x);
    if (ir::is_floating(dtype))
        if (const Same* each = find(of_chlo, row.name)) return out.chlo(each->operation, x[0]);
    if (dtype != DType::boolean)
        if (const Same* each = find(for_numbers, row.name))
            return same_operation(out, each->operation, x);
    if (!ir::is_inexact(dtype))
        if (const Same* each = find(for_bits, row.name))
            return same_operation(out, each->operation, x);
    if (const Same* each = find(comparisons, row.name))
        if (x[0].dtype == x[1].dtype) return out.compare(each->operation, x[0], x[1]);
    const auto formula = formulas().find(row.name);
    const bool has_formula =
        formula != formulas().end() && (ir::is_inexact(dtype) || !formula->second.needs_inexact);
    if (has_formula && !formula->second.is_near) return formula->second.rule(out, x);
    std::vector<DType> dtypes;
    for (const Value& each : x) dtypes.push_back(each.dtype);
    const auto found = ir::scalar::find_row(row.name);
    const auto& special =
        ir::scalar::specialise(found ? found : std::make_shared<Row>(row), dtypes);
    const auto print = [&](const Values& operands) {
        return has_formula ? formula->second.rule(out, operands)
                           : print_expression(out, special.body, operands, shape);
    };
    const size_t operations = ir::scalar::topological_order({special.body}).size();
    if (!has_formula && operations <= most_inline_operations + x.size()) return print(x);
    const std::string key = "row " + special.symbol + type_text({DType::boolean, shape});
    if (!out.find(key)) {
        std::vector<Writer::Parameter> parameters;
        for (const Value& each : x) parameters.push_back({"x", each.type()});
        const Values inside =
            out.begin_function(has_formula ? row.name : special.symbol, parameters, false);
        out.keep(key, out.end_function({print(inside)}));
    }
    if (!found || ir::scalar::is_user_row(*found)) return out.call(*out.find(key), x)[0];
    return out.composite(row.name, "", *out.find(key), x)[0];
}

// Floats that no integer of the dtype is near to become others in StableHLO than in composit: a
// function under the operation's name, as which it is read again.
Value converted(Writer& out, const Value& given, DType dtype) {
    if (!ir::is_inexact(given.dtype) || !ir::is_integer(dtype)) return out.convert(given, dtype);
    const Value x = ir::is_complex(given.dtype) ? out.real(given) : given;
    const std::string key = "astype " + type_text(x.type()) + " " + element_type_text(dtype);
    if (!out.find(key)) {
        const std::string name = "astype_" + element_type_text(dtype);
        const Values inside = out.begin_function(name, {{"x", x.type()}}, false);
        out.keep(key, out.end_function({out.convert(inside[0], dtype)}));
    }
    return out.composite("astype", "", *out.find(key), {x})[0];
}

void add_elementwise_rules(PrintRules& rules) {
    rules["map"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        Writer& out = printer.out;
        const ir::scalar::Specialisation& special = ops::specialisation_of(node);
        const Shape& shape = node.types()[0].shape;
        Values same;
        for (size_t i = 0; i < x.size(); ++i) {
            const DType dtype = special.signature.operands[i];
            same.push_back(out.broadcast(
                out.convert(x[i], ir::is_short_float(dtype) ? DType::float32 : dtype), shape));
        }
        return Values{print_row(out, *special.row, same)};
    };
    rules["astype"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        return Values{converted(printer.out, x[0], node.types()[0].dtype)};
    };
    rules["bitcast"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        return Values{printer.out.bitcast(x[0], node.types()[0].dtype)};
    };
}

}  // namespace composit::mlir
