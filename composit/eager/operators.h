// Operators of variables: those of tensors (numpy/operators.h), and writes in place.
//
//     Variable y = x * 2 + w;      // NumPy's promotion; C++'s numbers are weak
//     y += w;                      // into y's memory, which its views see; cast as `assign` casts
//     y.at({Slice{0, 2}}) *= 0.5;  // a part of it
//     Variable few = y < 1;        // of bools; `y.number() < 1` asks for one element
//
// As on tensors, `==` is not among them: equal(a.tensor(), b.tensor()) compares elements.
#pragma once

#include "composit/eager/variable.h"
#include "composit/numpy/operators.h"

namespace composit::eager {

#define COMPOSIT_VARIABLE_OPERATOR(symbol)                                  \
    inline Variable operator symbol(const Variable& a, const Variable& b) { \
        return made(a.tensor() symbol b.tensor(), {a, b});                  \
    }                                                                       \
    template <ir::Literal T>                                                \
    Variable operator symbol(const Variable& a, T b) {                      \
        return made(a.tensor() symbol b, {a});                              \
    }                                                                       \
    template <ir::Literal T>                                                \
    Variable operator symbol(T a, const Variable& b) {                      \
        return made(a symbol b.tensor(), {b});                              \
    }
#define COMPOSIT_VARIABLE_ASSIGNMENT(symbol)                                                 \
    inline const Variable& operator symbol## = (const Variable& to, const Variable& value) { \
        to.assign(to symbol value);                                                          \
        return to;                                                                           \
    }                                                                                        \
    template <ir::Literal T>                                                                 \
    const Variable& operator symbol## = (const Variable& to, T value) {                      \
        to.assign(to symbol value);                                                          \
        return to;                                                                           \
    }

COMPOSIT_VARIABLE_OPERATOR(+)
COMPOSIT_VARIABLE_OPERATOR(-)
COMPOSIT_VARIABLE_OPERATOR(*)
COMPOSIT_VARIABLE_OPERATOR(/)
COMPOSIT_VARIABLE_OPERATOR(%)
COMPOSIT_VARIABLE_OPERATOR(<)
COMPOSIT_VARIABLE_OPERATOR(<=)
COMPOSIT_VARIABLE_OPERATOR(>)
COMPOSIT_VARIABLE_OPERATOR(>=)
COMPOSIT_VARIABLE_ASSIGNMENT(+)
COMPOSIT_VARIABLE_ASSIGNMENT(-)
COMPOSIT_VARIABLE_ASSIGNMENT(*)
COMPOSIT_VARIABLE_ASSIGNMENT(/)
#undef COMPOSIT_VARIABLE_OPERATOR
#undef COMPOSIT_VARIABLE_ASSIGNMENT

inline Variable operator-(const Variable& x) { return made(-x.tensor(), {x}); }

}  // namespace composit::eager
