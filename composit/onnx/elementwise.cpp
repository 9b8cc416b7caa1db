// Operators on elements: arithmetic, comparisons, logic, bits.
#include "composit/numpy/elementwise.h"

#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/operators.h"

#include <limits>

namespace composit::onnx {
namespace elementwise {
namespace {

using numpy::apply;

// Quotients of integers are cut off towards zero.
Values divide(Call& call) {
    const Tensor &a = call.tensor(0), &b = call.tensor(1);
    if (!ir::is_integer(a.dtype())) return {apply("divide", {a, b})};
    if (ir::is_unsigned_integer(a.dtype())) return {apply("floor_divide", {a, b})};
    return {apply("floor_divide", {a - apply("fmod", {a, b}), b})};
}

Values modulo(Call& call) {
    const Tensor &a = call.tensor(0), &b = call.tensor(1);
    const bool is_fmod = call.flag("fmod");
    return {apply(is_fmod ? "fmod" : "remainder", {a, b})};
}

// The result has the dtype of the base.
Values power(Call& call) {
    const Tensor &base = call.tensor(0), &exponent = call.tensor(1);
    const DType dtype = base.dtype();
    const bool is_one_number =
        ir::is_constant(exponent.node()) && exponent.size() == 1 && exponent.rank() <= base.rank();
    if (ir::is_floating(dtype) && is_one_number) return {numpy::raised(base, call.known_number(1))};
    if (ir::is_floating(dtype) || ir::is_integer(exponent.dtype()))
        return {apply("power", {base, numpy::astype(exponent, dtype)})};
    const Tensor wide = numpy::astype(base, DType::float64);
    return {numpy::astype(apply("power", {wide, numpy::astype(exponent, DType::float64)}), dtype)};
}

Tensor folded(std::string_view row, const std::vector<Tensor>& tensors) {
    Tensor result = tensors[0];
    for (size_t i = 1; i < tensors.size(); ++i) result = apply(row, {result, tensors[i]});
    return result;
}

template <RowName row>
Values of_all(Call& call) {
    return {folded(row.text, call.tensors())};
}

Values mean(Call& call) {
    const std::vector<Tensor> tensors = call.tensors();
    return {folded("add", tensors) / static_cast<int64_t>(tensors.size())};
}

// Bounds: attributes before opset 11, tensors of one element since then.
Values clip(Call& call) {
    const Tensor& x = call.tensor(0);
    numpy::Operand low, high;
    if (call.opset() < 11) {
        const double least = std::numeric_limits<float>::lowest();
        low = call.number("min", least);
        high = call.number("max", -least);
    } else {
        if (call.has(1)) low = numpy::reshape(call.tensor(1), {});
        if (call.has(2)) high = numpy::reshape(call.tensor(2), {});
    }
    return {low || high ? numpy::clip(x, low, high) : x};
}

Values is_infinite(Call& call) {
    const Tensor& x = call.tensor(0);
    const bool positive = call.flag("detect_positive", true);
    const bool negative = call.flag("detect_negative", true);
    const double infinity = std::numeric_limits<double>::infinity();
    if (positive && negative) return {apply("isinf", {x})};
    if (positive) return {apply("equal", {x, infinity})};
    if (negative) return {apply("equal", {x, -infinity})};
    return {numpy::full_like(x, false, DType::boolean)};
}

Values shift(Call& call) {
    const std::string direction = call.text("direction");
    call.check(direction == "LEFT" || direction == "RIGHT", "direction is '", direction,
               "'. LEFT or RIGHT is required.");
    return {apply(direction == "LEFT" ? "left_shift" : "right_shift",
                  {call.tensor(0), call.tensor(1)})};
}

Values equal(Call& call) {
    if (!call.value(0).is_strings()) return {apply("equal", {call.tensor(0), call.tensor(1)})};
    const Strings &a = call.strings(0), &b = call.strings(1);
    const Shape shape = numpy::broadcast_shapes({a.shape, b.shape});
    const auto positions = [&](const Strings& strings) {
        const auto count = static_cast<int64_t>(strings.elements.size());
        return call.known(
            numpy::broadcast_to(numpy::reshape(numpy::arange(count), strings.shape), shape));
    };
    const Array of_a = positions(a), of_b = positions(b);
    Array result(DType::boolean, shape);
    bool* out = static_cast<bool*>(result.mutable_data());
    for (int64_t i = 0; i < result.size(); ++i)
        out[i] = a.elements[static_cast<size_t>(of_a.data_as<int64_t>()[i])] ==
                 b.elements[static_cast<size_t>(of_b.data_as<int64_t>()[i])];
    return {numpy::asarray(result)};
}

Values where(Call& call) {
    const Value &chosen = call.value(1), &other = call.value(2);
    if (chosen.is_strings() || other.is_strings())
        fail<NotSupported>("strings are chosen by condition. Numbers or bool are required.");
    const Tensor result = apply("where", {call.tensor(0), call.tensor(1), call.tensor(2)});
    return {Value(result, chosen.element())};
}

}  // namespace
}  // namespace elementwise

void add_elementwise(Registry& registry) {
    using namespace elementwise;
    registry.add("Abs", unary_row<"absolute">);
    registry.add("Acos", unary_row<"arccos">);
    registry.add("Acosh", unary_row<"arccosh">);
    registry.add("Asin", unary_row<"arcsin">);
    registry.add("Asinh", unary_row<"arcsinh">);
    registry.add("Atan", unary_row<"arctan">);
    registry.add("Atanh", unary_row<"arctanh">);
    registry.add("BitwiseNot", unary_row<"invert">);
    registry.add("Ceil", unary_row<"ceil">);
    registry.add("Cos", unary_row<"cos">);
    registry.add("Cosh", unary_row<"cosh">);
    registry.add("Erf", unary_row<"erf">);
    registry.add("Exp", unary_row<"exp">);
    registry.add("Floor", unary_row<"floor">);
    registry.add("IsNaN", unary_row<"isnan">);
    registry.add("Log", unary_row<"log">);
    registry.add("Neg", unary_row<"negative">);
    registry.add("Not", unary_row<"logical_not">, "", 1);
    registry.add("Reciprocal", unary_row<"reciprocal">);
    registry.add("Round", unary_row<"rint">);
    registry.add("Sign", unary_row<"sign">);
    registry.add("Sin", unary_row<"sin">);
    registry.add("Sinh", unary_row<"sinh">);
    registry.add("Sqrt", unary_row<"sqrt">);
    registry.add("Tan", unary_row<"tan">);
    registry.add("Tanh", unary_row<"tanh">);
    registry.add("Add", binary_row<"add">);
    registry.add("And", binary_row<"logical_and">);
    registry.add("BitwiseAnd", binary_row<"bitwise_and">);
    registry.add("BitwiseOr", binary_row<"bitwise_or">);
    registry.add("BitwiseXor", binary_row<"bitwise_xor">);
    registry.add("Greater", binary_row<"greater">);
    registry.add("GreaterOrEqual", binary_row<"greater_equal">);
    registry.add("Less", binary_row<"less">);
    registry.add("LessOrEqual", binary_row<"less_equal">);
    registry.add("Mul", binary_row<"multiply">);
    registry.add("Or", binary_row<"logical_or">);
    registry.add("Sub", binary_row<"subtract">);
    registry.add("Xor", binary_row<"logical_xor">);
    registry.add("BitShift", shift);
    registry.add("Clip", clip);
    registry.add("Div", divide);
    registry.add("Equal", equal);
    registry.add("IsInf", is_infinite);
    registry.add("Max", of_all<"maximum">);
    registry.add("Mean", mean);
    registry.add("Min", of_all<"minimum">);
    registry.add("Mod", modulo);
    registry.add("Pow", power);
    registry.add("Sum", of_all<"add">);
    registry.add("Where", where);
}

}  // namespace composit::onnx
