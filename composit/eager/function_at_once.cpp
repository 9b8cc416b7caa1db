#include "composit/eager/function_at_once.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/eager/deferred.h"
#include "composit/execute/floating_errors.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ir/stamp.h"
#include "composit/runtime/floating_flags.h"

#include <algorithm>
#include <new>
#include <unordered_map>
#include <utility>

namespace composit::eager {
namespace {

constexpr size_t most_nodes_of_function = 256;

bool has_few_elements(const ir::TensorType& type) {
    const int64_t count = ir::element_count(type.shape);
    return count > 0 && count <= most_elements_at_once;
}

// A complex number is no deferred one.
bool can_be_result(const ir::TensorType& type) {
    const bool is_noted =
        type.shape.empty() ? can_be_deferred(type.dtype) : can_be_noted(type.dtype);
    return is_noted && !type.weak && has_few_elements(type);
}

bool may_be_computed_at_once(const std::vector<Tensor>& inputs, const Tensor& output) {
    if (!can_be_result(output.type())) return false;
    if (output.node().operands().empty()) return false;
    const std::vector<const ir::Node*> nodes = ir::topological_order({output});
    return nodes.size() <= most_nodes_of_function &&
           std::all_of(nodes.begin(), nodes.end(), [&](const ir::Node* node) {
               const auto is_node = [&](const Tensor& input) { return &input.node() == node; };
               const bool is_known =
                   !ir::is_input(*node) || std::any_of(inputs.begin(), inputs.end(), is_node);
               return is_known && node->device() <= ir::on_cpu &&
                      has_few_elements(node->types()[0]);
           });
}

execute::Options options_of_one_thread() {
    execute::Options options;
    options.threads = 1;
    return options;
}

}  // namespace

bool can_be_noted(ir::DType dtype) { return can_be_deferred(dtype) || ir::is_complex(dtype); }

FunctionAtOnce::FunctionAtOnce(std::vector<Tensor> inputs, Tensor output)
    : inputs_(std::move(inputs)),
      output_(std::move(output)),
      compiled_(std::make_unique<const execute::Compiled>("at_once", inputs_, std::vector{output_},
                                                          options_of_one_thread())) {}

std::shared_ptr<const FunctionAtOnce> FunctionAtOnce::of_values(Nodes nodes) {
    return std::shared_ptr<const FunctionAtOnce>(new FunctionAtOnce(std::move(nodes)));
}

std::shared_ptr<const FunctionAtOnce> FunctionAtOnce::make(std::vector<Tensor> inputs,
                                                           Tensor output) {
    if (!may_be_computed_at_once(inputs, output)) return nullptr;
    return std::shared_ptr<const FunctionAtOnce>(
        new FunctionAtOnce(std::move(inputs), std::move(output)));
}

std::optional<Array> FunctionAtOnce::values(std::span<const void* const> operands,
                                            uint8_t reported) const {
    static const runtime::ParallelFor in_turn = execute::parallel_for(1);
    const DefaultFloatingPoint floating_point;
    try {
        Array result(type().dtype, type().shape);
        runtime::Run run;
        run.parallel_for = in_turn;
        run.inputs.reserve(compiled_->arguments_of_inputs().size());
        for (const int operand : compiled_->arguments_of_inputs())
            run.inputs.push_back(operands[static_cast<size_t>(operand)]);
        run.outputs.push_back(result.mutable_data());
        runtime::take_floating_flags();
        compiled_->executable().run(run);
        if (execute::may_be_reported(runtime::take_floating_flags(), reported)) return {};
        return result;
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
    runtime::take_floating_flags();
    return {};
}

Tensor FunctionAtOnce::made(const std::vector<Tensor>& operands) const {
    if (nodes_) return nodes_(operands);
    std::unordered_map<const ir::Node*, Tensor> of_input;
    for (size_t i = 0; i < inputs_.size(); ++i) of_input.emplace(&inputs_[i].node(), operands[i]);
    std::unordered_map<const ir::Node*, Ref<ir::Node>> remade;
    const auto in_place_of = [&](const Tensor& tensor) {
        const auto given = of_input.find(&tensor.node());
        return given != of_input.end() ? given->second
                                       : Tensor(remade.at(&tensor.node()), tensor.output_index());
    };
    const ir::Stamp stamp = ir::current_stamp();
    for (const ir::Node* node : ir::topological_order({output_})) {
        if (of_input.contains(node)) continue;
        if (node->operands().empty()) {
            remade.emplace(node, Ref<ir::Node>(node));
            continue;
        }
        std::vector<Tensor> own;
        for (const Tensor& operand : node->operands()) own.push_back(in_place_of(operand));
        const ir::LocationScope scope(stamp.location, stamp.error_handling, node->reported_as());
        remade.emplace(
            node, ir::make_typed_node(node->operation(), std::move(own), node->shared_attributes(),
                                      node->shared_types(), ir::Name(node->name())));
    }
    return in_place_of(output_);
}

}  // namespace composit::eager
