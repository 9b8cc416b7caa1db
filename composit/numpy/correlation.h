// Products of sequences that slide along each other, and of vectors.
//
// Operands are promoted to their result_type, which is the result's dtype. Sums run in the order of
// docs/semantics.md; an element outside of a sequence is left out, not multiplied by zero.
#pragma once

#include "composit/numpy/operand.h"

#include <string_view>

namespace composit::numpy {

// numpy.correlate: result[k] is the sum of a[n + k] v[n] of 1-d sequences. Modes: "valid" (k where
// all of the shorter one meets the longer), "same" (as many as the longer has), "full" (wherever
// they meet). ValueError: other modes, empty sequences, other ranks.
[[nodiscard]] Tensor correlate(const Tensor& a, const Tensor& v, std::string_view mode = "valid");
// numpy.convolve: the sum of a[n] v[k - n], modes as correlate's; 0-d operands have one element.
[[nodiscard]] Tensor convolve(const Tensor& a, const Tensor& v, std::string_view mode = "full");

// numpy.cross: the cross product along axes of length 3 (or 2: the third element is 0 then, and the
// product of two such vectors is that of their plane alone, without an axis); the other axes
// broadcast. The result's vectors lie along axisc. ValueError: "incompatible dimensions for cross
// product"; TypeError for bool.
[[nodiscard]] Tensor cross(const Tensor& a, const Tensor& b, int64_t axisa = -1, int64_t axisb = -1,
                           int64_t axisc = -1);

}  // namespace composit::numpy
