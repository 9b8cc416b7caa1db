// Words that no identifier may be, wherever it stands.
#pragma once

#include <string_view>

namespace composit::c_family {

// A word of C++20 or of C (restrict), or main.
bool is_keyword(std::string_view word);
// A macro in small letters, of C's headers (errno) or of compilers (linux).
bool is_small_macro(std::string_view word);

}  // namespace composit::c_family
