// Functions of complex numbers in parts, both float64.
//
// Relative errors are those of the parts' functions, but where noted in docs/accuracy.md.
#pragma once

#include "composit/ir/scalar/complex.h"

namespace composit::ir::scalar::complex {

Z exp(const Z& z);
Z exp2(const Z& z);
Z expm1(const Z& z);
Z log(const Z& z);
Z log2(const Z& z);
Z log10(const Z& z);
Z log1p(const Z& z);
Z sqrt(const Z& z);
Z power(const Z& z, const Z& n);  // of parts of either float dtype

Z sinh(const Z& z);
Z cosh(const Z& z);
Z tanh(const Z& z);
Z sin(const Z& z);
Z cos(const Z& z);
Z tan(const Z& z);
Z arcsinh(const Z& z);
Z arccosh(const Z& z);
Z arctanh(const Z& z);
Z arcsin(const Z& z);
Z arccos(const Z& z);
Z arctan(const Z& z);

// copysign, but for the sign of NaN, which is not defined: none.
Expr signed_as(const Expr& size, const Expr& sign);
Expr log_of_size(const Z& z);  // log |z|, without overflow on the way

}  // namespace composit::ir::scalar::complex
