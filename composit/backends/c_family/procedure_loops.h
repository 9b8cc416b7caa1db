// What compilers are told of loops.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>

namespace composit::c_family {

// Whether the variable is part of the value.
bool reads(const ir::scalar::Expr& value, int variable);

// Whether a short loop of a known length is to stay a loop until it is vectorised: one of plain
// statements, whose iterations do not depend on one another, and which reads and writes elements
// that are neighbours. g++ unrolls it first, and then finds no vectors in most of them.
bool is_short_vector(const ir::procedure::Procedure& procedure,
                     const ir::procedure::Statement& loop);

// Two loops, one of which is all that the other does, and which only find their way through the
// same two axes of arrays, all of them: one loop through both axes says the same.
//   for (i = 0; i < n; ++i) for (j = 0; j < m; ++j) x[i * m + j] = y[i * m + j]
//   to  for (i = 0; i < n * m; ++i) x[i] = y[i]
struct Nest {
    int outer = -1, inner = -1;             // counters
    ir::scalar::Expr outer_end, inner_end;  // extents of the axes
    bool counts_up = true;
};
std::optional<Nest> nest_of(const ir::procedure::Procedure& procedure,
                            const ir::procedure::Statement& loop);

// "for (int64_t i = 0; i < n * m; ++i) {"
std::string head_of(const Nest& nest, const std::string& counter, const std::string& outer_end,
                    const std::string& inner_end);

// Whether a loop writes elements of local arrays, of which compilers do not know that they are
// nobody else's, as they do of outputs.
bool writes_local(const ir::procedure::Procedure& procedure, const ir::procedure::Statement& loop);

// Whether each iteration of a loop has elements of its own of what the loop writes, and also reads
// others of such an array: of another row, say. Compilers would ask before the loop whether these
// are what it writes, which takes as long as a short row.
bool reads_beside_own(const ir::procedure::Procedure& procedure,
                      const ir::procedure::Statement& loop);

// Whether each iteration has elements of its own of what the loop writes, and keeps something in an
// array on the stack: for such a loop compilers would compare all that it writes with all it reads.
bool keeps_values(const ir::procedure::Procedure& procedure, const ir::procedure::Statement& loop);

// Whether each iteration has elements of its own of what the loop writes, and some of that is one
// of the `exchanged` arrays, beside other arrays: compilers take two that exchange their elements
// for one, and would compare rows of them before each loop.
bool writes_exchanged(const ir::procedure::Procedure& procedure,
                      const ir::procedure::Statement& loop, const std::set<size_t>& exchanged);

// After how many iterations a loop is to ask whether it should stop, so that this takes no time but
// never seconds; 0: it need not, as it goes through an array and ends where that does, alone or
// with the loops within it, through rows.
int iterations_between_questions(const ir::procedure::Statement& loop);
bool any_loop_asks(const ir::procedure::Procedure& procedure);
// How it asks, by a variable that counts iterations; empty where it need not, or there is none.
std::string question_of(const ir::procedure::Statement& loop, const std::string& turns);

// Whether the element that a statement reads or writes is the neighbour of the one before, in the
// iterations of a loop that counts up by one.
bool is_next(const ir::procedure::Statement& statement, int counter);

}  // namespace composit::c_family
