// The words of printed C, and its expressions with a parenthesis around each operation that is an
// operand of one of another precedence.
#pragma once

#include "composit/exporters/plain/plain.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace composit::plain {

struct Token {
    enum class Kind : uint8_t { word, sign, comment, directive };
    Kind kind = Kind::word;
    std::string text;
    bool has_space = false;  // or a line's end, before it
    bool starts_line = false;
    bool has_empty_line = false;  // before it
    size_t begin = 0;             // in the code
};

// A comment and a directive (with the lines that it goes on in) are one token each.
std::vector<Token> tokens_of(const std::string& code);

// Whether a word can begin a declaration or a cast: float, const, struct, uint32_t, …
bool is_of_type(std::string_view word);

// Tokens first … last - 1 as they stand, in one line.
std::string as_written(const std::vector<Token>& tokens, size_t first, size_t last);

// Where the bracket that stands at `open` is closed.
size_t closing(const std::vector<Token>& tokens, size_t open);

// An expression: "a + b * c" as "a + (b * c)", "x > 0 ? x : -x" as "(x > 0) ? x : -x". A list
// in braces stays as it is. Casts in C++ say of which kind they are: "static_cast<float>(x)".
std::string strict_expression(Language language, const std::vector<Token>& tokens, size_t first,
                              size_t last);

}  // namespace composit::plain
