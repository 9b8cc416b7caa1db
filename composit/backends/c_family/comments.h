// Users' texts in comments of generated code: docstrings, names of files and of functions.
#pragma once

#include <string>
#include <string_view>

namespace composit::c_family {

// The text on one line that a comment may end with, in UTF-8: what would end the comment, or carry
// it on to the next line, or is not seen and turns the text around, is taken out.
std::string in_comment(std::string_view text);
// Its lines as a comment: "// first\n//\n// third\n".
std::string comment_of(std::string_view text);

}  // namespace composit::c_family
