// Leaves: constants, Python's scalars and placeholders.
#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/check.h"
#include "composit/ir/node.h"
#include "composit/ir/operation.h"
#include "composit/ir/scalar/function.h"

#include <array>
#include <bit>
#include <cstring>

namespace composit::ir {
namespace {

void check_constant(const std::vector<Tensor>& operands, const Attributes& attributes) {
    check_operand_count("constant", operands, 0);
    const auto& value = checked_attribute<ConstantArray>("constant", attributes, "value");
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
            const auto& value = attributes.get<ConstantArray>("value");
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

// What the leaves of one Python number share.
struct Scalar {
    DType dtype = DType::boolean;
    uint64_t bits = 0;
    SharedAttributes attributes;  // null: no number yet
    SharedTypes types;
    Name name;
};

std::string text_of(DType dtype, uint64_t bits) {
    if (dtype == DType::boolean) return bits ? "True" : "False";
    if (dtype == DType::int64) return std::to_string(std::bit_cast<int64_t>(bits));
    return number_text(std::bit_cast<double>(bits));
}

Scalar make_scalar(DType dtype, uint64_t bits) {
    Array array(dtype, {});
    std::memcpy(array.mutable_data(), &bits, static_cast<size_t>(size_of(dtype)));
    return {dtype, bits, shared({{"value", std::move(array)}, {"weak", true}}),
            std::make_shared<const HashedTypes>(std::vector<TensorType>{{{}, dtype, true}}),
            Name("scalar_" + text_of(dtype, bits))};
}

// A program says the same few numbers again and again: the ones of late are kept.
Tensor weak_leaf(DType dtype, uint64_t bits) {
    constexpr size_t kept = 64;
    thread_local std::array<Scalar, kept> lately;
    Scalar& scalar = lately[hash_combine(static_cast<uint64_t>(dtype), bits) % kept];
    if (!scalar.attributes || scalar.bits != bits || scalar.dtype != dtype)
        scalar = make_scalar(dtype, bits);
    return {make_typed_node(constant_operation(), {}, scalar.attributes, scalar.types, scalar.name),
            0};
}

}  // namespace

Tensor constant(Array value, std::string_view name) {
    return make(constant_operation(), {}, {{"value", std::move(value)}}, name);
}

Tensor weak_scalar(bool value) { return weak_leaf(DType::boolean, value ? 1 : 0); }
Tensor weak_scalar(int64_t value) { return weak_leaf(DType::int64, static_cast<uint64_t>(value)); }
Tensor weak_scalar(double value) {
    return weak_leaf(DType::float64, std::bit_cast<uint64_t>(value));
}

Tensor weak_scalar(std::complex<double> value) {
    const std::string imaginary = number_text(value.imag());
    const bool has_sign = imaginary[0] == '-';
    return make(constant_operation(), {},
                {{"value", Array::of<std::complex<double>>(DType::complex128, {}, {value})},
                 {"weak", true}},
                text("scalar_", number_text(value.real()), has_sign ? "" : "+", imaginary, "j"));
}

Tensor input(std::string_view name, DType dtype, Shape shape) {
    return make(input_operation(), {}, {{"dtype", dtype}, {"shape", std::move(shape)}}, name);
}

bool is_constant(const Node& node) { return &node.operation() == &constant_operation(); }
bool is_input(const Node& node) { return &node.operation() == &input_operation(); }
const ConstantArray& constant_array(const Node& node) {
    return node.attributes().get<ConstantArray>("value");
}
Array constant_value(const Node& node) { return constant_array(node).value(); }

}  // namespace composit::ir
