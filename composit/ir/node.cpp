#include "composit/ir/node.h"

#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/check.h"
#include "composit/ir/depth_first.h"
#include "composit/ir/living.h"
#include "composit/ir/operation.h"
#include "composit/ir/remote_memory.h"
#include "composit/ir/stamp.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace composit::ir {
namespace {

const std::string empty_text;
thread_local Stamp stamp_now;
thread_local uint64_t number_now = 0;  // 0: the next one
std::atomic<uint64_t> made{0};

uint64_t hash_type(const TensorType& type) {
    uint64_t h = hash_combine(static_cast<uint64_t>(type.dtype), type.weak ? 7 : 3);
    for (int64_t length : type.shape) h = hash_combine(h, static_cast<uint64_t>(length));
    return h;
}

uint64_t hash_types(const std::vector<TensorType>& types) {
    uint64_t h = types.size();
    for (const TensorType& type : types) h = hash_combine(h, hash_type(type));
    return h;
}

SharedTypes shared_types(std::vector<TensorType> types, const std::vector<Tensor>& operands) {
    for (const Tensor& operand : operands)
        if (operand.node().types() == types) return operand.node().shared_types();
    return std::allocate_shared<const HashedTypes>(SmallBlockAllocator<HashedTypes>(),
                                                   std::move(types));
}

// Addresses of nodes, in open addressing: large graphs are walked many times.
class NodeSet {
  public:
    // False where it is there already.
    bool insert(const Node* node) {
        if (2 * (count_ + 1) > slots_.size()) grow();
        const Node*& slot = slot_of(node);
        if (slot) return false;
        slot = node;
        ++count_;
        return true;
    }

  private:
    const Node*& slot_of(const Node* node) {
        const size_t mask = slots_.size() - 1;
        size_t slot = mix(reinterpret_cast<uintptr_t>(node)) & mask;
        while (slots_[slot] && slots_[slot] != node) slot = (slot + 1) & mask;
        return slots_[slot];
    }
    void grow() {
        const std::vector<const Node*> old = std::exchange(slots_, {});
        slots_.resize(old.empty() ? 64 : 2 * old.size());
        for (const Node* node : old)
            if (node) slot_of(node) = node;
    }

    std::vector<const Node*> slots_;  // a power of two of them
    size_t count_ = 0;
};

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

std::string_view part_of(std::string_view location) {
    const size_t end = location.rfind(part_separator);
    return end == std::string_view::npos ? std::string_view() : location.substr(0, end);
}

const std::string& Tensor::name() const { return node_->name(); }

HashedTypes::HashedTypes(std::vector<TensorType> types)
    : list(std::move(types)), hash(hash_types(list)) {}

const std::string& Node::name() const { return name_.text(); }
const std::string& Node::location() const { return location_ ? *location_ : empty_text; }

void Node::release(const Node* node) {
    // Deleting a node frees its attributes, and so the bodies that calls hold, whose nodes come
    // back here: they wait until the outermost call gets to them. Nodes may die because memory
    // ended, so those that wait are linked by themselves: nobody asks them for their hash.
    thread_local const Node* waiting = nullptr;
    thread_local bool is_releasing = false;
    const auto add = [](const Node* dead) {
        const_cast<Node*>(dead)->hash_ = reinterpret_cast<uintptr_t>(waiting);
        waiting = dead;
    };
    add(node);
    if (is_releasing) return;
    is_releasing = true;
    while (waiting) {
        Node* current = const_cast<Node*>(waiting);
        waiting = reinterpret_cast<const Node*>(static_cast<uintptr_t>(current->hash_));
        for (Tensor& operand : current->operands_) {
            Ref<Node> reference = operand.node_ref();
            operand = Tensor();
            // Two references are left at most: ours here and those of other users.
            const Node* child = reference.detach();
            if (child && child->drop()) add(child);
        }
        delete current;
    }
    is_releasing = false;
}

Ref<Node> make_typed_node(const Operation& operation, std::vector<Tensor> operands,
                          SharedAttributes attributes, SharedTypes types, Name name) {
    auto* node = new Node;
    Ref<Node> result(node);
    uint64_t h = hash_combine(operation.hash, attributes->hash);
    for (const Tensor& operand : operands)
        h = hash_combine(h, operand.node().hash_ + static_cast<uint64_t>(operand.output_index()));
    node->hash_ = hash_combine(h, types->hash);
    node->operation_ = &operation;
    node->operands_ = std::move(operands);
    node->attributes_ = std::move(attributes);
    node->types_ = std::move(types);
    node->name_ = std::move(name);
    const Stamp& stamp = stamp_now;
    node->location_ = stamp.location;
    node->error_handling_ = stamp.error_handling;
    node->reported_as_ = stamp.reported_as;
    const uint64_t next = made.fetch_add(1, std::memory_order_relaxed) + 1;
    node->number_ = number_now != 0 ? number_now : next;
    node->is_open_ = is_input(*node);
    node->reads_borrowed_ = is_constant(*node) && constant_array(*node).is_borrowed();
    for (const Tensor& operand : node->operands_) {
        node->is_open_ |= operand.node().is_open_;
        node->reads_borrowed_ |= operand.node().reads_borrowed_;
        if (operand.node().may_fail() && !operand.node().has_kept())
            node->may_fail_.store(true, std::memory_order_relaxed);
    }
    if (operation.may_fail && operation.may_fail(*node))
        node->may_fail_.store(true, std::memory_order_relaxed);
    node->find_device();
    return result;
}

namespace {

std::string placed(const Tensor& tensor) {
    const std::string& name = tensor.name();
    return text(name.empty() ? "a tensor" : "'" + name + "'", " (", tensor.type(), ") on ",
                device_name(tensor.node().device()));
}

[[noreturn]] void fail_on_two_devices(const Node& node, const Tensor& first, const Tensor& second) {
    fail<RuntimeError>(label(node), ": expected all tensors to be on the same device, but found ",
                       placed(first), " and ", placed(second),
                       ". Move one of them with .to(device).");
}

}  // namespace

void Node::find_device() {
    const Tensor* placed_first = nullptr;
    const bool is_moving = operation_->device != nullptr;
    for (const Tensor& operand : operands_) {
        const Node& node = operand.node();
        crosses_devices_ |= node.crosses_devices_ && !node.has_kept();
        if (node.device_ == anywhere) continue;
        if (!placed_first)
            placed_first = &operand;
        else if (node.device_ != placed_first->node().device_ && !is_moving)
            fail_on_two_devices(*this, *placed_first, operand);
    }
    if (placed_first) device_ = placed_first->node().device_;
    if (is_moving) {
        const DeviceNumber before = std::exchange(device_, operation_->device(*this));
        crosses_devices_ |= before != anywhere && before != device_;
    } else if (operands_.empty() && is_constant(*this)) {
        if (const auto remote = constant_array(*this).remote())
            device_ = device_number(remote->device());
    }
}

Tensor placed_constant(Array value, std::string_view name) {
    const bool is_placed = !value.is_remote() && !value.shape().empty();
    Tensor made = constant(std::move(value), name);
    if (is_placed) const_cast<Node&>(made.node()).device_ = on_cpu;
    return made;
}

Ref<Node> make_node(const Operation& operation, std::vector<Tensor> operands,
                    SharedAttributes attributes, std::string_view name) {
    SharedTypes types = shared_types(operation.infer(operands, attributes->values), operands);
    Ref<Node> node = make_typed_node(operation, std::move(operands), std::move(attributes),
                                     std::move(types), Name(name));
    for (const TensorType& type : node->types())
        if (!is_possible(type.shape)) check_shape(label(*node), type.shape);
    return node;
}

Ref<Node> make_node(const Operation& operation, std::vector<Tensor> operands, Attributes attributes,
                    std::string_view name) {
    return make_node(operation, std::move(operands), shared(std::move(attributes)), name);
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
    renamed->name_ = Name(name);
    renamed->location_ = node.location_;
    renamed->error_handling_ = node.error_handling_;
    renamed->reported_as_ = node.reported_as_;
    renamed->hash_ = node.hash_;
    renamed->is_open_ = node.is_open_;
    renamed->reads_borrowed_ = node.reads_borrowed_;
    renamed->device_ = node.device_;
    renamed->crosses_devices_ = node.crosses_devices_;
    renamed->number_ = node.number_;
    made.fetch_add(1, std::memory_order_relaxed);
    renamed->may_fail_.store(node.may_fail(), std::memory_order_relaxed);
    return Ref<Node>(renamed);
}

Ref<Node> with_operands(const Node& node, std::vector<Tensor> operands) {
    // Types follow from types, but where another Python number is asked whether it fits.
    bool is_alike = operands.size() == node.operands_.size();
    for (size_t i = 0; i < operands.size() && is_alike; ++i) {
        const TensorType& type = operands[i].type();
        is_alike =
            operands[i] == node.operands_[i] || (!type.weak && type == node.operands_[i].type());
    }
    const LocationScope scope(node);
    const Ref<Node> made =
        is_alike ? make_typed_node(*node.operation_, std::move(operands), node.attributes_,
                                   node.types_, node.name_)
                 : make_node(*node.operation_, std::move(operands), node.attributes_, node.name());
    const_cast<Node&>(*made).number_ = node.number_;
    made->place_.store(node.place(), std::memory_order_relaxed);
    return made;
}

uint64_t nodes_made() { return made.load(std::memory_order_relaxed); }
uint64_t next_time() { return made.fetch_add(1, std::memory_order_relaxed) + 1; }
std::atomic<uint64_t>& nodes_gone() {
    static std::atomic<uint64_t> gone{0};
    return gone;
}
uint64_t living_nodes() {
    const uint64_t gone = nodes_gone().load(std::memory_order_relaxed);
    return nodes_made() - gone;
}

const Stamp& current_stamp() { return stamp_now; }

LocationScope::LocationScope(Interned location)
    : LocationScope(location, stamp_now.error_handling) {}
LocationScope::LocationScope(Interned location, const ErrorHandling* error_handling) {
    Stamp& stamp = stamp_now;
    previous_ = std::exchange(stamp.location, location);
    previous_handling_ = std::exchange(stamp.error_handling, error_handling);
    previous_name_ = stamp.reported_as;
}
LocationScope::LocationScope(const Node& node)
    : LocationScope(node.location_, node.error_handling_, node.reported_as_) {}
LocationScope::LocationScope(Interned location, const ErrorHandling* error_handling,
                             Interned reported_as)
    : LocationScope(location, error_handling) {
    stamp_now.reported_as = reported_as;
}
LocationScope::~LocationScope() { stamp_now = {previous_, previous_handling_, previous_name_}; }

ReportingScope::ReportingScope(Interned function) : previous_(stamp_now.reported_as) {
    if (!previous_) stamp_now.reported_as = function;
}
ReportingScope::~ReportingScope() { stamp_now.reported_as = previous_; }
Interned current_location() { return stamp_now.location; }
const ErrorHandling* current_error_handling() { return stamp_now.error_handling; }
Interned current_reported_as() { return stamp_now.reported_as; }

NumberScope::NumberScope(uint64_t number) : previous_(std::exchange(number_now, number)) {}
NumberScope::~NumberScope() { number_now = previous_; }

std::vector<const Node*> topological_order(const std::vector<Tensor>& outputs) {
    NodeSet seen;
    return depth_first(outputs, [&](const Node& node) { return seen.insert(&node); });
}

}  // namespace composit::ir
