// An Operation is a record of rules; one exists per kind of tensor primitive, for the life of the
// process.
//
// Operations are an open set: users register their own (usually through `call`, whose body is a
// graph, or through a row of the scalar table, which `map` applies).
#pragma once

#include "composit/ir/kernel/kernel.h"
#include "composit/ir/node.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace composit::ir {

// A tensor that is not in memory yet: for each index of `extents`, value(inputs[k][index]). What
// fusion composes.
struct Nest {
    kernel::Extents extents;
    std::vector<kernel::Access> inputs;
    scalar::Expr value;
};

struct Body;

// A tensor in dtypes that kernels have: a complex one as its real and its imaginary part, a 16-bit
// float as float32 of the same values, any other as it is. `im` is empty but for complex ones.
struct Components {
    Tensor re, im;
};

// What an operation's lower rule talks to; implemented by transforms/lower.
class Lowering {
  public:
    virtual ~Lowering() = default;
    // Operand i of the node being lowered, as a nest of its shape.
    virtual Nest operand(int i) = 0;
    // Operand i in memory: an access with one stride per dimension of its shape.
    virtual kernel::Access memory(int i) = 0;
    // A nest brought into memory (a map kernel, unless it is a plain view already).
    virtual kernel::Access materialise(const Nest& nest) = 0;
    // A fresh row-major buffer for output i, to be written by kernels emitted next.
    virtual kernel::Access new_output(int i) = 0;
    // A fresh row-major temporary.
    virtual kernel::Access new_temporary(DType dtype, const Shape& shape) = 0;
    virtual void emit(kernel::Body body) = 0;
    // Lowers a body once, to be run for each counter from `begin` to `end`, which it leaves out:
    // its parameters are the counter, the state, and what is the same in all iterations; its
    // results are the next state. The node's operands are the parameters' values, but for the
    // counter; its outputs the last state.
    virtual void repeat(const Body& body, int64_t begin, int64_t end) = 0;
    // Declares output i: a view or an expression to be fused into its users. Outputs made by
    // new_output need none.
    virtual void result(int i, Nest nest) = 0;
};

// Gradients with respect to the operands for which wanted[i]; an empty Tensor means zero.
// `gradients` has one tensor per output, empty where none flows. The rule is linear in `gradients`
// and built of differentiable operations: forward mode follows from it (jvp.h).
using VjpRule = std::function<std::vector<Tensor>(
    const Node& node, const std::vector<Tensor>& gradients, const std::vector<bool>& wanted)>;
// Tangents of the outputs for tangents of the operands, empty where there is none.
using JvpRule =
    std::function<std::vector<Tensor>(const Node& node, const std::vector<Tensor>& tangents)>;
// The node over operands with an extra leading axis where batched[i]; every output gets the leading
// axis.
using BatchRule =
    std::function<std::vector<Tensor>(const Node& node, const std::vector<Tensor>& operands,
                                      const std::vector<bool>& batched, int64_t batch_size)>;

// How transforms treat a node.
struct TransformRules {
    VjpRule vjp = {};
    JvpRule jvp = {};
    BatchRule batch = {};
};

struct Operation {
    std::string name;
    std::string doc;  // one line

    // Types of the outputs; throws what NumPy would throw.
    std::function<std::vector<TensorType>(const std::vector<Tensor>& operands,
                                          const Attributes& attributes)>
        infer;

    VjpRule vjp = {};      // null: the operation has no derivative
    JvpRule jvp = {};      // null: by transposing `vjp`
    BatchRule batch = {};  // null: none
    // The rules of one node in place of these: of a call, whose rules are an attribute. Null: these
    // are every node's, as they are where it returns null.
    const TransformRules* (*rules)(const Node& node) = nullptr;

    // To kernels. Null: `decompose` is used.
    std::function<void(const Node& node, Lowering& lowering)> lower = {};
    // The same result out of other operations.
    std::function<std::vector<Tensor>(const Node& node)> decompose = {};

    // The outputs where operands or outputs have dtypes that no kernel has; short floats rounded
    // to that dtype. Null: the operation does the same to real and to imaginary parts, and in
    // float32 what it does to short floats.
    std::function<std::vector<Components>(const Node& node,
                                          const std::vector<Components>& operands)>
        by_components = {};
    // Every element of a result is one of an operand, unchanged: nothing is rounded.
    bool moves_elements = false;

    // What a picture or a message calls this node; null: `name`.
    std::function<std::string(const Node& node)> label = {};

    // Throws for operands and attributes that the function which makes this operation never
    // produces (a wrong count, a missing attribute, an axis out of range): `infer` takes those for
    // granted, so text that comes from outside (parse.h) and graphs under suspicion (verify.h) are
    // checked first. Null: `infer` is safe for anything.
    std::function<void(const std::vector<Tensor>& operands, const Attributes& attributes)> check =
        {};

    // Whether a node may turn out to be an error for the values of its operands: an index out of
    // bounds, a matrix that is not positive definite. Null: none.
    std::function<bool(const Node& node)> may_fail = {};
    // The tensors whose values decide it, and what throws for those. Null: it shows when the node
    // is computed.
    std::function<std::vector<Tensor>(const Node& node)> deciding = {};
    std::function<void(const Node& node, const std::vector<Array>& values)> check_values = {};

    // The device that a node's values lie on, of an operation that moves them there. Null: that of
    // the operands.
    DeviceNumber (*device)(const Node& node) = nullptr;

    // What a node keeps (Node::keep) stays as long as the node: it cannot be computed again.
    bool keeps_forever = false;

    // Its kernel is a Foreign: the bits are another library's, and it cannot be exported.
    bool is_foreign = false;
    // Its kernel is a Call: the statements of a procedure, whose failures nobody else foresees.
    bool calls_procedure = false;

    // What it calls takes the operands and results that its attributes state as they are, in
    // memory: a text, which may state anything, cannot ask for it (parse.h).
    bool is_unchecked = false;

    // Nothing but running its kernel tells when it fails, and what its arithmetic signals: what it
    // calls is no expression.
    bool is_opaque() const { return is_foreign || calls_procedure; }

    uint64_t hash = 0;  // of the name; register_operation fills it in
};

// The rules of a node: its own, or its operation's.
const VjpRule& vjp_of(const Node& node);
const JvpRule& jvp_of(const Node& node);
const BatchRule& batch_of(const Node& node);

// The registry, for parsing and for documentation; append-only and thread-safe. Names are unique
// (ValueError).
const Operation& register_operation(Operation operation);
const Operation* find_operation(std::string_view name);
std::vector<const Operation*> all_operations();

std::string label(const Node& node);  // "exp", "sum", "matmul", …

}  // namespace composit::ir
