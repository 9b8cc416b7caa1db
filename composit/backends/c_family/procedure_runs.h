// Loops over neighbouring elements of which a call of one function says all: sums of products,
// multiples that are added, the place of the largest.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

// Elements of an array, one behind the other, from the one with this index on.
struct Run {
    int array = -1;
    std::vector<ir::scalar::Expr> index;
};

// total = 0; for (i …) total += a[i] * b[i], at this place of the block and the next one.
struct Dot {
    int total = -1;
    Run a, b;
    ir::scalar::Expr count;
};
std::optional<Dot> dot_at(const ir::procedure::Procedure& procedure,
                          const ir::procedure::Block& block, size_t index);

// The one statement, of those behind the two of a block that find a value, that reads it, once:
// what gives the value can stand there, if it reads only these variables and arrays. Null: none, or
// more.
struct ReadBy {
    std::set<int> variables, arrays;
};
const ir::procedure::Statement* reader_of(const ir::procedure::Procedure& procedure,
                                          const ir::procedure::Block& block, size_t index,
                                          int value, const ReadBy& read);
ReadBy read_in(const Dot& dot);

// y[i] += x[i] * factor, or y[i] = x[i] * factor.
struct Multiple {
    Run to, from;
    ir::scalar::Expr factor;
    bool adds = false;
    int line = 0;
};
// All that the iterations of a loop do: for (i …) { y[i] += x[i] * a; z[i] = x[i] * b; }, in which
// no statement touches what another one writes. Empty: they do something else.
struct Multiples {
    std::vector<Multiple> all;
    ir::scalar::Expr count;
};
Multiples multiples_of(const ir::procedure::Procedure& procedure,
                       const ir::procedure::Statement& loop);

// at = 0; for (i …) if (x[i] > x[at]) at = i, or with <, over all elements of an array, and before
// it, maybe, the assertion that there are any.
struct Extreme {
    int at = -1, array = -1;
    ir::scalar::Expr count;
    bool is_largest = true;
    size_t statements = 2;
};
std::optional<Extreme> extreme_at(const ir::procedure::Procedure& procedure,
                                  const ir::procedure::Block& block, size_t index);

// The functions that stand for such loops, as text of the file; `throws` as in array_functions.
std::string run_functions(bool throws);

}  // namespace composit::c_family
