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

#include "composit/execute/execute.h"
#include "composit/ir/node.h"
#include "composit/numpy/operand.h"

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace composit::cg {

using ir::Array;
using ir::Tensor;
using Tensors = std::vector<Tensor>;

// A place of a function that takes a value. Parameters and constants have one of their own.
class Input {
  public:
    enum class Kind : uint8_t { variable, parameter, constant };

    Input(std::string name, Kind kind, const numpy::Operand& value = {});

    const std::string& name() const { return name_; }
    Kind kind() const { return kind_; }
    const Tensor& value() const { return value_; }  // empty for variables
    // Whether the value is a number of C++, which has no dtype of its own: beside a float32 operand
    // it is float32, by NumPy's rules for numbers of Python.
    bool is_number() const { return is_number_; }
    // Another value, from the next call on. ValueError unless it is a parameter.
    void assign(const numpy::Operand& value);
    // The same for what became of the value: a number stays one.
    void update(const Tensor& value);

  private:
    std::string name_;
    Kind kind_;
    Tensor value_;
    bool is_number_ = false;
};
using InputRef = std::shared_ptr<Input>;
[[nodiscard]] InputRef variable(const std::string& name);
// A number (1.0) takes the dtype of the operands beside it, a tensor has its own.
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
    NodeState& state() const;                      // ValueError for an empty node

  private:
    std::shared_ptr<NodeState> state_;
};
using Nodes = std::vector<Node>;

class Module;
class Session;

// What one call of a module computed.
class ModuleGraph {
  public:
    // `inputs`: the nodes of the module's, used or not; `parameters`: those that the module has.
    ModuleGraph(std::string module, Node root, Nodes inputs, std::vector<InputRef> parameters)
        : module_(std::move(module)),
          root_(std::move(root)),
          inputs_(std::move(inputs)),
          parameters_(std::move(parameters)) {}

    const Node& root() const { return root_; }
    const std::string& call_id() const { return root_.call_id(); }
    [[nodiscard]] Array value() const { return root_.value(); }
    // The result in composit's graph: one call node, of inputs and parameters, whose body has a
    // call for each call of a module within.
    [[nodiscard]] Tensor tensor() const;
    // What this call computed as a program of the module's inputs, for their shapes and dtypes: the
    // operators that it went through, with the parameters' values of the call as constants. Its
    // program() is what exporters/cpp_project writes as C++.
    [[nodiscard]] execute::Compiled compile(const execute::Options& options = {}) const;
    // Every node that the result is computed from, in the order of the call.
    [[nodiscard]] Nodes nodes() const;

    // The derivative with respect to every node of a floating dtype: a gradient where the result is
    // 0-d, else a Jacobian of shape result.shape + node.shape. TypeError for results that are not
    // of a floating dtype.
    void back();
    // Of an input or parameter, after back() (ValueError): zeros for those of the module that the
    // result does not depend on, ValueError for those of others. TypeError unless the input is of a
    // floating or complex dtype.
    [[nodiscard]] Tensor grad(const InputRef& input) const;

    bool operator==(const ModuleGraph& other) const { return root_ == other.root_; }

  private:
    // The result for these in place of the inputs' tensors.
    [[nodiscard]] Tensor tensor_of(const Tensors& inputs) const;

    std::string module_;
    Node root_;
    Nodes inputs_;
    std::vector<InputRef> parameters_;
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
    // ValueError for a parameter among `constants`: nothing would be differentiated by it.
    Operator(std::string name, std::vector<InputRef> inputs, std::vector<InputRef> constants = {});

    // Within a module's call. ValueError unless there is a node for each input.
    [[nodiscard]] Node operator()(const Nodes& nodes) const;
    // The operator as a function of tensors.
    [[nodiscard]] Tensor apply(const Tensors& given) const;

  protected:
    [[nodiscard]] virtual Tensor op_impl(const Tensors& arrays) const = 0;
    // The derivative with respect to input i; empty: by differentiating op_impl.
    [[nodiscard]] virtual Tensor gradient(size_t i, const Tensors& arrays) const;
};

class BuiltModule;

// A function that is written as calls of operators and of other modules.
class Module : public Function {
  public:
    using Function::Function;
    using CallFunction = std::function<Nodes(const Module& self, const Nodes& nodes)>;

    // A module without a class: `call` takes the module, then the nodes of its inputs.
    [[nodiscard]] static BuiltModule build(const std::string& name, CallFunction call,
                                           std::vector<InputRef> inputs,
                                           std::vector<InputRef> params = {});

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
    // state. `are_all`: ValueError where it uses another one of a floating or complex
    // dtype.
    [[nodiscard]] Tensor apply(const std::vector<std::pair<InputRef, Tensor>>& parameters,
                               const Tensors& inputs, bool are_all = false) const;

    // The parameters of the module and of all modules in it (submodules), each once: its own, then
    // those of the modules in it, then those of the modules in these.
    [[nodiscard]] std::vector<InputRef> parameters() const;
    // The module as a program of its inputs, for shapes and dtypes of the examples, with its
    // parameters as constants. Its program() is what exporters/cpp_project writes as C++.
    //
    //   execute::Compiled compiled = m.compile({.backend = "cpp"}, x);
    //   cpp_project::export_cpp_project({compiled.program()}, "folder", {compiled.name()});
    template <class... T>
        requires(std::convertible_to<T, numpy::Operand> && ...)
    [[nodiscard]] execute::Compiled compile(const execute::Options& options,
                                            const T&... examples) const {
        return compiled({Tensor(numpy::Operand(examples).tensor())...}, options);
    }
    [[nodiscard]] execute::Compiled compiled(const Tensors& examples,
                                             const execute::Options& options = {}) const;

  protected:
    // What the module computes from the nodes of its inputs; one node if it is called from outside.
    [[nodiscard]] virtual Nodes call(const Nodes& nodes) const = 0;
    // The modules that it keeps and `call` calls: parameters() goes through them.
    [[nodiscard]] virtual std::vector<const Module*> submodules() const { return {}; }

  private:
    [[nodiscard]] ModuleGraph outermost(Session& session, const Tensors& values) const;
};

// A module that is given as a function (Module::build).
class BuiltModule : public Module {
  public:
    BuiltModule(std::string name, CallFunction call, std::vector<InputRef> inputs,
                std::vector<InputRef> params = {});

  protected:
    [[nodiscard]] Nodes call(const Nodes& nodes) const override;

  private:
    CallFunction call_;
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
