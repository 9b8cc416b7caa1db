// What loops within loops compute and derivatives need again: kept as long as one iteration of the
// outermost loop.
#pragma once

#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace composit::ir::procedure {

// An iteration of an outermost loop is run again for its derivative. What its inner loops compute
// in that run, they find there when their own iterations run again, so that no statement runs more
// than twice, but for what is cheaper to compute than to keep; products of recurrences run once.
struct Kept {
    // array -> the counter of the loop whose iterations find its elements there
    std::map<int, int> loops;
    // Of an array with first axes for loops: its adjoint lives in one iteration of the loop with
    // this counter, and has none of these axes.
    struct Life {
        int counter = -1;
        std::ptrdiff_t axes = 0;
    };
    std::map<int, Life> lives;
    // variable -> the array, and the place in it, that keeps its value
    std::map<int, std::pair<int, std::vector<Expr>>> values;
};

// None of these for arrays that change (elements are overwritten: what an iteration finds is not
// what stays), and for loops that note what they overwrite of those: logged_loops.h.

// Local arrays of inner loops that are filled, then read, get an axis for each of these loops, and
// live as long as an iteration of the outermost one. The procedure computes the same.
//   for i: for j: t = empty(d)                for i: t = empty(n, d)
//                 for k: t[k] = …       to           for j: for k: t[j, k] = …
//                 … t[k] …                                  … t[j, k] …
void keep_arrays(Procedure& procedure, const std::set<int>& changing, Kept& kept);

// Local arrays of an outermost loop whose iterations read what earlier ones wrote, each element of
// which takes a loop of its own (a product of a matrix and a vector), get an axis for that loop, if
// what the loop hands on takes as much memory: elements are not computed again then.
//   for t: g = empty(d)                            g = empty(n, d)
//          for j: g[j] = sum of a[j] * h[t]   to   for t: for j: g[t, j] = …
//          h[t + 1] = … g …                               h[t + 1] = … g[t] …
void keep_products(Procedure& procedure, const std::set<int>& changing, Kept& kept);

// Values of functions in inner loops get a place in a new array, which the outermost loop's body
// allocates. Who reverses writes and reads them. Loops that would run again for nothing else keep
// nothing: their own iterations compute it when they run again.
void keep_values(Procedure& procedure, Block& body, const ArrayUse& use,
                 const std::set<int>& changing, Kept& kept);

}  // namespace composit::ir::procedure
