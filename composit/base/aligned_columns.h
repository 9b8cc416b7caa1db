// Tables of words, for reports.
#pragma once

#include <string>
#include <vector>

namespace composit {

// A line for each row, its columns two spaces apart: the first `left` ones begin below each other,
// the others end so. Rows may be shorter than the first.
std::string aligned_columns(const std::vector<std::vector<std::string>>& rows, size_t left);

}  // namespace composit
