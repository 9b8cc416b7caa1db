#include "composit/base/utf8.h"

namespace composit {

std::optional<Utf8Character> first_character(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    const size_t bytes = lead < 0x80                   ? 1
                         : lead >= 0xc2 && lead < 0xe0 ? 2
                         : lead >= 0xe0 && lead < 0xf0 ? 3
                         : lead >= 0xf0 && lead < 0xf5 ? 4
                                                       : 0;
    if (bytes == 0 || bytes > text.size()) return std::nullopt;
    uint32_t value = bytes == 1 ? lead : lead & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
        value = value << 6 | (byte(i) & 0x3fu);
    }
    constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < least[bytes] || value > 0x10ffff || is_surrogate) return std::nullopt;
    return Utf8Character{value, bytes};
}

std::optional<size_t> broken_utf8(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const std::optional<Utf8Character> character = first_character(text.substr(at));
        if (!character) return at;
        at += character->bytes;
    }
    return std::nullopt;
}

void append_character(std::string& text, uint32_t value) {
    const auto put = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (value < 0x80) return put(value);
    if (value < 0x800) {
        put(0xc0 | value >> 6);
    } else {
        if (value < 0x10000) {
            put(0xe0 | value >> 12);
        } else {
            put(0xf0 | value >> 18);
            put(0x80 | (value >> 12 & 0x3f));
        }
        put(0x80 | (value >> 6 & 0x3f));
    }
    put(0x80 | (value & 0x3f));
}

}  // namespace composit
