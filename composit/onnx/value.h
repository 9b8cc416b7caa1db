// What flows along the edges of an ONNX graph while it is built: tensors, strings, sequences.
#pragma once

#include "composit/onnx/element_type.h"

#include <memory>
#include <string>
#include <vector>

namespace composit::onnx {

using ir::Array;
using ir::DType;
using ir::Shape;
using ir::Tensor;

// A tensor of strings. composit computes nothing of them later: they are known when a graph is
// built.
struct Strings {
    Shape shape;
    std::vector<std::string> elements;  // row-major
};

// Strings that values choose which are not known when a graph is built, as labels of classes:
// texts[places], elementwise.
struct ChosenStrings {
    Tensor places;  // int64, each within the texts
    std::vector<std::string> texts;
};

// The numbers of eight bits that floats were made of: (numbers - zero point) * scale.
struct Quantized {
    Tensor numbers;     // int8 or uint8
    Tensor scale;       // float32: one number, or one for each slice along the axis
    Tensor zero_point;  // of the numbers' dtype and the scale's shape; empty: 0
    int64_t axis = 0;
};

// A tensor with its ONNX type, strings, a sequence of values, or nothing: an optional that is
// empty, an input that is left out.
class Value {
  public:
    Value() = default;
    Value(Tensor tensor)  // NOLINT: a tensor is a value
        : element_(tensor ? onnx::element_type(tensor.dtype()) : ElementType::undefined),
          tensor_(std::move(tensor)) {}
    // A tensor of the type's carrier.
    Value(Tensor tensor, ElementType element) : element_(element), tensor_(std::move(tensor)) {}
    Value(Strings strings)  // NOLINT: strings are a value
        : element_(ElementType::string),
          strings_(std::make_shared<const Strings>(std::move(strings))) {}
    Value(ChosenStrings strings)  // NOLINT: strings are a value
        : element_(ElementType::string),
          chosen_(std::make_shared<const ChosenStrings>(std::move(strings))) {}
    [[nodiscard]] static Value sequence(std::vector<Value> parts) {
        Value value;
        value.parts_ = std::make_shared<const std::vector<Value>>(std::move(parts));
        return value;
    }

    [[nodiscard]] bool is_nothing() const { return !tensor_ && !strings_ && !chosen_ && !parts_; }
    [[nodiscard]] bool is_tensor() const { return static_cast<bool>(tensor_); }
    [[nodiscard]] bool is_strings() const { return strings_ != nullptr; }
    [[nodiscard]] bool is_chosen() const { return chosen_ != nullptr; }
    [[nodiscard]] bool is_sequence() const { return parts_ != nullptr; }

    [[nodiscard]] ElementType element() const { return element_; }
    // ----- TypeError for values of another kind: files decide which kind one is
    [[nodiscard]] const Tensor& tensor() const {
        if (!tensor_) refuse("A tensor of numbers or bool");
        return tensor_;
    }
    [[nodiscard]] const Strings& strings() const {
        if (!strings_) refuse("A tensor of known strings");
        return *strings_;
    }
    [[nodiscard]] const ChosenStrings& chosen() const {
        if (!chosen_) refuse("A tensor of chosen strings");
        return *chosen_;
    }
    [[nodiscard]] const std::vector<Value>& parts() const {
        if (!parts_) refuse("A sequence");
        return *parts_;
    }
    // What a tensor of floats was made of, where that is numbers of eight bits; or null.
    [[nodiscard]] const Quantized* quantized() const { return quantized_.get(); }
    [[nodiscard]] Value made_of(Quantized quantized) const {
        Value value = *this;
        value.quantized_ = std::make_shared<const Quantized>(std::move(quantized));
        return value;
    }
    // Of a tensor or strings.
    [[nodiscard]] const Shape& shape() const {
        if (is_nothing() || is_sequence()) refuse("A tensor");
        return strings_ ? strings_->shape : chosen_ ? chosen_->places.shape() : tensor_.shape();
    }

  private:
    [[noreturn]] void refuse(const char* required) const;

    ElementType element_ = ElementType::undefined;
    Tensor tensor_;
    std::shared_ptr<const Strings> strings_;
    std::shared_ptr<const ChosenStrings> chosen_;
    std::shared_ptr<const std::vector<Value>> parts_;
    std::shared_ptr<const Quantized> quantized_;
};
using Values = std::vector<Value>;

// "float32 (2, 3)", "a sequence of 3", "nothing"
[[nodiscard]] std::string description(const Value& value);

}  // namespace composit::onnx
