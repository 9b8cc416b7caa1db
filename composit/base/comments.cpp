#include "composit/base/comments.h"

#include "composit/base/printable.h"

#include <algorithm>

namespace composit {
namespace {

constexpr size_t longest_comment = 100;

// A backslash, or the three characters that were one, would join the next line.
std::string without_joining(std::string line) {
    while (line.ends_with(' ') || line.ends_with('\\') || line.ends_with("\?\?/")) line.pop_back();
    return line;
}

}  // namespace

std::string in_comment(std::string_view text) {
    const std::string line = printable(text);
    std::string out;
    for (const char character : line) {
        if (character == '/' && out.ends_with('*')) out += ' ';
        out += character;
    }
    return without_joining(std::move(out));
}

std::string comment_line(std::string_view text) {
    const std::string line = in_comment(text);
    return line.empty() ? "//\n" : "// " + line + "\n";
}

std::string comment_of(std::string_view text) {
    std::string out;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        out += comment_line(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return out;
}

std::string comment_of_words(std::string_view words) {
    const std::string all = in_comment(words);
    std::string out, line = "//";
    for (size_t at = 0; at < all.size();) {
        const size_t end = std::min(all.find(' ', at), all.size());
        if (line.size() + 1 + (end - at) > longest_comment && line.size() > 2) {
            out += without_joining(line) + "\n";
            line = "//  ";
        }
        line += " " + all.substr(at, end - at);
        at = end + 1;
    }
    return out + without_joining(line) + "\n";
}

std::string string_literal(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            out += "\\n";
        } else if (c == '"' || c == '\\' || c == '?') {  // ??/ may be a backslash
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte >= 0x7f) {  // three digits: what follows belongs to none
            out += '\\';
            for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + (byte >> shift & 7));
        } else {
            out += c;
        }
    }
    return out + "\"";
}

}  // namespace composit
