// Node and Tensor: what a program is.
//
// A Node applies an Operation to operands; it is immutable, reference-counted and registered
// nowhere. A Tensor is a node and an output index. The graph is the DAG that a tensor reaches.
// Making a node is O(1) in the graph's size, infers its types (so mistakes are reported on the line
// that made it), and two tensors share what they share.
#pragma once

#include "composit/base/ref.h"
#include "composit/ir/array.h"
#include "composit/ir/attribute.h"
#include "composit/ir/dtype.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace composit::ir {

struct Operation;  // operation.h
class Node;

struct TensorType {
    Shape shape;
    DType dtype = DType::float32;
    bool weak = false;  // a Python scalar: takes part in promotion by its kind only (NEP 50)

    bool operator==(const TensorType&) const = default;
};
std::ostream& operator<<(std::ostream& out, const TensorType& type);  // float32[2, 3]

// An interned text: equal texts share one address for the life of the process. Null is the empty
// text.
using Interned = const std::string*;
Interned intern(std::string_view text);

class Tensor {
  public:
    Tensor() = default;
    Tensor(Ref<Node> node, int output_index)
        : node_(std::move(node)), output_index_(output_index) {}

    explicit operator bool() const { return static_cast<bool>(node_); }
    const Node& node() const { return *node_; }
    const Ref<Node>& node_ref() const { return node_; }
    int output_index() const { return output_index_; }

    const TensorType& type() const;
    const Shape& shape() const;
    DType dtype() const;
    int rank() const { return static_cast<int>(shape().size()); }
    int64_t size() const { return element_count(shape()); }
    const std::string& name() const;  // the node's

    bool operator==(const Tensor&) const = default;  // the same node and output, not equal values

  private:
    Ref<Node> node_;
    int output_index_ = 0;
};

using Types = std::shared_ptr<const std::vector<TensorType>>;

class Node : public Counted<Node> {
  public:
    const Operation& operation() const { return *operation_; }
    const std::vector<Tensor>& operands() const { return operands_; }
    const Tensor& operand(int i) const { return operands_[static_cast<size_t>(i)]; }
    const Attributes& attributes() const;
    const std::vector<TensorType>& types() const { return *types_; }
    int output_count() const { return static_cast<int>(types_->size()); }
    const std::string& name() const;      // the user's, else empty
    const std::string& location() const;  // "train.py:12", else empty
    uint64_t structural_hash() const {
        return hash_;
    }  // operations, attributes, types, operands; no names, no leaf values

    // Frees iteratively.
    static void release(const Node* node);

  private:
    friend Ref<Node> make_node(const Operation&, std::vector<Tensor>, Attributes, std::string_view);
    friend Ref<Node> with_name(const Node&, std::string_view);
    Node() = default;
    ~Node() = default;

    const Operation* operation_ = nullptr;
    std::vector<Tensor> operands_;
    std::shared_ptr<const Attributes> attributes_;
    Types types_;
    Interned name_ = nullptr;
    Interned location_ = nullptr;
    uint64_t hash_ = 0;
};

// Infers types (throws what the operation's rule throws) and stamps the node with the current
// location.
Ref<Node> make_node(const Operation& operation, std::vector<Tensor> operands,
                    Attributes attributes = {}, std::string_view name = {});
// The usual case: the first output of a new node.
Tensor make(const Operation& operation, std::vector<Tensor> operands, Attributes attributes = {},
            std::string_view name = {});
// All outputs of a node.
std::vector<Tensor> outputs_of(const Ref<Node>& node);
// A node like `node`, with another name.
Ref<Node> with_name(const Node& node, std::string_view name);

// The user's source line that nodes made on this thread are stamped with, while the scope lives.
// Front doors set it.
class LocationScope {
  public:
    explicit LocationScope(Interned location);
    ~LocationScope();
    LocationScope(const LocationScope&) = delete;
    LocationScope& operator=(const LocationScope&) = delete;

  private:
    Interned previous_;
};
Interned current_location();

// ----- leaves
Tensor constant(Array value, std::string_view name = {});
Tensor weak_scalar(bool value);  // Python's scalars; named scalar_<value>
Tensor weak_scalar(int64_t value);
Tensor weak_scalar(double value);
Tensor input(std::string_view name, DType dtype, Shape shape);  // a placeholder
bool is_constant(const Node& node);
bool is_input(const Node& node);
const Array& constant_value(const Node& node);

// Nodes that `outputs` reach, operands before users, each once. Iterative; deterministic (depth
// first, operands in order).
std::vector<const Node*> topological_order(const std::vector<Tensor>& outputs);

}  // namespace composit::ir
