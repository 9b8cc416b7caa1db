#include "composit/ir/node.h"

#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace composit::ir {
namespace {

const std::string empty_text;
const std::shared_ptr<const Attributes> no_attributes = std::make_shared<const Attributes>();
thread_local Interned location_now = nullptr;

uint64_t hash_type(const TensorType& type) {
    uint64_t h = hash_combine(static_cast<uint64_t>(type.dtype), type.weak ? 7 : 3);
    for (int64_t length : type.shape) h = hash_combine(h, static_cast<uint64_t>(length));
    return h;
}

// Nodes of a chain mostly have equal types: share the operand's record instead of keeping a copy
// each.
Types shared_types(std::vector<TensorType> types, const std::vector<Types>& candidates) {
    for (const Types& candidate : candidates)
        if (*candidate == types) return candidate;
    return std::make_shared<const std::vector<TensorType>>(std::move(types));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const TensorType& type) {
    out << (type.weak ? "weak " : "") << type.dtype << '[';
    for (size_t i = 0; i < type.shape.size(); ++i) out << (i ? ", " : "") << type.shape[i];
    return out << ']';
}

Interned intern(std::string_view text) {
    if (text.empty()) return nullptr;
    static std::mutex mutex;
    static auto* texts = new std::unordered_set<std::string>;
    const std::lock_guard lock(mutex);
    return &*texts->emplace(text).first;
}

const TensorType& Tensor::type() const {
    return node_->types()[static_cast<size_t>(output_index_)];
}
const Shape& Tensor::shape() const { return type().shape; }
DType Tensor::dtype() const { return type().dtype; }
const std::string& Tensor::name() const { return node_->name(); }

const Attributes& Node::attributes() const { return *attributes_; }
const std::string& Node::name() const { return name_ ? *name_ : empty_text; }
const std::string& Node::location() const { return location_ ? *location_ : empty_text; }

void Node::release(const Node* node) {
    // Deleting a node frees its attributes, and so the bodies that calls hold, whose nodes come
    // back here: they wait until the outermost call gets to them.
    thread_local std::vector<const Node*>* waiting = nullptr;
    if (waiting) {
        waiting->push_back(node);
        return;
    }
    std::vector<const Node*> dying{node};
    waiting = &dying;
    while (!dying.empty()) {
        Node* current = const_cast<Node*>(dying.back());
        dying.pop_back();
        for (Tensor& operand : current->operands_) {
            Ref<Node> reference = operand.node_ref();
            operand = Tensor();
            // Two references are left at most: ours here and those of other users.
            const Node* child = reference.detach();
            if (child && child->drop()) dying.push_back(child);
        }
        delete current;
    }
    waiting = nullptr;
}

Ref<Node> make_node(const Operation& operation, std::vector<Tensor> operands, Attributes attributes,
                    std::string_view name) {
    std::vector<TensorType> types = operation.infer(operands, attributes);
    auto* node = new Node;
    Ref<Node> result(node);
    uint64_t h = hash_combine(hash_text(operation.name), operands.size());
    for (const auto& [key, value] : attributes.items())
        h = hash_combine(hash_combine(h, hash_text(key)), structural_hash(value));
    std::vector<Types> candidates;
    for (const Tensor& operand : operands) {
        h = hash_combine(h, operand.node().hash_ + static_cast<uint64_t>(operand.output_index()));
        candidates.push_back(operand.node().types_);
    }
    for (const TensorType& type : types) h = hash_combine(h, hash_type(type));
    node->operation_ = &operation;
    node->types_ = shared_types(std::move(types), candidates);
    node->operands_ = std::move(operands);
    node->attributes_ = attributes.empty()
                            ? no_attributes
                            : std::make_shared<const Attributes>(std::move(attributes));
    node->name_ = intern(name);
    node->location_ = location_now;
    node->hash_ = h;
    for (const TensorType& type : node->types())
        if (!is_possible(type.shape)) check_shape(label(*node), type.shape);
    return result;
}

Tensor make(const Operation& operation, std::vector<Tensor> operands, Attributes attributes,
            std::string_view name) {
    return {make_node(operation, std::move(operands), std::move(attributes), name), 0};
}

std::vector<Tensor> outputs_of(const Ref<Node>& node) {
    std::vector<Tensor> outputs;
    for (int i = 0; i < node->output_count(); ++i) outputs.emplace_back(node, i);
    return outputs;
}

Ref<Node> with_name(const Node& node, std::string_view name) {
    auto* renamed = new Node;
    renamed->operation_ = node.operation_;
    renamed->operands_ = node.operands_;
    renamed->attributes_ = node.attributes_;
    renamed->types_ = node.types_;
    renamed->name_ = intern(name);
    renamed->location_ = node.location_;
    renamed->hash_ = node.hash_;
    return Ref<Node>(renamed);
}

LocationScope::LocationScope(Interned location)
    : previous_(std::exchange(location_now, location)) {}
LocationScope::~LocationScope() { location_now = previous_; }
Interned current_location() { return location_now; }

std::vector<const Node*> topological_order(const std::vector<Tensor>& outputs) {
    std::vector<const Node*> order;
    std::unordered_set<const Node*> seen;
    struct Frame {
        const Node* node;
        size_t next;
    };
    std::vector<Frame> stack;
    for (const Tensor& output : outputs) {
        if (seen.insert(&output.node()).second) stack.push_back({&output.node(), 0});
        while (!stack.empty()) {
            Frame& frame = stack.back();
            if (frame.next < frame.node->operands().size()) {
                const Node* operand = &frame.node->operands()[frame.next++].node();
                if (seen.insert(operand).second) stack.push_back({operand, 0});
            } else {
                order.push_back(frame.node);
                stack.pop_back();
            }
        }
    }
    return order;
}

}  // namespace composit::ir
