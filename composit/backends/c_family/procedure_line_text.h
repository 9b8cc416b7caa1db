// What the text of a printed line says.
#pragma once

#include "composit/backends/c_family/procedure_lines.h"

#include <string>
#include <string_view>
#include <vector>

namespace composit::c_family {

// "const double ", of a line that declares; empty where it does not.
std::string_view declared_type(std::string_view text);
// Whether a declaration is of one variable: no comma stands outside of parentheses.
bool declares_one(std::string_view text);
// The variables that a declaration is of.
std::vector<std::string> names_declared(std::string_view text);
// Whether it changes what it reads: an adjoint, or the end of a log.
bool takes_elements(std::string_view text);
// How many lines it takes, none of which is too long.
size_t count_of_lines(const PrintedLine& line);

}  // namespace composit::c_family
