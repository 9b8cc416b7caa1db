// Plain text under the rules that checkers of C have for code that is certified.
#pragma once

#include "composit/exporters/plain/plain.h"

#include <string>

namespace composit::plain {

// The same program with braces around each body, one declaration a line, parentheses where
// operators of different precedence meet, suffixes in capitals, results of memset and memcpy
// discarded on purpose, and a prototype of each static function before the first:
//   for (int i = 0; i < 4; ++i) y[i] = a[i] + b[i] * 2u;   to
//   for (int i = 0; i < 4; ++i) {
//       y[i] = a[i] + (b[i] * 2U);
//   }
// `code` is C or C++ as this folder prints it; nothing that it computes changes.
std::string strict_text(Language language, const std::string& code);

// Suffixes of numbers in capitals: "0x80000000u" to "0x80000000U".
std::string with_capital_suffixes(std::string code);

}  // namespace composit::plain
