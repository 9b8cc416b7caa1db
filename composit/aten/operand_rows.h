// Tables whose rows name several functions, divided by spaces.
#pragma once

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace composit::aten {

// The rows of a table by the names in them. A name may stand in several rows,
// which keep their order.
template <class Row>
std::multimap<std::string_view, const Row*> by_name(const std::vector<Row>& rows) {
    std::multimap<std::string_view, const Row*> found;
    for (const Row& row : rows)
        for (std::string_view left = row.names; !left.empty();) {
            const size_t end = std::min(left.find(' '), left.size());
            found.emplace(left.substr(0, end), &row);
            left.remove_prefix(std::min(end + 1, left.size()));
        }
    return found;
}

// The row of a name that stands in one; null.
template <class Row>
const Row* row_of(const std::multimap<std::string_view, const Row*>& rows, std::string_view name) {
    const auto found = rows.find(name);
    return found == rows.end() ? nullptr : found->second;
}

}  // namespace composit::aten
