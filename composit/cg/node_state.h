// What a node holds, and the call in progress that makes nodes: the inside of module.h.
#pragma once

#include "composit/base/error.h"
#include "composit/cg/module.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::cg {

using Apply = std::function<Tensor(const Tensors&)>;

// A call of a module within a call: its name, the names of its inputs and the nodes that it was
// given; the call around it.
struct Frame {
    std::string module;
    std::vector<std::string> names;
    Nodes inputs;
    std::shared_ptr<const Frame> outer;
    size_t depth = 0;
};
using FrameRef = std::shared_ptr<const Frame>;

struct NodeState {
    std::string name, call_id;
    int64_t number = 0;      // in the order of the call
    bool is_number = false;  // a parameter that takes the others' dtype
    FrameRef frame;
    InputRef input;  // of a leaf
    Apply apply;     // of what an operator made
    Nodes children;
    Tensor tensor, gradient;
};

// promotion.cpp
// The tensors of nodes that an operator is given: parameters that are numbers in the dtype that
// such a number has beside the others.
Tensors operands_of(const Nodes& nodes, const Tensors& tensors);
// x in the dtype that a number of its kind has beside the others.
Tensor beside(const Tensor& x, const Tensors& others);

// A parameter that a call uses, which has to be a function of given parameters alone.
class HiddenParameter : public ValueError {
  public:
    HiddenParameter(InputRef parameter, const std::string& message)
        : ValueError(message), parameter_(std::move(parameter)) {}
    const InputRef& parameter() const { return parameter_; }

  private:
    InputRef parameter_;
};

// From the outermost module's entry to its return; one for each thread.
class Session {
  public:
    // `values` stand in for those of parameters; `are_all`: others, of floating or complex dtypes,
    // throw HiddenParameter.
    explicit Session(std::vector<std::pair<InputRef, Tensor>> values = {}, bool are_all = false);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    static Session* current();

    Node leaf(const InputRef& input, const Tensor& value);
    Node leaf(const InputRef& input);  // of a parameter or constant: one for each
    Node made(std::string name, const Apply& apply, Nodes children);
    Nodes within(const Function& module, const Nodes& nodes,
                 const std::function<Nodes(const Nodes&)>& call);

  private:
    Node node(NodeState state);

    std::string call_id_;
    int64_t count_ = 0;
    FrameRef frame_;
    std::vector<std::pair<InputRef, Tensor>> values_;
    bool are_all_;
    std::unordered_map<const Input*, Node> leaves_;
    std::unordered_map<std::string, int64_t> uses_;  // calls of modules so far, by name
    Session* before_;
};

}  // namespace composit::cg
