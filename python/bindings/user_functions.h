// autograd.Functions, whose backward users wrote: calls that are recorded, calls that are nodes
// with the Function's rules, and what the transforms of torch.func around a call do.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace composit::python {

namespace nb = nanobind;

// The transforms of torch.func around what a thread does now, and what they make of Functions.
struct FunctionTransforms {
    int graphs = 0;      // that differentiate graphs, which know no backward of Functions
    int records = 0;     // that differentiate by records
    int ruled = 0;       // in which a call of a Function is a node with its rules
    long long made = 0;  // such calls
    std::string randomness = "error";  // of the vmap around
};
FunctionTransforms& function_transforms();

// Adds one while it lives.
class Counted {
  public:
    explicit Counted(int& count) : count_(count) { ++count_; }
    ~Counted() { --count_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

  private:
    int& count_;
};

// Operations of no trace make nodes at once while it lives.
class OutsideOfTraces {
  public:
    OutsideOfTraces();
    ~OutsideOfTraces();
    OutsideOfTraces(const OutsideOfTraces&) = delete;
    OutsideOfTraces& operator=(const OutsideOfTraces&) = delete;

  private:
    nb::object before_;
};

// A call of a Function as a node with its rules (function_rules.cpp).
nb::object call_with_rules(const nb::object& function, const nb::tuple& args,
                           const nb::dict& kwargs);
// A structure of tensors without the rules of calls, where no transform is around this any more:
// graphs with rules are not found by their structure.
nb::object without_function_rules(nb::handle value);

// Whether the tangent of a result is being computed, of which a Function that gave tangents is no
// part (torch_duals.cpp).
bool tangents_are_asked();
// Gives the results of a Function the tangents of its jvp where an argument has a tangent, and says
// whether one has. RuntimeError, PyTorch's, for what is no tangent of a result.
bool give_tangents(const nb::object& function, const nb::object& context, const nb::tuple& args,
                   nb::handle result);

void bind_user_functions(nb::module_& module);       // user_functions.cpp
void bind_function_transforms(nb::module_& module);  // function_transforms.cpp
void bind_torch_jacobians(nb::module_& module);      // torch_jacobians.cpp
void bind_torch_duals(nb::module_& module);          // torch_duals.cpp

}  // namespace composit::python
