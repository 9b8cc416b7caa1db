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

#define COMPOSIT_BINARY_OPERATOR(symbol, name)                        \
    inline Tensor operator symbol(const Tensor& a, const Tensor& b) { \
        static const scalar::RowRef& row = scalar::table_row(name);   \
        return numpy::apply_row(row, a, b);                           \
    }                                                                 \
    template <Literal T>                                              \
    Tensor operator symbol(const Tensor& a, T b) {                    \
        return a symbol numpy::Operand(b).tensor();                   \
    }                                                                 \
    template <Literal T>                                              \
    Tensor operator symbol(T a, const Tensor& b) {                    \
        return numpy::Operand(a).tensor() symbol b;                   \
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

#define COMPOSIT_UNARY_OPERATOR(symbol, name)                       \
    inline Tensor operator symbol(const Tensor& x) {                \
        static const scalar::RowRef& row = scalar::table_row(name); \
        return numpy::apply_row(row, x);                            \
    }

COMPOSIT_UNARY_OPERATOR(-, "negative")
COMPOSIT_UNARY_OPERATOR(+, "positive")
COMPOSIT_UNARY_OPERATOR(~, "invert")
#undef COMPOSIT_UNARY_OPERATOR

}  // namespace composit::ir
