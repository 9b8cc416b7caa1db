// Statements that give rows of arrays what they hold, and take them in place of the whole arrays.
#pragma once

#include "composit/ir/procedure/integer_facts.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/row_contents.h"
#include "composit/ir/procedure/structure.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace composit::ir::procedure {

// An array of one axis less than the whole one, or a variable for an array of one axis.
struct RowPlace {
    bool is_array = true;
    int at = -1;
};

// The statement, which reads or writes an element of the whole array, for that of the row.
void take_row(const Procedure& procedure, Statement& use, const RowPlace& row, size_t axis);

// Two arrays exchange their elements: three copies, which are one exchange of memory in text.
Block exchange_rows(Procedure& procedure, int one, int other, const SourceLine& line);

// All elements of a row, or those of the ranges, get one value.
Block fill_row(Procedure& procedure, const IntegerFacts& facts, const RowPlace& row,
               const Expr& value, const std::optional<std::vector<Range>>& ranges,
               const SourceLine& line);

// What the content's statement gives the row where its loop has that counter, in variables of its
// own, if the condition holds, where there is one.
Block give_row(Procedure& procedure, const RowContent& content, const RowPlace& row, size_t axis,
               const Expr& counter, const Expr& condition);

}  // namespace composit::ir::procedure
