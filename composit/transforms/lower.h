// The state of one lowering: what each tensor has become, and the program so far.
#pragma once

#include "composit/ir/operation.h"
#include "composit/transforms/transforms.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace composit::transforms {

// Walks a graph once. A tensor is kept as a nest (unevaluated) and fused into its user, unless it
// has several users, its body is large, or its user needs memory: then it becomes a map kernel of
// its own.
class GraphLowering : public ir::Lowering {
  public:
    explicit GraphLowering(const LowerOptions& options);
    Lowered lower(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs);

    ir::Nest operand(int i) override;
    ir::kernel::Access memory(int i) override;
    ir::kernel::Access materialise(const ir::Nest& nest) override;
    ir::kernel::Access new_output(int i) override;
    ir::kernel::Access new_temporary(ir::DType dtype, const ir::Shape& shape) override;
    void emit(ir::kernel::Body body) override;
    void repeat(const ir::Body& body, int64_t begin, int64_t end) override;
    void result(int i, ir::Nest nest) override;

  private:
    // Into memory whose axes are in the order in which the nest's inputs are: operands of products
    // may lie in any.
    ir::kernel::Access materialise_as_read(const ir::Nest& nest);

    // The axes in which what the current node gives is read, where that is known and wanted.
    using Axes = std::vector<int64_t>;
    const Axes* later_order() const;

    std::string unique_name(std::unordered_set<std::string>& taken, std::string name);
    int add_buffer(ir::kernel::BufferKind kind, ir::DType dtype, const ir::Shape& shape,
                   const std::string& name);
    void bind_input(const Tensor& leaf, const std::string& fallback_name);
    void bind_constant(const ir::Node& node);
    void bind_output(const Tensor& output, const std::string& given_name);
    // Each wanted name, as no input has it; no other buffer takes one.
    std::vector<std::string> names_for_outputs(size_t count);
    void count_uses(const std::vector<const ir::Node*>& order, const std::vector<Tensor>& outputs);
    void lower_node(const ir::Node& node);
    // Drops the values of operands that no node to come uses: nests hold expressions.
    void forget_operands(const ir::Node& node);
    // repeat, in steps; lower_repeat.cpp.
    struct Scope;
    struct State;
    void bind_fixed(const ir::Body& body, size_t states, Scope& scope);
    std::vector<State> begin_states(const ir::Body& body, Scope& scope);
    void lower_body(const std::vector<Tensor>& results);
    void store_states(const ir::Body& body, std::vector<State>& states);

    LowerOptions options_;
    ir::kernel::Program program_;
    std::vector<Tensor> inputs_;
    std::unordered_map<const ir::Node*, std::vector<ir::Nest>> values_;
    std::unordered_map<const ir::Node*, std::vector<int>> uses_;       // to come, of each output
    std::unordered_map<const ir::Node*, const ir::Node*> transposes_;  // one that reads the node
    std::set<std::pair<const ir::Node*, int>> outputs_, repeated_;     // repeated: by broadcasting
    std::unordered_set<std::string> buffer_names_, kernel_names_;
    std::map<std::string, int> last_number_;
    const ir::Node* node_ = nullptr;          // being lowered
    ir::DeviceNumber device_ = ir::anywhere;  // where its kernels run
    bool has_repeats_ = false;
};

}  // namespace composit::transforms
