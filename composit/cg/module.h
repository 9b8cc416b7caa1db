// Modules whose calls are graphs: each call of a module records its nodes, which have values and
// derivatives, and is a call of a named function in composit's own graph.
//
//   class SimpleModel : public cg::Module {
//     public:
//       SimpleModel() : Module("SimpleModel", {cg::variable("x")}, {cg::parameter("w", 1.0)}) {}
//
//     protected:
//       Nodes call(const Nodes& x) const override {
//           return {cg::op::multiply(cg::op::add(x[0], param("w")), cg::op::square(x[0]))};
//       }
//   };
//   cg::ModuleGraph result = SimpleModel()(3.0);  // result.value() is 36
#pragma once

#include "composit/ir/node.h"
#include "composit/numpy/operand.h"

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace composit::cg {

using ir::Array;
using ir::Tensor;
using Tensors = std::vector<Tensor>;

// A place of a function that takes a value. Parameters and constants have one of their own.
class Input {
  public:
    enum class Kind : uint8_t { variable, parameter, constant };

    Input(std::string name, Kind kind, Tensor value = {});

    const std::string& name() const { return name_; }
    Kind kind() const { return kind_; }
    const Tensor& value() const { return value_; }  // empty for variables
    // Another value, from the next call on. ValueError unless it is a parameter.
    void assign(const numpy::Operand& value);

  private:
    std::string name_;
    Kind kind_;
    Tensor value_;
};
using InputRef = std::shared_ptr<Input>;
[[nodiscard]] InputRef variable(const std::string& name);
[[nodiscard]] InputRef parameter(const std::string& name, const numpy::Operand& value);
[[nodiscard]] InputRef constant(const std::string& name, const numpy::Operand& value);

struct NodeState;
// A value within a call: an input, or what an operator made of other nodes. Nodes of parameters and
// literals are made where they are used.
class Node {
  public:
    Node() = default;
    explicit Node(std::shared_ptr<NodeState> state) : state_(std::move(state)) {}
    Node(const InputRef& input);  // a parameter or constant, in the call in progress
    template <class T>
        requires std::integral<T> || std::floating_point<T>
    Node(T literal) : Node(constant("", literal)) {}

    const std::string& name() const;     // of the input or the operator: "x", "add"
    const std::string& call_id() const;  // equal for all nodes of a call
    const InputRef& input() const;       // empty for what an operator made
    const std::vector<Node>& children() const;
    const Tensor& tensor() const;       // of the call's inputs, without modules in between
    [[nodiscard]] Array value() const;  // evaluated now; ValueError where inputs have none
    // The derivative of the call's result with respect to it; empty before back().
    const Tensor& gradient() const;

    bool operator==(const Node&) const = default;  // the same node
    NodeState& state() const { return *state_; }

  private:
    std::shared_ptr<NodeState> state_;
};
using Nodes = std::vector<Node>;

class Module;

// What one call of a module computed.
class ModuleGraph {
  public:
    ModuleGraph(std::string module, Node root)
        : module_(std::move(module)), root_(std::move(root)) {}

    const Node& root() const { return root_; }
    const std::string& call_id() const { return root_.call_id(); }
    [[nodiscard]] Array value() const { return root_.value(); }
    // The result in composit's graph: one call node, of inputs and parameters, whose body has a
    // call for each call of a module within.
    [[nodiscard]] Tensor tensor() const;
    // Every node that the result is computed from, in the order of the call.
    [[nodiscard]] Nodes nodes() const;

    // The derivative with respect to every node of a floating dtype: a gradient where the result is
    // 0-d, else a Jacobian of shape result.shape + node.shape. TypeError for results that are not
    // of a floating dtype.
    void back();
    // Of an input or parameter, after back() (ValueError); ValueError for those of others,
    // TypeError where there is none.
    [[nodiscard]] Tensor grad(const InputRef& input) const;

    bool operator==(const ModuleGraph& other) const { return root_ == other.root_; }

  private:
    std::string module_;
    Node root_;
    bool has_gradients_ = false;
};

// Something with named inputs and parameters.
class Function {
  public:
    Function(std::string name, std::vector<InputRef> inputs, std::vector<InputRef> params = {});
    virtual ~Function() = default;

    const std::string& name() const { return name_; }
    const std::vector<InputRef>& inputs() const { return inputs_; }
    const std::vector<InputRef>& params() const { return params_; }
    // By name; ValueError where there is none.
    [[nodiscard]] const InputRef& input(const std::string& name) const;
    [[nodiscard]] const InputRef& param(const std::string& name) const;

  private:
    std::string name_;
    std::vector<InputRef> inputs_, params_;
};

// A function of tensors whose call is one node. Its derivative follows from what it does, unless
// `gradient` gives the Jacobian, or, element by element, the derivative.
class Operator : public Function {
  public:
    using Function::Function;

    // Within a module's call. ValueError unless there is a node for each input.
    [[nodiscard]] Node operator()(const Nodes& nodes) const;
    // The operator as a function of tensors.
    [[nodiscard]] Tensor apply(const Tensors& arrays) const;

  protected:
    [[nodiscard]] virtual Tensor op_impl(const Tensors& arrays) const = 0;
    // The derivative with respect to input i; empty: by differentiating op_impl.
    [[nodiscard]] virtual Tensor gradient(size_t i, const Tensors& arrays) const;
};

// A function that is written as calls of operators and of other modules.
class Module : public Function {
  public:
    using Function::Function;

    // From outside, with values: a graph of its own. ValueError unless there is one for each input.
    template <class... T>
        requires(std::convertible_to<T, numpy::Operand> && ...)
    [[nodiscard]] ModuleGraph operator()(const T&... values) const {
        return called({Tensor(numpy::Operand(values).tensor())...});
    }
    [[nodiscard]] ModuleGraph called(const Tensors& values) const;
    // Within another module's call, with nodes of that call.
    [[nodiscard]] Nodes operator()(const Nodes& nodes) const;
    // The result as a tensor, with values in place of those of some parameters: a function without
    // state.
    [[nodiscard]] Tensor apply(const std::vector<std::pair<InputRef, Tensor>>& parameters,
                               const Tensors& inputs) const;

  protected:
    // What the module computes from the nodes of its inputs; one node if it is called from outside.
    [[nodiscard]] virtual Nodes call(const Nodes& nodes) const = 0;
};

// Operators by name. Every row of the scalar table is one: map("exp", {x}).
namespace op {
// A function of tensors as an operator, applied to nodes of the call in progress.
[[nodiscard]] Node apply(const std::string& name, const std::function<Tensor(const Tensors&)>& f,
                         const Nodes& nodes);
[[nodiscard]] Node map(const std::string& row, const Nodes& nodes);
[[nodiscard]] Node add(const Node& a, const Node& b);
[[nodiscard]] Node multiply(const Node& a, const Node& b);
[[nodiscard]] Node square(const Node& x);
[[nodiscard]] Node identity(const Node& x);
[[nodiscard]] Node dot(const Node& a, const Node& b);
}  // namespace op

}  // namespace composit::cg
