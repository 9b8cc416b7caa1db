// UTF-8, as strict as Unicode's standard.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace composit {

// The byte at which `text` stops being UTF-8: characters longer than needed, surrogates and what is
// beyond the last character are none.
std::optional<size_t> broken_utf8(std::string_view text);

}  // namespace composit
