// What rows of an array hold before a loop goes through them: fills, and what loops give each row.
#pragma once

#include "composit/ir/procedure/integer_facts.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace composit::ir::procedure {

// A statement that gives elements of each row of a range the values of an expression.
//   for k: a[k] = c   of all rows;   for i: a[i + 1, 0] = f(i)   of one after the other
struct RowContent {
    const Statement* statement = nullptr;  // the store
    bool is_fill = false;                  // of all elements, the value stays the same
    std::vector<const Statement*> loops;   // around it, the outermost first
    size_t row_loop = 0;                   // which of them goes from row to row
    Range range;                           // of that one's counter
    int64_t offset = 0;                    // the row, less that counter
    Block needed;                          // what the store reads, computed in the innermost loop
};

// The contents that `statement` gives rows, along `axis`, of the array, in order; none if it does
// anything else to the array. `changed`: variables that do not stay what they are.
std::optional<std::vector<RowContent>> contents_given(const Procedure& procedure,
                                                      const IntegerFacts& facts,
                                                      const Statement& statement, int array,
                                                      size_t axis,
                                                      const std::map<int, int>& changed);

// The ranges of a row's elements that the iteration may read before it writes them, if the row is
// first written to from end to end: `offset` is its index on the axis less the loop's counter.
// None where anything may be read. Rows of one axis; an array of one axis has rows of one element,
// and no ranges if that is written first.
std::optional<std::vector<Range>> ranges_left(const Procedure& procedure, const IntegerFacts& facts,
                                              const Statement& loop, int counter, int array,
                                              size_t axis, int64_t offset);

// A store to a row of which the iteration reads the element no more: its place in a loop of the
// loop's body, and that one's. Of the zero that a taken gradient leaves behind, say.
struct IdleStore {
    size_t loop = 0, store = 0;
};
std::optional<IdleStore> idle_store(const Procedure& procedure, const IntegerFacts& facts,
                                    const Statement& loop, int counter, int array, size_t axis,
                                    int64_t offset);

}  // namespace composit::ir::procedure
