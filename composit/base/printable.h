// Texts that others chose (names, source lines, files, docstrings), as parts of a text that
// composit writes. Whatever they hold, they stay where they are put, and a reader sees what they
// are.
#pragma once

#include <string>
#include <string_view>

namespace composit {

// The text in UTF-8 on one line. Each character that ends a line, that controls something, that
// turns the direction of what follows, that nobody sees, or that is none (bytes that are no UTF-8)
// becomes a space.
std::string printable(std::string_view text);

// The same as text or as the value of an attribute in XML and HTML.
std::string in_markup(std::string_view text);

// Its lines as the inside of a quoted label in graphviz's language, which reads \ and & as its own.
std::string in_label(std::string_view text);

}  // namespace composit
