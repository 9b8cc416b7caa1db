// Long lines of printed C and C++ as several.
#pragma once

#include <string>

namespace composit::c_family {

inline constexpr size_t longest_line = 100;

// The code, its lines broken where they are longer than `longest_line`: behind a comma or before an
// operator, of those that leave a rest that fits the one outside of as many parentheses as can be.
// What follows stands eight columns further in. Comments, directives and lines with no such place
// stay as they are.
//   const double slope = weight * (first + second) - other * …   to
//   const double slope = weight * (first + second)
//           - other * …
std::string in_columns(const std::string& code);

}  // namespace composit::c_family
