// Lines of a procedure in C: what does not hold, and what nobody reads.
#pragma once

#include "composit/backends/c_family/procedure_lines.h"

#include <string>
#include <string_view>
#include <vector>

namespace composit::c_family {

// The text with `by` for the word.
std::string with_require(const std::string& text, std::string_view word, std::string_view by);
// "assert(a < b);" as "if (a >= b) return 1;", of an index, or as "if (!(a < b)) return 2;".
std::string with_status(const std::string& text, std::string_view word, int status);
// Without variables that no other line reads: extents of arrays that are on the stack.
std::vector<PrintedLine> without_unread_variables(std::vector<PrintedLine> lines);

}  // namespace composit::c_family
