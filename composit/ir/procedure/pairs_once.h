// Pairs of iterations that a derivative meets twice, once in each order.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <cstdint>

namespace composit::ir::procedure {

// How many sums run beside one another where pairs are summed.
constexpr int64_t lanes_of_sums = 8;

// The same derivative, in which a nest over all ordered pairs of different
// counters, that only adds to arrays, is one over pairs: of what both orders compute, values that
// are the same but for their sign are computed once, if these hold quotients, roots or functions.
// Sums of the outer counter's elements run in lanes. Sums have another order, so their last bits
// differ.
//   for i < n: for j < n: if (i != j) { d = x[j] - x[i]; y[j] += f(d * d) * m[i] }  to
//   for i < n: for j < i: d = x[j] - x[i]; f = f(d * d);
//                         y[j] += f * m[i]; s[j % 8] += f * m[j];
//              for l < 8: y[i] += s[l]
// pairs_once.cpp
Procedure with_pairs_met_once(Procedure procedure);

// The same procedure, whose loops that add to lanes (`s[j % 8] += f(j)`) run eight iterations in a
// loop of their own, which compilers make vectors of; the rest run one by one. sums_in_lanes.cpp
//   for j < n: s[j % 8] += f(j)  to
//   for j < n / 8 * 8, by 8: for l < 8: s[l] += f(j + l); for the rest of j: …
Procedure with_lanes_in_loops(Procedure procedure);
// Whether a loop adds to lanes one by one.
bool adds_to_lanes(const Statement& loop);

}  // namespace composit::ir::procedure
