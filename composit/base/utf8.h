// UTF-8, as strict as Unicode's standard: characters longer than needed, surrogates and what is
// beyond the last character are none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace composit {

struct Utf8Character {
    uint32_t value;
    size_t bytes;
};

// The character that `text` begins with; nothing where it begins with none, or is empty.
std::optional<Utf8Character> first_character(std::string_view text);

// The byte at which `text` stops being UTF-8.
std::optional<size_t> broken_utf8(std::string_view text);

// The character's bytes. A surrogate, which JSON's escapes may name alone, gets three, as any
// other number of its size does.
void append_character(std::string& text, uint32_t value);

}  // namespace composit
