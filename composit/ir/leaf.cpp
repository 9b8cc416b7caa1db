// Leaves: constants, Python's scalars and placeholders.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ir/node.h"
#include "composit/ir/operation.h"
#include "composit/ir/scalar/function.h"

#include <cstring>

namespace composit::ir {
namespace {

void check_constant(const std::vector<Tensor>& operands, const Attributes& attributes) {
    check_operand_count("constant", operands, 0);
    const Array& value = checked_attribute<Array>("constant", attributes, "value");
    if (!attributes.has("weak")) return;
    const DType dtype = value.dtype();
    const bool is_python =
        dtype == DType::boolean || dtype == DType::int64 || dtype == DType::float64;
    user_check(value.shape().empty() && (is_python || dtype == DType::complex128),
               "constant: a Python scalar has type ", TensorType{value.shape(), dtype},
               ". A bool, int64, float64 or complex128 of no dimensions is required.");
}

void check_input(const std::vector<Tensor>& operands, const Attributes& attributes) {
    check_operand_count("input", operands, 0);
    checked_attribute<DType>("input", attributes, "dtype");
    check_shape("input", checked_attribute<std::vector<int64_t>>("input", attributes, "shape"));
}

const Operation& constant_operation() {
    static const Operation& operation = register_operation({
        .name = "constant",
        .doc = "An array that is part of the program; its values are not part of the plan's key.",
        .infer = [](const std::vector<Tensor>&,
                    const Attributes& attributes) -> std::vector<TensorType> {
            const Array& value = attributes.get<Array>("value");
            return {{value.shape(), value.dtype(), attributes.has("weak")}};
        },
        .lower = [](const Node&,
                    Lowering&) { internal_check(false, "leaves are bound, not lowered"); },
        .check = check_constant,
    });
    return operation;
}

const Operation& input_operation() {
    static const Operation& operation = register_operation({
        .name = "input",
        .doc = "A placeholder: a value given when the program is called.",
        .infer = [](const std::vector<Tensor>&,
                    const Attributes& attributes) -> std::vector<TensorType> {
            return {
                {attributes.get<std::vector<int64_t>>("shape"), attributes.get<DType>("dtype")}};
        },
        .lower = [](const Node&,
                    Lowering&) { internal_check(false, "leaves are bound, not lowered"); },
        .check = check_input,
    });
    return operation;
}

Tensor weak_constant(Array value, const std::string& text) {
    return make(constant_operation(), {}, {{"value", std::move(value)}, {"weak", true}},
                "scalar_" + text);
}

}  // namespace

Tensor constant(Array value, std::string_view name) {
    return make(constant_operation(), {}, {{"value", std::move(value)}}, name);
}

Tensor weak_scalar(bool value) {
    return weak_constant(Array::scalar(DType::boolean, value), value ? "True" : "False");
}

Tensor weak_scalar(int64_t value) {
    Array array(DType::int64, {});
    std::memcpy(array.mutable_data(), &value, sizeof value);
    return weak_constant(std::move(array), std::to_string(value));
}

Tensor weak_scalar(double value) {
    return weak_constant(Array::scalar(DType::float64, value), number_text(value));
}

Tensor input(std::string_view name, DType dtype, Shape shape) {
    return make(input_operation(), {}, {{"dtype", dtype}, {"shape", std::move(shape)}}, name);
}

bool is_constant(const Node& node) { return &node.operation() == &constant_operation(); }
bool is_input(const Node& node) { return &node.operation() == &input_operation(); }
const Array& constant_value(const Node& node) { return node.attributes().get<Array>("value"); }

}  // namespace composit::ir
