// Knows the characters that are more than what they look like.
#include "composit/base/printable.h"

#include "composit/base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace composit {
namespace {

struct Range {
    uint32_t first, last;
};

// Unicode's controls, its separators of lines, its characters of format and its noncharacters,
// without the joiners of letters (U+200C, U+200D), which words of several languages need.
constexpr Range unprintable_characters[] = {
    {0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},
    {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
    {0x8e2, 0x8e2},     {0x180e, 0x180e},   {0x200b, 0x200b},   {0x200e, 0x200f},
    {0x2028, 0x202e},   {0x2060, 0x206f},   {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},
    {0xfff9, 0xfffb},   {0xfffe, 0xffff},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
    {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

bool is_printable(uint32_t character) {
    const auto* const at = std::lower_bound(
        std::begin(unprintable_characters), std::end(unprintable_characters), character,
        [](const Range& range, uint32_t value) { return range.last < value; });
    return at == std::end(unprintable_characters) || character < at->first;
}

// `text` with `replaced(c)` for each character of ASCII that it is not empty for.
template <class Replaced>
std::string with(const std::string& text, const Replaced& replaced) {
    std::string out;
    for (const char c : text) {
        const std::string_view instead = replaced(c);
        if (instead.empty())
            out += c;
        else
            out += instead;
    }
    return out;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const std::optional<Utf8Character> character = first_character(text.substr(at));
        const size_t bytes = character ? character->bytes : 1;
        if (character && is_printable(character->value))
            out += text.substr(at, bytes);
        else
            out += ' ';
        at += bytes;
    }
    return out;
}

std::string in_markup(std::string_view text) {
    return with(printable(text), [](char c) -> std::string_view {
        switch (c) {
            case '<': return "&lt;";
            case '>': return "&gt;";
            case '&': return "&amp;";
            case '"': return "&quot;";
            case '\'': return "&#x27;";
            default: return "";
        }
    });
}

std::string in_label(std::string_view text) {
    std::string out;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        if (begin > 0) out += "\\n";
        out += with(printable(text.substr(begin, end - begin)), [](char c) -> std::string_view {
            return c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '&' ? "&amp;" : "";
        });
        begin = end + 1;
    }
    return out;
}

}  // namespace composit
