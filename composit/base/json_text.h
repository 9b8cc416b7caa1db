// Texts as JSON has them.
#pragma once

#include <string>
#include <string_view>

namespace composit {

// Text in UTF-8 as a string of JSON, with its quotes.
std::string json_string(std::string_view text);

}  // namespace composit
