// Functions of functions: evaluate, compile, grad, vjp, jvp, vmap, with JAX's signatures.
//
// A function is any callable from tensors to a tensor, or to a vector of tensors. It is traced once
// per call with placeholders of the arguments' shapes and dtypes; what it captures is constant.
// Values that decide shapes (masks, nonzero) can therefore not depend on the arguments
// (NotSupported).
//
//   auto loss = [](const Tensor& w, const Tensor& x) { return mean(square(matmul(x, w))); };
//   Tensor dw = grad(loss)(w, x);
#pragma once

#include "composit/execute/execute.h"
#include "composit/ir/node.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace composit {

using ir::Array;
using ir::DType;
using ir::Shape;
using ir::Tensor;

// The general form of a function: what the callables below are turned into.
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

// ----- running
// Values, computed together. Default options: the interpreter.
[[nodiscard]] std::vector<Array> evaluate(const Tensors& outputs,
                                          const execute::Options& options = {});
[[nodiscard]] Array evaluate(const Tensor& output, const execute::Options& options = {});

// ----- the general forms, for functions of a list of arguments
// One specialisation of f for the shapes and dtypes of the examples (whose values do not matter).
// Arguments are named as the examples are, else x0, x1, …
[[nodiscard]] execute::Compiled compile_function(const Function& f, const Tensors& examples,
                                                 const execute::Options& options = {},
                                                 const std::string& name = "f");
struct Gradients {
    Tensors values, gradients;
};
// f's values and the gradients of its first, with respect to the arguments `argnums` (negative ones
// count from the end). TypeError, JAX's words, unless that value is 0-d and of a floating dtype,
// and so the arguments.
[[nodiscard]] Gradients value_and_gradients(const Function& f, const Tensors& arguments,
                                            const std::vector<int64_t>& argnums);
using Pullback = std::function<Tensors(const Tensors& cotangents)>;
// f(primals), and the function that takes one cotangent per value to one gradient per primal.
[[nodiscard]] std::pair<Tensors, Pullback> vjp_function(const Function& f, const Tensors& primals);
// f(primals) and the tangents of the values.
[[nodiscard]] std::pair<Tensors, Tensors> jvp_function(const Function& f, const Tensors& primals,
                                                       const Tensors& tangents);
// f over the axis in_axes[i] of argument i (nothing: the same for all), results along out_axis.
// ValueError when the batched axes have different lengths, or there are none.
using InAxes = std::vector<std::optional<int64_t>>;
[[nodiscard]] Tensors vmap_function(const Function& f, const Tensors& arguments,
                                    const InAxes& in_axes, int64_t out_axis = 0);

// ----- for callables of separate arguments
namespace detail {

template <class F, size_t... I>
Tensors call(const F& f, const Tensors& arguments, std::index_sequence<I...>) {
    using Result = std::invoke_result_t<const F&, decltype(arguments[I])...>;
    if constexpr (std::convertible_to<Result, Tensor>)
        return {f(arguments[I]...)};
    else
        return f(arguments[I]...);
}

// f of `count` tensors as a Function.
template <size_t count, class F>
Function general(F f) {
    return [f = std::move(f)](const Tensors& arguments) {
        return call(f, arguments, std::make_index_sequence<count>());
    };
}

// What f returns, out of what its general form returned.
template <class F, class... Arguments>
auto as_returned(Tensors values) {
    using Result = std::invoke_result_t<const F&, Arguments...>;
    if constexpr (std::convertible_to<Result, Tensor>)
        return Tensor(std::move(values[0]));
    else
        return values;
}

template <class... T>
concept AllTensors = (std::convertible_to<T, Tensor> && ...);

}  // namespace detail

// grad(f)(x, …): the gradient with respect to argument argnum. f returns a 0-d tensor.
template <class F>
auto grad(F f, int64_t argnum = 0) {
    return [f = std::move(f), argnum]<detail::AllTensors... T>(const T&... x) -> Tensor {
        return value_and_gradients(detail::general<sizeof...(T)>(f), {x...}, {argnum}).gradients[0];
    };
}

// Several arguments at once.
template <class F>
auto grad(F f, std::vector<int64_t> argnums) {
    return [f = std::move(f), argnums]<detail::AllTensors... T>(const T&... x) -> Tensors {
        return value_and_gradients(detail::general<sizeof...(T)>(f), {x...}, argnums).gradients;
    };
}

// (value, gradient)
template <class F>
auto value_and_grad(F f, int64_t argnum = 0) {
    return [f = std::move(f),
            argnum]<detail::AllTensors... T>(const T&... x) -> std::pair<Tensor, Tensor> {
        Gradients both = value_and_gradients(detail::general<sizeof...(T)>(f), {x...}, {argnum});
        return {both.values[0], both.gradients[0]};
    };
}

// vjp(f, x, …) -> (values, pullback)
template <class F, detail::AllTensors... T>
std::pair<Tensors, Pullback> vjp(F f, const T&... primals) {
    return vjp_function(detail::general<sizeof...(T)>(std::move(f)), {primals...});
}

// jvp(f, {x, …}, {dx, …}) -> (values, tangents); f takes a list.
inline std::pair<Tensors, Tensors> jvp(const Function& f, const Tensors& primals,
                                       const Tensors& tangents) {
    return jvp_function(f, primals, tangents);
}
// jvp(f, x, dx) for a function of one tensor.
template <class F>
    requires std::invocable<const F&, const Tensor&>
std::pair<Tensor, Tensor> jvp(F f, const Tensor& primal, const Tensor& tangent) {
    auto [values, tangents] = jvp_function(detail::general<1>(std::move(f)), {primal}, {tangent});
    return {values[0], tangents[0]};
}

// vmap(f)(x, …): f over the leading axes of all its arguments.
template <class F>
auto vmap(F f, int64_t in_axis = 0, int64_t out_axis = 0) {
    return [f = std::move(f), in_axis, out_axis]<detail::AllTensors... T>(const T&... x) {
        return detail::as_returned<F, const T&...>(vmap_function(
            detail::general<sizeof...(T)>(f), {x...}, InAxes(sizeof...(T), in_axis), out_axis));
    };
}
// vmap(f, {0, std::nullopt})(x, w): an axis per argument.
template <class F>
auto vmap(F f, InAxes in_axes, int64_t out_axis = 0) {
    return [f = std::move(f), in_axes, out_axis]<detail::AllTensors... T>(const T&... x) {
        return detail::as_returned<F, const T&...>(
            vmap_function(detail::general<sizeof...(T)>(f), {x...}, in_axes, out_axis));
    };
}

// compile(f, options, examples…): one specialisation, ready to call with arrays.
template <class F, detail::AllTensors... T>
execute::Compiled compile(F f, const execute::Options& options, const T&... examples) {
    return compile_function(detail::general<sizeof...(T)>(std::move(f)), {examples...}, options);
}

}  // namespace composit
