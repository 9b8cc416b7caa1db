#include "composit/base/entry_diff.h"

#include <map>

namespace composit {

std::string diff_of_entries(const NamedTexts& from, const NamedTexts& to) {
    struct Values {
        std::vector<std::string> before, after;
    };
    std::map<std::string, Values> names;
    for (const auto& [name, value] : from) names[name].before.push_back(value);
    for (const auto& [name, value] : to) names[name].after.push_back(value);
    std::string result;
    for (const auto& [name, values] : names) {
        if (values.before == values.after) continue;
        for (const std::string& value : values.before) result += "- " + name + ": " + value + "\n";
        for (const std::string& value : values.after) result += "+ " + name + ": " + value + "\n";
    }
    return result;
}

}  // namespace composit
