// The part of a text that compilers see.
#pragma once

#include <string>
#include <string_view>

namespace composit::c_family {

// The text without what its comments (from // to the end of the line) say. Lines keep their
// numbers. Caches of compiled code know a text by it: comments have the lines of the user's file,
// which move whenever somebody adds one above.
std::string code_alone(std::string_view text);

}  // namespace composit::c_family
