// Edit distances by rows of the table.
#include "composit/base/nearest.h"

#include <algorithm>
#include <utility>

namespace composit {

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& candidates, size_t count) {
    const size_t farthest = std::max<size_t>(1, name.size() / 3);
    std::vector<std::pair<size_t, std::string>> near;
    for (const std::string& other : candidates) {
        const size_t longer = std::max(name.size(), other.size()),
                     shorter = std::min(name.size(), other.size());
        if (longer - shorter > farthest) continue;
        const size_t distance = edit_distance(name, other);
        if (distance <= farthest) near.emplace_back(distance, other);
    }
    std::sort(near.begin(), near.end());
    std::vector<std::string> names;
    for (auto& [distance, other] : near)
        if (names.size() < count) names.push_back(std::move(other));
    return names;
}

}  // namespace composit
