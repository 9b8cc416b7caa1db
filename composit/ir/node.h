// Node and Tensor: what a program is.
//
// A Node applies an Operation to operands; it is immutable, reference-counted and registered
// nowhere. A Tensor is a node and an output index. The graph is the DAG that a tensor reaches.
// Making a node is O(1) in the graph's size, infers its types (so mistakes are reported on the line
// that made it), and two tensors share what they share.
#pragma once

#include "composit/base/ref.h"
#include "composit/base/small_blocks.h"
#include "composit/ir/attribute.h"
#include "composit/ir/device_names.h"
#include "composit/ir/dtype.h"
#include "composit/ir/name.h"

#include <atomic>
#include <complex>
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

// An interned text, of a line of source: equal texts share one address for the life of the process.
// Null is the empty text.
using Interned = const std::string*;
Interned intern(std::string_view text);

// "encoder.layer.0, model.py:12" is a line within a part of a model.
inline constexpr std::string_view part_separator = ", ";
// The part that a location's text names; empty where there is none.
std::string_view part_of(std::string_view location);

// How errors of floating point in a node are reported: stamped on it when it is made. What each
// kind is answered with is the business of the front door that made the record, which lives as long
// as the process. Null: nobody wants to hear of them.
class ErrorHandling {
  public:
    // `remark`: not an error but a warning of its own, whose text is the operation's name.
    enum Kind : uint8_t { divide = 1, over = 2, under = 4, invalid = 8, remark = 16 };

    explicit ErrorHandling(uint8_t reported, bool at_once = false)
        : reported_(reported), at_once_(at_once) {}
    virtual ~ErrorHandling() = default;
    ErrorHandling(const ErrorHandling&) = delete;
    ErrorHandling& operator=(const ErrorHandling&) = delete;

    uint8_t reported() const { return reported_; }  // the kinds that are not ignored
    // Whether the front door evaluates nodes when it makes them, so that errors come there.
    bool at_once() const { return at_once_; }
    // That `kinds` of errors were met in `operation`. May throw: the evaluation fails with it.
    virtual void report(const std::string& operation, uint8_t kinds, Interned line) const = 0;

  private:
    uint8_t reported_;
    bool at_once_;
};

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

// The types of a node's outputs, with their hash. Nodes of a chain mostly have equal ones: they
// share one record.
struct HashedTypes {
    explicit HashedTypes(std::vector<TensorType> types);

    const std::vector<TensorType> list;
    const uint64_t hash;
};
using SharedTypes = std::shared_ptr<const HashedTypes>;

class Node : public Counted<Node> {
  public:
    const Operation& operation() const { return *operation_; }
    const std::vector<Tensor>& operands() const { return operands_; }
    const Tensor& operand(int i) const { return operands_[static_cast<size_t>(i)]; }
    const Attributes& attributes() const { return attributes_->values; }
    const SharedAttributes& shared_attributes() const { return attributes_; }
    const std::vector<TensorType>& types() const { return types_->list; }
    const SharedTypes& shared_types() const { return types_; }
    int output_count() const { return static_cast<int>(types_->list.size()); }
    const std::string& name() const;             // the user's, else empty
    const std::string& location() const;         // "train.py:12", else empty
    Interned line() const { return location_; }  // the location's text
    const ErrorHandling* error_handling() const { return error_handling_; }
    Interned reported_as() const { return reported_as_; }  // ReportingScope's, else null
    uint64_t structural_hash() const {
        return hash_;
    }  // operations, attributes, types, operands; no names, no leaf values

    // Whether it depends on a placeholder, so that it has no value by itself.
    bool is_open() const { return is_open_; }
    // Whether it depends on memory that others can write: each evaluation computes it anew.
    bool reads_borrowed() const { return reads_borrowed_; }
    // Whether it, or something that it is made of, may turn out to be an error for the values that
    // there are (Operation::may_fail), and nobody has found out yet (eager/failing.h).
    bool may_fail() const { return may_fail_.load(std::memory_order_relaxed); }
    void set_checked() const { may_fail_.store(false, std::memory_order_relaxed); }
    // Where its values lie: where those of its operands do, unless the operation moves them.
    DeviceNumber device() const { return device_; }
    // Whether it needs values that lie on another device than its own.
    bool crosses_devices() const { return crosses_devices_; }
    // Nodes that were made later have greater numbers. One that takes another's place has its.
    uint64_t number() const { return number_; }
    // The place that held it before something else was written there (eager/versions.h); 0: none,
    // `several_places`: more than one.
    static constexpr uint32_t several_places = ~uint32_t{0};
    uint32_t place() const { return place_.load(std::memory_order_relaxed); }
    void set_place(uint32_t place) const {
        const uint32_t before = this->place();
        if (before != place)
            place_.store(before == 0 ? place : several_places, std::memory_order_relaxed);
    }

    // ----- values that somebody looked at (ir/kept.cpp). They are no part of the graph: whoever
    // computes may begin there, all others walk on to the leaves. Safe in any thread.
    bool has_kept() const { return kept_.load(std::memory_order_acquire) != nullptr; }
    ConstantArray kept(int output) const;              // empty where there is none
    void keep(int output, ConstantArray value) const;  // one that is there already stays
    // The same for a node's only output where that has no dimension: without an array for it.
    void keep_number(const void* bytes) const;
    bool copy_kept_number(void* bytes) const;  // false where there is none
    // For who writes over it: this node keeps the memory of the value that `before` kept, if nobody
    // else has that memory; else null, and nothing has changed. Both have one output, of one type.
    void* take_over_kept(const Node& before) const;
    // The value of its only output, for who writes over its memory: the node keeps it no longer.
    // Empty, and nothing has changed, where somebody else has that memory.
    ConstantArray take_kept() const;
    // How many places that programs write to (eager/cell.h) hold the node now: kept values matter
    // to them.
    void count_holders(int more) const;
    int holders() const { return holders_.load(std::memory_order_relaxed); }

    // A number that the walk of the moment has given it (eager/compacting.h): one at a time, which
    // knows its own numbers from those of others.
    uint32_t mark() const { return mark_.load(std::memory_order_relaxed); }
    void set_mark(uint32_t mark) const { mark_.store(mark, std::memory_order_relaxed); }

    // Frees iteratively.
    static void release(const Node* node);

  private:
    friend class LocationScope;
    friend Tensor placed_constant(Array, std::string_view);
    void find_device();
    friend Ref<Node> make_typed_node(const Operation&, std::vector<Tensor>, SharedAttributes,
                                     SharedTypes, Name);
    friend Ref<Node> with_name(const Node&, std::string_view);
    friend Ref<Node> with_operands(const Node&, std::vector<Tensor>);
    struct Kept;
    class History;
    friend void set_most_history_bytes(int64_t);
    friend int64_t history_bytes();
    void forget() const;  // the values, if nobody holds the node
    Node() = default;
    ~Node();
    static void* operator new(size_t bytes) { return allocate_small_block(bytes); }
    static void operator delete(void* node, size_t bytes) { free_small_block(node, bytes); }

    mutable std::atomic<uint32_t> mark_{0};  // beside the count of references: it takes no room
    const Operation* operation_ = nullptr;
    std::vector<Tensor> operands_;
    SharedAttributes attributes_;
    SharedTypes types_;
    Name name_;
    Interned location_ = nullptr;
    const ErrorHandling* error_handling_ = nullptr;
    Interned reported_as_ = nullptr;
    uint64_t hash_ = 0;
    mutable std::atomic<Kept*> kept_{nullptr};
    mutable std::atomic<int> holders_{0};
    uint64_t number_ = 0;
    bool is_open_ = false, reads_borrowed_ = false, crosses_devices_ = false;
    DeviceNumber device_ = anywhere;
    mutable std::atomic<bool> may_fail_{false};
    mutable std::atomic<uint32_t> place_{0};
};

inline const TensorType& Tensor::type() const {
    return node_->types()[static_cast<size_t>(output_index_)];
}
inline const Shape& Tensor::shape() const { return type().shape; }
inline DType Tensor::dtype() const { return type().dtype; }

// Values of nodes that nobody holds are history: what was made of them may need them once more. The
// oldest are given up beyond so many bytes in all; who needs one of those computes it again.
void set_most_history_bytes(int64_t bytes);  // 144 MiB at first
int64_t history_bytes();                     // now

uint64_t nodes_made();  // by this process, until now
// The same, later than anything before and earlier than anything after.
uint64_t next_time();

// Infers types (throws what the operation's rule throws) and stamps the node with the current
// location.
Ref<Node> make_node(const Operation& operation, std::vector<Tensor> operands,
                    Attributes attributes = {}, std::string_view name = {});
// The same with attributes that another node has.
Ref<Node> make_node(const Operation& operation, std::vector<Tensor> operands,
                    SharedAttributes attributes, std::string_view name = {});
// The same for who knows the types: those that the operation infers.
Ref<Node> make_typed_node(const Operation& operation, std::vector<Tensor> operands,
                          SharedAttributes attributes, SharedTypes types, Name name = {});
// The usual case: the first output of a new node.
Tensor make(const Operation& operation, std::vector<Tensor> operands, Attributes attributes = {},
            std::string_view name = {});
// All outputs of a node.
std::vector<Tensor> outputs_of(const Ref<Node>& node);
// A node like `node`, with another name.
Ref<Node> with_name(const Node& node, std::string_view name);
// The operation of `node` on other operands, with its name and location.
Ref<Node> with_operands(const Node& node, std::vector<Tensor> operands);

// The user's source line, and how errors are reported, that nodes made on this thread are stamped
// with, while the scope lives. Front doors set it.
class LocationScope {
  public:
    explicit LocationScope(Interned location);  // leaves the reporting as it is
    LocationScope(Interned location, const ErrorHandling* error_handling);
    explicit LocationScope(const Node& node);  // those of a node, whose place others take
    LocationScope(Interned location, const ErrorHandling* error_handling, Interned reported_as);
    ~LocationScope();
    LocationScope(const LocationScope&) = delete;
    LocationScope& operator=(const LocationScope&) = delete;

  private:
    Interned previous_;
    const ErrorHandling* previous_handling_;
    Interned previous_name_;
};

// The function in whose name errors of floating point are reported that nodes made on this thread
// meet, while the scope lives: of products, which many functions make, and of what a function is
// made of. Within another such scope it changes nothing: the function that was called counts.
class ReportingScope {
  public:
    explicit ReportingScope(Interned function);
    ~ReportingScope();
    ReportingScope(const ReportingScope&) = delete;
    ReportingScope& operator=(const ReportingScope&) = delete;

  private:
    Interned previous_;
};
Interned current_location();
const ErrorHandling* current_error_handling();
Interned current_reported_as();

// While it lives, nodes made on this thread have that number: they take the place of something that
// was made then.
class NumberScope {
  public:
    explicit NumberScope(uint64_t number);
    ~NumberScope();
    NumberScope(const NumberScope&) = delete;
    NumberScope& operator=(const NumberScope&) = delete;

  private:
    uint64_t previous_;
};

// ----- leaves
Tensor constant(Array value, std::string_view name = {});
Tensor weak_scalar(bool value);  // Python's scalars; named scalar_<value>
Tensor weak_scalar(int64_t value);
Tensor weak_scalar(double value);
Tensor weak_scalar(std::complex<double> value);
Tensor input(std::string_view name, DType dtype, Shape shape);  // a placeholder
// A constant that a user gave: an array in host memory that has dimensions lies on the cpu, and no
// operation joins it with what lies elsewhere.
Tensor placed_constant(Array value, std::string_view name = {});
bool is_constant(const Node& node);
bool is_input(const Node& node);
const ConstantArray& constant_array(const Node& node);
Array constant_value(const Node& node);  // its elements in row-major order

// Nodes that `outputs` reach, operands before users, each once. Iterative; deterministic (depth
// first, operands in order).
std::vector<const Node*> topological_order(const std::vector<Tensor>& outputs);

}  // namespace composit::ir
