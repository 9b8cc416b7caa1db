// The names that a misspelt one may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace composit {

// How many characters have to be added, left out or replaced.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidates that differ from `name` in at most a third of its characters, nearest first, at
// most `count`.
std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& candidates, size_t count);

}  // namespace composit
