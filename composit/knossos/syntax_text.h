// Trees of texts as Python writes them (ast.unparse): what errors show of a kernel.
#pragma once

#include "composit/knossos/syntax.h"

#include <string>

namespace composit::knossos {

// The text of a statement or an expression.
std::string written(const Syntax& part);
// The same, shortened to 40 characters.
std::string shown(const Syntax& part);
// Of a statement, the first line of what is shown.
std::string first_line_shown(const Syntax& statement);

}  // namespace composit::knossos
