// Comments and strings of generated code: the one place that puts users' texts (docstrings, names,
// source lines, files) into them, for every printer of C-like text.
#pragma once

#include <string>
#include <string_view>

namespace composit {

// The text on one line that a comment may end with, in UTF-8: what would end the comment, or carry
// it on to the next line, or is not seen and turns the text around, is taken out.
std::string in_comment(std::string_view text);

// "// text\n", or "//\n" where nothing of it is left.
std::string comment_line(std::string_view text);
// Its lines as a comment: "// first\n//\n// third\n".
std::string comment_of(std::string_view text);
// Its words as a comment of as many lines as they need.
std::string comment_of_words(std::string_view words);

// "text" in quotes, with escapes for all that is not plain ASCII.
std::string string_literal(std::string_view text);

}  // namespace composit
