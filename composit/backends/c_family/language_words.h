// Words that no identifier may be, wherever it stands, and letters that identifiers are made of.
#pragma once

#include <string>
#include <string_view>

namespace composit::c_family {

// A word of C++20 or of C (restrict), or main.
bool is_keyword(std::string_view word);
// A macro in small letters, of C's headers (errno) or of compilers (linux).
bool is_small_macro(std::string_view word);

// A name in UTF-8 in letters of ASCII, other letters each in their own way: α as alpha, ü as u00fc.
std::string in_ascii(std::string_view name);

}  // namespace composit::c_family
