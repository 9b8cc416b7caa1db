#include "composit/backends/c_family/lines_in_c.h"

#include "composit/backends/c_family/procedure_in_c.h"
#include "composit/backends/c_family/procedure_line_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace composit::c_family {
namespace {

// "i < 0 || i >= n" for the condition "i >= 0 && i < n" of integers; "" for one of other parts.
std::string opposite(const std::string& condition) {
    static constexpr std::pair<std::string_view, std::string_view> signs[] = {
        {" >= ", " < "}, {" <= ", " > "},  {" < ", " >= "},
        {" > ", " <= "}, {" == ", " != "}, {" != ", " == "}};
    std::string made;
    for (size_t at = 0; at < condition.size();) {
        const size_t end = std::min(condition.find(" && ", at), condition.size());
        const std::string part = condition.substr(at, end - at);
        at = std::min(end + 4, condition.size());
        const auto sign = std::find_if(std::begin(signs), std::end(signs), [&](const auto& each) {
            return part.find(each.first) != std::string::npos;
        });
        if (sign == std::end(signs)) return "";
        const size_t place = part.find(sign->first), behind = place + sign->first.size();
        constexpr const char* others = "<>=!&|?";
        if (part.find_first_of(others) != place + 1 ||
            part.find_first_of(others, behind) != std::string::npos)
            return "";
        made += (made.empty() ? "" : " || ") + part.substr(0, place);
        made += sign->second;
        made += part.substr(behind);
    }
    return made;
}

// Whether a line gives the variable a value, and reads it not.
bool only_assigns(const std::string& text, const std::string& variable) {
    return text.starts_with(variable + " = ") &&
           !has_word(std::string_view(text).substr(variable.size()), variable);
}

bool has_effects(const std::string& text) {
    return text.find("++") != std::string::npos || text.find("--") != std::string::npos ||
           text.find("] = ") != std::string::npos;
}

// The lines that give a variable its values, from the one that declares it on, if no other line
// reads it.
std::vector<size_t> lines_of_unread(const std::vector<PrintedLine>& lines, size_t declaration) {
    const PrintedLine& line = lines[declaration];
    if (declared_type(line.text).empty() || !declares_one(line.text) || has_effects(line.text))
        return {};
    const std::string name = names_declared(line.text)[0];
    std::vector<size_t> found = {declaration};
    for (size_t i = declaration + 1; i < lines.size() && lines[i].indent >= line.indent; ++i) {
        if (!has_word(lines[i].text, name)) continue;
        if (!only_assigns(lines[i].text, name) || has_effects(lines[i].text)) return {};
        found.push_back(i);
    }
    return found;
}

}  // namespace

std::string with_require(const std::string& text, std::string_view word, std::string_view by) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t found = text.find(word, at);
        const bool is_word = found != std::string::npos &&
                             (found == 0 || text[found - 1] == ' ' || text[found - 1] == '\n');
        const size_t end = found == std::string::npos ? text.size() : found;
        out += text.substr(at, end - at);
        if (found == std::string::npos) break;
        out += is_word ? by : word;
        at = found + word.size();
    }
    return out;
}

std::string with_status(const std::string& text, std::string_view word, int status) {
    const size_t found = text.find(word);
    const bool is_word = found == 0 || (found != std::string::npos && text[found - 1] == ' ');
    if (!is_word) return text;
    size_t end = found + word.size();
    for (int depth = 1; depth > 0; ++end) depth += (text[end] == '(') - (text[end] == ')');
    const size_t begin = found + word.size();
    const std::string condition = text.substr(begin, end - 1 - begin);
    const std::string fails = status == fault_of_index ? opposite(condition) : "";
    return composit::text(text.substr(0, found), "if (",
                          fails.empty() ? "!(" + condition + ")" : fails, ") return ", status,
                          text.substr(end));
}

std::vector<PrintedLine> without_unread_variables(std::vector<PrintedLine> lines) {
    for (size_t i = lines.size(); i-- > 0;) {
        const std::vector<size_t> unread = lines_of_unread(lines, i);
        for (size_t k = unread.size(); k-- > 0;)
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(unread[k]));
    }
    return lines;
}

}  // namespace composit::c_family
