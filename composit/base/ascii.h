// Letters and digits of ASCII, whatever the locale: isalnum of C's library takes bytes of other
// alphabets for letters where the process's locale has them, and no identifier may hold such bytes.
#pragma once

namespace composit::ascii {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_small(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return is_small(c) || (c >= 'A' && c <= 'Z'); }
constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
// What words of the C family are made of.
constexpr bool is_of_word(char c) { return is_letter_or_digit(c) || c == '_'; }

}  // namespace composit::ascii
