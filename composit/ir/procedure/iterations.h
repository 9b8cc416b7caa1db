// What the iterations of a loop have to do with one another: elements of their own, checks that
// say the same in each.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <map>
#include <optional>

namespace composit::ir::procedure {

// The variable of a loop that counts up or down by a constant, which its body does not change.
std::optional<int> stepped_by(const Statement& loop);

// Whether no two iterations of a loop touch one element of the array: along one axis, all indices
// of the loop's body are the counter and one constant.
//   for i: x[i + 1, k] = x[i + 1, k - 1]   yes
//   for i: x[i + 1] = x[i]                 no
bool has_own_elements(const Procedure& procedure, const Block& body, int counter, int array);

// Whether the loop is one to make vectors of: innermost, without choices and checks, calling
// functions, and whatever it writes, each iteration writes elements of its own.
bool is_for_vectors(const Procedure& procedure, const Statement& loop);

// What only `loop` mentions, of variables that are mentioned so often in the whole, gets variables
// of its own in a copy of it, so that each is declared where it is used.
void give_own_variables(Procedure& procedure, Statement& copy, const Statement& loop,
                        const std::map<int, int>& mentions);

// The same procedure, whose inner loops keep in a variable what they add to an element that is the
// same in all iterations, and where all iterations but one do something, run before that one and
// behind it: compilers make vectors of such loops. Each sum has the order that it had.
//   for j: if (j != i) x[i] += f(j)  to
//   s = x[i]; for (j < i) s += f(j); x[i] = s; s = x[i]; for (j > i) s += f(j); x[i] = s
// inner_sums.cpp
Procedure with_sums_in_variables(Procedure procedure);

// The same procedure, whose innermost loops read operands of functions that no iteration changes,
// of functions of what iterations change, from an array that is filled before: g++ makes no vectors
// of a loop after it moved a part of such a function, with its branches, before it.
//   for k: y[k] = power(a, k)  to  for k: b[k] = a; for k: y[k] = power(b[k], k)
// varied_operands.cpp
Procedure with_varied_operands(Procedure procedure);

// The same procedure, four iterations of whose loops run together where their inner loops add to
// the same elements: these are read and written once for all four. Each sum has the order that it
// had.
//   for i: for j: y[j] += f(i, j)  to
//   for i by 4: for j: y[j] = y[j] + f(i, j) + f(i + 1, j) + …; for the rest of i: …
// rows_together.cpp
Procedure with_rows_together(Procedure procedure);

// The same procedure, four iterations of whose loops run together where each sums something in an
// inner loop, in order, and reaches elements of its own alone: four sums wait for one addition.
//   for i: s = 0; for j: s += f(i, j); y[i] = s  to
//   for i by 4: s = 0; t = 0; …; for j: s += f(i, j); t += f(i + 1, j); …; y[i] = s; y[i + 1] = t;
//   …
// sums_together.cpp
Procedure with_sums_together(Procedure procedure);

// The same procedure, in which a fill of an array of two or more axes leaves out the elements that
// a nest of loops behind stores before anything reads them: those of a box, of which iterations
// read what earlier ones stored, or what lies outside. Bounds of which nothing is known are asked.
//   x = full((n + 1, m + 1), c); x[0, 0] = 0; for i < n: for j < m: x[i + 1, j + 1] = f(x[i, j])
//   to  for k < m + 1: x[0, k] = c; for k = 1 to n: x[k, 0] = c; x[0, 0] = 0; …
// borders_filled.cpp
Procedure with_borders_filled(Procedure procedure);

// The same procedure, in which columns of input matrices that loops within others read from end to
// end are copied once to arrays of their own, before the outermost loop: neighbours are vectors.
//   for i: for j: f(x[j, 0], x[j, 1])  to
//   for j: a[j] = x[j, 0]; b[j] = x[j, 1]; for i: for j: f(a[j], b[j])
// columns_apart.cpp
Procedure with_columns_apart(Procedure procedure);

// The same procedure, in which columns of matrices that loops within others add to, row by row, are
// arrays of their own while the outermost loop runs: neighbours are vectors.
//   for i: for j: y[j, 0] += f(i, j); y[j, 1] += g(i, j)  to
//   for j: a[j] = y[j, 0]; b[j] = y[j, 1]
//   for i: for j: a[j] += f(i, j); b[j] += g(i, j)
//   for j: y[j, 0] = a[j]; y[j, 1] = b[j]
// sums_apart.cpp
Procedure with_columns_of_sums_apart(Procedure procedure);

// The same procedure, in which an iteration that gives an element a constant and adds to it later
// writes it once, if nothing between looks at it: compilers read elements again behind every write
// of others that may be the same ones. What lies as far apart as there are iterations is not.
//   for k < h: g = x[k + h]; x[k + h] = 0; x[k] += g; x[k + h] += f(g)  to
//   for k < h: g = x[k + h]; x[k] += g; x[k + h] = 0 + f(g)
// elements_once.cpp
Procedure with_elements_written_once(Procedure procedure);

// The same procedure, in which every k-th element of an array, which loops within others read again
// and again, is copied to neighbours before the outer loop, if that runs twice or more: once for
// each phase, if k is a literal and where the elements begin moves, else what is read alone.
//   for i: for j: f(x[2 * j + i])  to
//   a = x[0], x[2], …, x[1], x[3], …; for i: for j: f(a[i % 2 * length + i / 2 + j])
// strides_apart.cpp
Procedure with_strides_apart(Procedure procedure);

// The same procedure, in which what a loop adds to neighbouring elements of an array is kept for a
// block of iterations, and each element sums what is added to it, in the order of the iterations:
// both are vectors, if nothing else goes from one iteration to another. Few iterations run as they
// did.
//   for j: g = f(j); x[j - 1] += g; x[j + 1] += g  to
//   for 256 of j at once: for j: g[j] = f(j); for j: x[j] += g[j - 1]; x[j] += g[j + 1]
// neighbours_summed.cpp
Procedure with_neighbours_summed(Procedure procedure);

// The same procedure, whose loops run in blocks of a fixed number of iterations where a part of
// them computes functions or quotients and may become vectors, and another part keeps compilers
// from it: sums of inner loops, and what one iteration hands on to the next. Each part has a loop
// over the block; between them values are kept in arrays. Each sum has the order that it had.
//   for j: s = 0; for k: s += f(j, k); total += exp(s)  to
//   for 64 of j at once: for j: s[j] = 0; for k: for j: s[j] += f(j, k);
//                        for j: e[j] = exp(s[j]); for j: total += e[j]
// loops_in_blocks.cpp
Procedure with_loops_in_blocks(Procedure procedure);

// The same procedure, whose innermost loops leave out an iteration's contributions to gradients
// where the gradient that all of them are multiples of is 0, if these go on to few elements: to the
// least of several, say. For text and interpreters, after all derivatives are made: what is left
// out has a derivative.
//   for k: g = dy[k]; dy[k] = 0; dy[k - 1] += c ? g : 0; dx[k] += g * x[k]  to
//   for k: g = dy[k]; dy[k] = 0; if (g != 0) { … }
// zero_gradients.cpp
Procedure without_zero_gradients(Procedure procedure);

// The same procedure, whose loops that only do something for an element which is not 0 look at
// sixteen at once, and go on behind them if all are.
//   for k: g = x[k]; if (g != 0) …  to
//   for k: if (16 are left and all of x[k], …, x[k + 15] are 0) { k += 15; continue; } g = x[k]; …
// zeros_at_once.cpp
Procedure with_zeros_passed_at_once(Procedure procedure);

// The same procedure, whose innermost loops that count down count up where no iteration has to do
// with another one: processors read and write vectors of neighbours as they lie, and would turn
// them around.
//   for (k = n - 1; k >= 0; --k) x[k] += y[k]  to  for (k = 0; k < n; ++k) x[k] += y[k]
// loops_upwards.cpp
Procedure with_loops_upwards(Procedure procedure);

// The procedure with assertions that say the same in all iterations of a loop before the loop, so
// that they ask once, and loops without them become vectors. The first that fails stays the first.
Procedure with_checks_ahead(Procedure procedure);

}  // namespace composit::ir::procedure
