#include "composit/backends/c_family/comments.h"

#include <sstream>

namespace composit::c_family {
namespace {

// Whether a character of three bytes in UTF-8 is a mark of direction (U+202A to U+202E, U+2066 to
// U+2069) or ends a line (U+2028, U+2029).
bool is_unseen(std::string_view three) {
    if (three.size() < 3 || three[0] != '\xe2') return false;
    const auto last = static_cast<unsigned char>(three[2]);
    return (three[1] == '\x80' && last >= 0xa8 && last <= 0xae) ||
           (three[1] == '\x81' && last >= 0xa6 && last <= 0xa9);
}

}  // namespace

std::string in_comment(std::string_view text) {
    std::string line;
    for (size_t i = 0; i < text.size(); ++i) {
        if (is_unseen(text.substr(i, 3))) {
            line += ' ';
            i += 2;
        } else {
            const auto c = static_cast<unsigned char>(text[i]);
            line += c < ' ' || c == 0x7f ? ' ' : text[i];
        }
    }
    // A backslash, or the three characters that were one, would join the next line.
    while (line.ends_with(' ') || line.ends_with('\\') || line.ends_with("\?\?/")) line.pop_back();
    return line;
}

std::string comment_of(std::string_view text) {
    std::string out;
    std::istringstream lines{std::string(text)};
    for (std::string each; std::getline(lines, each);) {
        const std::string line = in_comment(each);
        out += line.empty() ? "//\n" : "// " + line + "\n";
    }
    return out;
}

}  // namespace composit::c_family
