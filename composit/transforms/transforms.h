// Graph to graph: derivatives, batching, simplification; and graph to program.
#pragma once

#include "composit/ir/body.h"
#include "composit/ir/kernel/kernel.h"
#include "composit/ir/node.h"
#include "composit/target/target.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace composit::transforms {

using ir::Tensor;
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

// ----- vjp.cpp
// Gradients with respect to `inputs` of sum over i of <outputs[i], cotangents[i]>. An input that no
// output depends on gets zeros. Iterative; fan-in is added in node order. TypeError when an
// operation on the way has no derivative, naming it, the input it is reached from and the user's
// line.
std::vector<Tensor> vjp(const std::vector<Tensor>& outputs, const std::vector<Tensor>& cotangents,
                        const std::vector<Tensor>& inputs);

// ----- jvp.cpp
// Tangents of `outputs` for tangents of `inputs`, by transposing the (linear) vjp.
std::vector<Tensor> jvp(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& tangents);

// ----- vmap.cpp
// `outputs` computed for every slice of `batched` (leading axis) in place of `inputs`; all get a
// leading axis.
std::vector<Tensor> vmap(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& batched);
// A body of which the parameters with batched[i], and all results, have a leading axis of that
// size.
ir::Body batched_body(const ir::Body& body, const std::vector<bool>& batched, int64_t size);

// ----- loop.cpp
// A body applied again and again: one node. The parameters of `body` are the counter (int64, 0-d),
// the state, and what is the same in all iterations; its results are the next state, of the same
// types. `operands` are the first state, then the rest. Counters run from `begin` to `end`, which
// is left out. Gives the last state.
std::vector<Tensor> loop(std::shared_ptr<const ir::Body> body, const std::vector<Tensor>& operands,
                         int64_t begin, int64_t end);
bool is_loop(const ir::Node& node);
// The operation, registered: front ends that look operations up by name call this first.
void register_operations();
// Every loop, however deep, with `change` applied to the results of its body. The body's parameters
// are its roots, too: what they are must stay.
std::vector<Tensor> change_bodies(
    const std::vector<Tensor>& tensors,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& results)>& change);

// ----- share_loops.cpp
// Of two loops of which one does all that the other does, and more, that one alone. Part of
// simplify.
std::vector<Tensor> share_loops(const std::vector<Tensor>& outputs);

// ----- inline_calls.cpp
// Every `call` (any operation that decomposes instead of lowering) replaced by what its body does,
// however deep, but for nodes that `keep` (none by default). A function of all tensors at
// once, so that what they share stays shared.
std::vector<Tensor> inline_calls(const std::vector<Tensor>& tensors,
                                 const std::function<bool(const ir::Node&)>& keep = {});
// The same for who differentiates: nodes that bring a derivative of their own stay. vjp finds
// nothing to open in what it returns.
std::vector<Tensor> open_for_derivatives(const std::vector<Tensor>& tensors);

// ----- simplify.cpp
// Bit-preserving: common subexpressions, transposes of transposes, reshapes of reshapes, broadcasts
// to the same shape …
std::vector<Tensor> simplify(const std::vector<Tensor>& outputs);

// ----- lower.cpp
struct LowerOptions {
    std::string name = "program";
    bool fuse = true;  // elementwise chains into their users
    bool inline_scalars =
        false;  // constants of one element become literals of the code instead of inputs
    bool constants_are_inputs = false;  // for plans that serve every value of their leaves
    // Of outputs, in order; where there is none or an empty one, the node's name.
    std::vector<std::string> output_names = {};
    Target target = {};  // whose limits kernels keep to (semantics.md 15)
};
struct Lowered {
    ir::kernel::Program program;
    // The leaf behind each of program.inputs when constants_are_inputs; else placeholders only.
    std::vector<Tensor> inputs;
};
// `inputs` are the placeholders (or any leaves) in calling order.
Lowered lower(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
              const LowerOptions& options);

// ----- donate.cpp
// An argument that the caller gives up, and results, of its dtype and shape, that may lie there:
// places among program.inputs and program.outputs.
struct Donation {
    size_t input = 0;
    std::vector<size_t> outputs;
};
// Results written over such arguments where nothing reads those any more: Buffer::starts_as. An
// argument is in the place of one result at most.
ir::kernel::Program donate(ir::kernel::Program program, const std::vector<Donation>& donations);

// ----- repeats.cpp
// The kernels of every Repeat, innermost first, taken through `pass` as programs of their own.
// What others touch, and the counter, is an output there: it is neither dropped nor made local.
// `pass` adds buffers at the end, if any, and takes none away.
using ProgramToProgram = std::function<ir::kernel::Program(ir::kernel::Program)>;
ir::kernel::Program within_repeats(ir::kernel::Program program, const ProgramToProgram& pass);

// Whether there is nothing that passes could bring together: most plans of programs that look at
// something in each step.
bool has_one_kernel(const ir::kernel::Program& program);

// Without temporaries that no kernel touches.
ir::kernel::Program without_unused_buffers(ir::kernel::Program program);

// ----- decode_weights.cpp
// Products of few rows whose right operand a Map makes of constants in fewer bytes (weights in
// eight or four bits and their scales) compute it where they read it, and the constants are packed
// in the order of that: fewer bytes come from memory. The first pass, while such a Map stands
// alone.
ir::kernel::Program decode_weights(ir::kernel::Program program, const Target& target);

// ----- narrow_products.cpp
// Products of int32 whose operands were bytes before (int8, uint8) become products of these bytes,
// kernels of a kind of their own, which read a quarter of the memory and multiply four factors at a
// time. The sums are the same. Maps that only widened the operands go.
ir::kernel::Program narrow_products(ir::kernel::Program program, const Target& target);

// ----- merge_maps.cpp
// Maps over the same loops, of which one reads what the other reads or writes, joined in one loop
// with several results: a function and its derivative. Before fuse_rows.
ir::kernel::Program merge_maps(ir::kernel::Program program, const Target& target);

// ----- fuse_rows.cpp
// Kernels that hand rows on to each other, joined in Fused kernels: softmax and normalisations in
// one pass over memory, what follows a product while the product is in the cache, attention without
// the whole matrix of scores. A part touches about target.part_bytes; groups that
// would read again less than half of that stay apart, as it stays in the cache anyway. Before
// plan_buffers.
ir::kernel::Program fuse_rows(ir::kernel::Program program, const Target& target);

// ----- finish_products.cpp
// Maps of what one contraction makes for them alone become that contraction's finish: bias,
// activation and residual without a pass of their own. Products that take long beside a map over
// fewer than target.near_bytes, which are still in the cache, stay as they are. After fuse_rows,
// before pack_constants.
ir::kernel::Program finish_products(ir::kernel::Program program, const Target& target);

// ----- pack_constants.cpp
// Operands of products copied into the order in which they are read: constants once, weights; and
// before a loop what its products read in every iteration and nothing in it writes.
ir::kernel::Program pack_constants(ir::kernel::Program program, const Target& target);
// The same program with its operands where they were.
ir::kernel::Program without_packs(ir::kernel::Program program);

// ----- plan_buffers.cpp
// Places temporaries in one arena; with reuse, two whose lives do not overlap share bytes.
ir::kernel::Program plan_buffers(ir::kernel::Program program, bool reuse);

}  // namespace composit::transforms
