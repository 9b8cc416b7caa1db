#include "composit/base/aligned_columns.h"

#include <algorithm>

namespace composit {

std::string aligned_columns(const std::vector<std::vector<std::string>>& rows, size_t left) {
    std::vector<size_t> widths;
    for (const auto& row : rows)
        for (size_t c = 0; c < row.size(); ++c) {
            if (c == widths.size()) widths.push_back(0);
            widths[c] = std::max(widths[c], row[c].size());
        }
    std::string result;
    for (const auto& row : rows) {
        std::string line;
        for (size_t c = 0; c < row.size(); ++c) {
            const std::string space(widths[c] - row[c].size(), ' ');
            line += (c > 0 ? "  " : "") + (c < left ? row[c] + space : space + row[c]);
        }
        result += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return result;
}

}  // namespace composit
