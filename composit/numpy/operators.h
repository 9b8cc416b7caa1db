// C++ operators on tensors: elementwise, NumPy's promotion, literals are weak scalars.
//
// They live in the namespace of Tensor, where argument-dependent lookup finds them. `==` and `!=`
// are not here: on tensors they ask whether two handles are the same node and output (ir/node.h),
// so that tensors can be keys; elementwise equality is equal(a, b). Division is NumPy's
// true_divide, % its remainder (sign of the divisor), & | ^ ~ << >> its bitwise functions.
#pragma once

#include "composit/numpy/elementwise.h"

#include <concepts>

namespace composit::ir {

// A number in C++ source.
template <class T>
concept Literal = std::integral<T> || std::floating_point<T>;

#define COMPOSIT_BINARY_OPERATOR(symbol, row)                         \
    inline Tensor operator symbol(const Tensor& a, const Tensor& b) { \
        return numpy::apply(row, {a, b});                             \
    }                                                                 \
    template <Literal T>                                              \
    Tensor operator symbol(const Tensor& a, T b) {                    \
        return numpy::apply(row, {a, numpy::Operand(b)});             \
    }                                                                 \
    template <Literal T>                                              \
    Tensor operator symbol(T a, const Tensor& b) {                    \
        return numpy::apply(row, {numpy::Operand(a), b});             \
    }

COMPOSIT_BINARY_OPERATOR(+, "add")
COMPOSIT_BINARY_OPERATOR(-, "subtract")
COMPOSIT_BINARY_OPERATOR(*, "multiply")
COMPOSIT_BINARY_OPERATOR(/, "divide")
COMPOSIT_BINARY_OPERATOR(%, "remainder")
COMPOSIT_BINARY_OPERATOR(<, "less")
COMPOSIT_BINARY_OPERATOR(<=, "less_equal")
COMPOSIT_BINARY_OPERATOR(>, "greater")
COMPOSIT_BINARY_OPERATOR(>=, "greater_equal")
COMPOSIT_BINARY_OPERATOR(&, "bitwise_and")
COMPOSIT_BINARY_OPERATOR(|, "bitwise_or")
COMPOSIT_BINARY_OPERATOR(^, "bitwise_xor")
COMPOSIT_BINARY_OPERATOR(<<, "left_shift")
COMPOSIT_BINARY_OPERATOR(>>, "right_shift")
#undef COMPOSIT_BINARY_OPERATOR

inline Tensor operator-(const Tensor& x) { return numpy::apply("negative", {x}); }
inline Tensor operator+(const Tensor& x) { return numpy::apply("positive", {x}); }
inline Tensor operator~(const Tensor& x) { return numpy::apply("invert", {x}); }

}  // namespace composit::ir
