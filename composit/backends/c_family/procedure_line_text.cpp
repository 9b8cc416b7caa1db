#include "composit/backends/c_family/procedure_line_text.h"

#include "composit/backends/c_family/line_breaks.h"
#include "composit/base/ascii.h"

#include <algorithm>

namespace composit::c_family {

std::string_view declared_type(std::string_view text) {
    static constexpr std::string_view types[] = {
        "double ",
        "float ",
        "bool ",
        "int64_t ",
        "int32_t ",
        "int16_t ",
        "int8_t ",
        "uint64_t ",
        "uint32_t ",
        "uint16_t ",
        "uint8_t ",
        "std::vector<double> ",
        "std::vector<float> ",
        "std::vector<bool> ",
        "std::vector<int64_t> ",
    };
    const size_t start = text.starts_with("const ") ? 6 : 0;
    if (!text.ends_with(';')) return {};
    for (const std::string_view type : types)
        if (text.substr(start).starts_with(type)) return text.substr(0, start + type.size());
    return {};
}

bool declares_one(std::string_view text) {
    int depth = 0;
    for (const char c : text) {
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (c == ',' && depth == 0) return false;
    }
    return true;
}

std::vector<std::string> names_declared(std::string_view text) {
    std::vector<std::string> names;
    std::string_view rest = text;
    rest.remove_prefix(declared_type(text).size());
    const auto is_of_name = [](char c) { return ascii::is_of_word(c); };
    bool begins = true;
    int depth = 0;
    for (size_t i = 0; i < rest.size(); ++i) {
        if (begins && is_of_name(rest[i])) {
            const size_t end =
                static_cast<size_t>(std::find_if_not(rest.begin() + static_cast<std::ptrdiff_t>(i),
                                                     rest.end(), is_of_name) -
                                    rest.begin());
            names.emplace_back(rest.substr(i, end - i));
            begins = false;
        }
        const char c = rest[i];
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        begins |= c == ',' && depth == 0;
    }
    return names;
}

bool takes_elements(std::string_view text) {
    return text.find("taken(") != std::string::npos || text.find("take_") != std::string::npos ||
           text.find("[--") != std::string::npos;
}

size_t count_of_lines(const PrintedLine& line) {
    const std::string whole = in_columns(std::string(4 * line.indent, ' ') + line.text + "\n");
    return static_cast<size_t>(std::count(whole.begin(), whole.end(), '\n'));
}

}  // namespace composit::c_family
