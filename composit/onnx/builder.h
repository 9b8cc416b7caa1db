// Building composit's graph of an ONNX graph: node after node, with scopes for graphs within.
#pragma once

#include "composit/onnx/call.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace composit::onnx {

// A model whose constants are tensors, once for all builds, and whose nodes were looked at: every
// operator is known, every name is made before it is used.
class Program {
  public:
    // NotSupported for operators and versions that are not built; ValueError for names that nothing
    // makes, or that are made twice.
    explicit Program(Model model);

    [[nodiscard]] const Model& model() const { return model_; }
    [[nodiscard]] const Function* function(const Node& node) const;
    [[nodiscard]] const Value& constant(const TensorData& data) const;
    [[nodiscard]] const Value& constant(const SparseTensorData& data) const;

  private:
    void read(const Graph& graph);
    void read(const std::vector<Node>& nodes);
    void read(const Attribute& attribute);
    void check(const Graph& graph, const std::vector<std::string>& around) const;
    void check(const Node& node, const Opsets& opsets) const;
    void check(const std::vector<Node>& nodes, const Opsets& opsets,
               std::vector<std::string>& names) const;

    Model model_;
    std::map<std::string, const Function*> functions_;  // by domain, name and overload
    std::unordered_map<const void*, Value> constants_;
};

// Names and their values; those of the graph around are seen too.
class Scope {
  public:
    explicit Scope(const Scope* around = nullptr) : around_(around) {}
    void set(const std::string& name, Value value) { values_[name] = std::move(value); }
    // Null where nothing has that name.
    [[nodiscard]] const Value* find(const std::string& name) const;

  private:
    const Scope* around_;
    std::unordered_map<std::string, Value> values_;
};

class Builder {
  public:
    explicit Builder(std::shared_ptr<const Program> program)
        : program_(std::move(program)), line_(ir::current_location()) {}

    // Tensors that take the place of initializers of the model's own graph.
    using Replaced = std::map<std::string, Tensor>;
    // The outputs of the model's graph, whose inputs have these values by name.
    [[nodiscard]] Values build(const std::map<std::string, Value>& inputs,
                               const Replaced& replaced);

    // The outputs of a graph within a node, whose inputs have these values. To be called while that
    // node is built.
    [[nodiscard]] Values build(const Graph& graph, const Values& inputs, const Call& call);

    [[nodiscard]] const Program& program() const { return *program_; }

  private:
    // A graph's nodes, with the names of the scopes around.
    struct Frame {
        Scope scope;
        const Opsets* opsets;
        const Call::Bound* bound;
    };
    void run(const std::vector<Node>& nodes, Frame& frame);
    void run(const Node& node, Frame& frame);
    [[nodiscard]] Values outputs_of(const Node& node, Frame& frame);
    [[nodiscard]] Values call(const Function& function, const Node& node, const Values& inputs,
                              const Frame& frame);
    [[nodiscard]] static Values taken(const std::vector<std::string>& names, const Scope& scope);
    void set_initializers(const Graph& graph, Scope& scope, const Replaced* replaced) const;

    // The node's name as a part of the model, then the user's line.
    [[nodiscard]] ir::Interned location_of(const Node& node) const;

    std::shared_ptr<const Program> program_;
    ir::Interned line_;           // of the user, where he called the model
    std::vector<Frame*> frames_;  // of the nodes that are being built, the innermost last
    int64_t built_ = 0;           // nodes
};

}  // namespace composit::onnx
