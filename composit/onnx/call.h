// What an operator's function sees of a node: its inputs, attributes and outputs; and the registry
// of these functions.
//
//   Values leaky_relu(Call& call) {
//       return {nn::leaky_relu(call.tensor(0), call.number("alpha", 0.01))};
//   }
#pragma once

#include "composit/base/error.h"
#include "composit/onnx/model.h"
#include "composit/onnx/value.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::onnx {

class Builder;  // builder.h

// An operator asked for values that depend on a placeholder: they decide shapes. Whoever traces may
// make inputs constants, and build again.
class NeedsValue : public NotSupported {
  public:
    NeedsValue(const std::string& message, Tensor tensor)
        : NotSupported(message), tensor_(std::move(tensor)) {}
    [[nodiscard]] const Tensor& tensor() const { return tensor_; }

  private:
    Tensor tensor_;
};

class Call {
  public:
    // Attributes of the function around, which attributes of the node may refer to.
    using Bound = std::map<std::string, const Attribute*, std::less<>>;

    Call(Builder& builder, const Node& node, int64_t opset, Values inputs, const Bound* bound);

    [[nodiscard]] const Node& node() const { return *node_; }
    [[nodiscard]] const std::string& operation() const { return node_->operation; }
    // The version of the operator set of the node's domain.
    [[nodiscard]] int64_t opset() const { return opset_; }
    [[nodiscard]] Builder& builder() { return *builder_; }
    [[nodiscard]] const Bound* bound() const { return bound_; }

    // ----- inputs
    [[nodiscard]] size_t input_count() const { return inputs_.size(); }
    [[nodiscard]] bool has(size_t i) const {
        return i < inputs_.size() && !inputs_[i].is_nothing();
    }
    // The input, or nothing.
    [[nodiscard]] const Value& value(size_t i) const;
    // ValueError where the input is left out, TypeError where it is no tensor of numbers;
    // NeedsValue for strings that values of a placeholder choose.
    [[nodiscard]] const Tensor& tensor(size_t i) const;
    // An empty tensor where it is left out.
    [[nodiscard]] Tensor tensor_if_given(size_t i) const;
    // All inputs. ValueError where there is none.
    [[nodiscard]] std::vector<Tensor> tensors() const;
    // NeedsValue where values of a placeholder choose them.
    [[nodiscard]] const Strings& strings(size_t i) const;
    // The strings at places (int64; negative ones count from the end): chosen ones where the places
    // are not known. IndexError for other places, of chosen ones when they are evaluated.
    [[nodiscard]] Value strings_at(const Tensor& places,
                                   const std::vector<std::string>& texts) const;
    [[nodiscard]] const Values& sequence(size_t i) const;
    // The values of an input that decides a shape, or what is computed. NeedsValue where they
    // depend on a placeholder.
    [[nodiscard]] Array known(size_t i) const;
    [[nodiscard]] Array known(const Tensor& tensor) const;
    // The same as a constant.
    [[nodiscard]] Tensor known_tensor(size_t i) const;
    [[nodiscard]] std::vector<int64_t> known_integers(size_t i) const;
    [[nodiscard]] std::vector<double> known_numbers(size_t i) const;
    [[nodiscard]] int64_t known_integer(size_t i) const;
    // Of a tensor with one element, which may be a bool.
    [[nodiscard]] int64_t known_integer_of(const Tensor& tensor) const;
    [[nodiscard]] double known_number(size_t i) const;
    // Whether the values of a tensor do not depend on a placeholder.
    [[nodiscard]] static bool is_known(const Tensor& tensor);

    // ----- attributes: those given, or `missing`; TypeError where one is of another kind
    [[nodiscard]] bool has_attribute(std::string_view name) const;
    [[nodiscard]] int64_t integer(std::string_view name) const;  // ValueError where it is missing
    [[nodiscard]] int64_t integer(std::string_view name, int64_t missing) const;
    [[nodiscard]] bool flag(std::string_view name, bool missing = false) const {
        return integer(name, missing) != 0;
    }
    [[nodiscard]] double number(std::string_view name, double missing) const;
    [[nodiscard]] std::string text(std::string_view name, std::string_view missing = {}) const;
    [[nodiscard]] std::vector<int64_t> integers(std::string_view name) const;
    [[nodiscard]] std::vector<double> numbers(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
    [[nodiscard]] std::optional<Value> constant(std::string_view name) const;  // a tensor
    [[nodiscard]] const Graph& graph(std::string_view name) const;
    [[nodiscard]] const Type* type(std::string_view name) const;
    // The element type that an attribute has the number of.
    [[nodiscard]] ElementType element(std::string_view name, ElementType missing) const;
    // Axes of a tensor of that rank, not negative: an input, or an attribute; nothing where neither
    // is given.
    [[nodiscard]] std::optional<std::vector<int64_t>> axes(size_t input, std::string_view attribute,
                                                           int rank) const;
    // An axis of a tensor, not negative. ValueError out of range.
    [[nodiscard]] int64_t axis(int rank, int64_t missing, std::string_view name = "axis") const;

    // ----- outputs
    [[nodiscard]] size_t output_count() const { return node_->outputs.size(); }
    [[nodiscard]] bool wants(size_t i) const {
        return i < node_->outputs.size() && !node_->outputs[i].empty();
    }

    // ValueErrors, TypeErrors and refusals; the node is named by whoever builds.
    template <class E = ValueError, class... Parts>
    void check(bool condition, const Parts&... parts) const {
        user_check<E>(condition, parts...);
    }

  private:
    [[nodiscard]] const Attribute* find(std::string_view name) const;
    [[nodiscard]] const Attribute* find(std::string_view name, Attribute::Kind kind) const;

    Builder* builder_;
    const Node* node_;
    int64_t opset_;
    Values inputs_;
    const Bound* bound_;
};

// The values of a node's outputs; those behind the last may be left out.
using Operator = Values (*)(Call& call);

struct OperatorRecord {
    std::string domain, name;
    Operator build;
    int64_t first_opset;  // of the operator's domain
};

// All operators that composit builds, by domain and name.
class Registry {
  public:
    // Of ONNX's own domain operators are built from opset 7 on, unless they are older and have not
    // changed.
    void add(std::string_view name, Operator build, std::string_view domain = "",
             int64_t first_opset = 7);
    [[nodiscard]] const OperatorRecord* find(std::string_view domain, std::string_view name) const;
    [[nodiscard]] std::vector<OperatorRecord> all() const;  // by domain and name
    // The names of operators that are spelt like this one.
    [[nodiscard]] std::vector<std::string> nearest(std::string_view name) const;

  private:
    std::map<std::pair<std::string, std::string>, OperatorRecord> records_;
};
[[nodiscard]] const Registry& operators();

}  // namespace composit::onnx
