// What procedures call that are printed as work on items (c_family/procedure_in_c.h).
//
// Arrays of an item that are large, or of a computed size, are places in a workspace of which each
// item has a part. What must hold for the work to go on, assertions and room in the workspace, is
// reported as indices out of bounds are (fault.h): the lowest item that fails is the one whose
// failure is told.
#pragma once

#include "composit/backends/simt/dialect.h"

#include <cstdint>
#include <set>
#include <string>

namespace composit::simt {

// In the record of a fault, `axis` says what did not hold for the item `outer`; `index` is the line
// of the text.
enum class ItemFault : int64_t { assertion = 0, workspace = 1 };

// What the text of items calls, behind the dialect's prelude and its fault_text.
std::string item_support(const Dialect& dialect, bool has_workspace);
// Identifiers that functions for items have for themselves: none of the user's is one of them.
const std::set<std::string>& item_words();

}  // namespace composit::simt
