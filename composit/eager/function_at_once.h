// A function for operands of known dtypes and shapes: compiled once, and run at once where the
// operands' values are known. Small arrays spend most of a call on nodes and on finding a plan;
// here the graph is made only when somebody asks for it (docs/decisions/0052-at-once.md).
//
//     const Tensor x = ir::input("x", DType::float64, {100});
//     const auto norm = FunctionAtOnce::make({x}, numpy::norm(x));
//     std::optional<Array> value = norm->values({data}, 0);      // nothing was added to the graph
//     Tensor graph = norm->made({operand});                      // as the function would have made
#pragma once

#include "composit/execute/execute.h"
#include "composit/ir/node.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace composit::eager {

using ir::Array;
using ir::Tensor;

// Larger operands and results are left to plans, which compute several operations together.
inline constexpr int64_t most_elements_at_once = 16384;

// Of these dtypes are arrays whose values are noted without a node: those of deferred numbers, and
// complex ones, whose elements are nodes.
bool can_be_noted(ir::DType dtype);

class FunctionAtOnce {
  public:
    // Of placeholders, and of what the function made of them. Null where results are not computed
    // at once: there are too many elements or nodes, the dtype is none of a deferred node's, the
    // result is an operand or a constant, or a value of the graph lies on a device.
    static std::shared_ptr<const FunctionAtOnce> make(std::vector<Tensor> inputs, Tensor output);

    // Of what somebody computed who knew the operands' values: `nodes` makes what there would be
    // without that. It has no values() and no type().
    using Nodes = std::function<Tensor(const std::vector<Tensor>& operands)>;
    static std::shared_ptr<const FunctionAtOnce> of_values(Nodes nodes);

    const ir::TensorType& type() const { return output_.type(); }
    // Of operands in row-major order. Nothing where floating-point errors of the `reported` kinds
    // occurred, or an exception was thrown: nodes say which operation it was.
    std::optional<Array> values(std::span<const void* const> operands, uint8_t reported) const;
    std::optional<Array> values(std::initializer_list<const void*> operands,
                                uint8_t reported) const {
        return values(std::span(operands.begin(), operands.size()), reported);
    }
    // The nodes of a call, under the location and the number that are in force.
    Tensor made(const std::vector<Tensor>& operands) const;

  private:
    FunctionAtOnce(std::vector<Tensor> inputs, Tensor output);
    explicit FunctionAtOnce(Nodes nodes) : nodes_(std::move(nodes)) {}

    std::vector<Tensor> inputs_;
    Tensor output_;
    std::unique_ptr<const execute::Compiled> compiled_;
    Nodes nodes_;
};

}  // namespace composit::eager
