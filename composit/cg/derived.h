// Modules that are made of functions: their derivatives, and their logarithms.
//
//   const auto second = cg::gradfn(cg::gradfn(m, x), x);  // where x is m.input("x")
//   second(3.0).value();
//   const auto in_logs = cg::logspace(m);
//
// Each has the inputs and the parameters of what it is made of, which it keeps a copy of: copies of
// a module share their parameters.
#pragma once

#include "composit/base/error.h"
#include "composit/cg/module.h"

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace composit::cg {

// A module or an operator as a function of tensors for its inputs, then for these parameters.
struct AsTensors {
    std::string name;
    std::vector<InputRef> inputs, parameters;
    std::function<Tensor(const Tensors& tensors, const std::vector<InputRef>& parameters)> apply;
};
[[nodiscard]] AsTensors as_tensors(std::shared_ptr<const Module> module);
[[nodiscard]] AsTensors as_tensors(std::shared_ptr<const Operator> function);

// TypeError where the object's class is not the one that it is given as, which would be copied.
template <std::derived_from<Function> F>
    requires std::copy_constructible<F>
[[nodiscard]] AsTensors as_tensors(const F& function) {
    user_check<TypeError>(typeid(function) == typeid(F), function.name(),
                          ": the module is given as one of its base classes. Its own class, or a "
                          "shared_ptr, is required.");
    return as_tensors(std::make_shared<const F>(function));
}

// The derivative with respect to an input or parameter (ValueError unless it is of `of`): a module
// whose result is the Jacobian, of shape result.shape + input.shape. Calls raise TypeError unless
// the result is of a floating dtype and the input of an inexact one.
[[nodiscard]] BuiltModule gradfn(const AsTensors& of, const InputRef& input);
// The logarithm of the result, computed with logarithms (logspace.h).
[[nodiscard]] BuiltModule logspace(const AsTensors& of);

// Of a module or an operator; of one that cannot be copied, of a shared_ptr to it.
template <class F>
    requires requires(const F& f) { as_tensors(f); }
[[nodiscard]] BuiltModule gradfn(const F& function, const InputRef& input) {
    return gradfn(as_tensors(function), input);
}
template <class F>
    requires requires(const F& f) { as_tensors(f); }
[[nodiscard]] BuiltModule logspace(const F& function) {
    return logspace(as_tensors(function));
}

}  // namespace composit::cg
