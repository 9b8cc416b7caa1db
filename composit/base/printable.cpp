// Reads UTF-8 strictly, and knows the characters that are more than what they look like.
#include "composit/base/printable.h"

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

// The bytes of the character that `text` begins with; 0 where it begins with none.
size_t first_character(std::string_view text, uint32_t& character) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    const size_t bytes = lead < 0x80                   ? 1
                         : lead >= 0xc2 && lead < 0xe0 ? 2
                         : lead >= 0xe0 && lead < 0xf0 ? 3
                         : lead >= 0xf0 && lead < 0xf5 ? 4
                                                       : 0;
    if (bytes == 0 || bytes > text.size()) return 0;
    character = bytes == 1 ? lead : lead & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
        character = character << 6 | (byte(i) & 0x3fu);
    }
    constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = character >= 0xd800 && character <= 0xdfff;
    return character < least[bytes] || character > 0x10ffff || is_surrogate ? 0 : bytes;
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
        uint32_t character = 0;
        const size_t bytes = first_character(text.substr(at), character);
        if (bytes == 0 || !is_printable(character))
            out += ' ';
        else
            out += text.substr(at, bytes);
        at += bytes == 0 ? 1 : bytes;
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
