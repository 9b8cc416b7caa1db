#include "composit/base/json_text.h"

namespace composit {

std::string json_string(std::string_view text) {
    constexpr std::string_view escaped = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        if (const size_t which = escaped.find(c); which != std::string_view::npos) {
            out.push_back('\\');
            out.push_back(letters[which]);
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            out.push_back(digits[static_cast<unsigned char>(c) >> 4]);
            out.push_back(digits[static_cast<unsigned char>(c) & 15]);
        } else {
            out.push_back(c);
        }
    }
    return out + '"';
}

}  // namespace composit
