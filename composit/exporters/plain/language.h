// How C99 and C++17 spell what plain text is made of, and the functions that it calls.
#pragma once

#include "composit/backends/c_family/scalar_spelling.h"
#include "composit/exporters/plain/plain.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace composit::plain {

const c_family::ScalarSpelling& spelling_of(Language language);
// "(float)x" or "float(x)"; x is a name, an element or in parentheses.
std::string converted(Language language, const std::string& type, const std::string& x);
std::string_view restrict_word(Language language);

// The functions that `text` calls, each once and before those that call it: fma_float32, as_uint32,
// sum_of_lanes, …
std::string support_text(Language language, const std::string& text);
// The names of all of them, which nothing else may have.
const std::set<std::string>& support_names();

}  // namespace composit::plain
