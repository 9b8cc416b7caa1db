#include "composit/backends/c_family/line_breaks.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace composit::c_family {
namespace {

constexpr size_t further_in = 8;
constexpr size_t least_width = 24;  // of what stands before a break

size_t margin_of(std::string_view line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

// How loosely what stands at a space binds: 0, a comma, most loosely; -1: it cannot be broken
// there.
int binding_at(std::string_view line, size_t at) {
    if (line[at] != ' ' || at == 0) return -1;
    if (line[at - 1] == ',' || line[at - 1] == ';') return 0;
    const std::string_view next = line.substr(at);
    if (next.starts_with(" && ") || next.starts_with(" || ")) return 1;
    if (next.size() < 3 || next[2] != ' ') return -1;
    switch (next[1]) {
        case '?':
        case ':':
        case '&':
        case '|': return 1;
        case '+':
        case '-': return 2;
        case '*':
        case '/': return 3;
        default: return -1;
    }
}

// `margin`: of the line that begins; what follows stands further in.
size_t place_to_break(std::string_view line, size_t margin) {
    struct Place {
        size_t at = 0;
        int cost = std::numeric_limits<int>::max();
    };
    Place best, fitting;
    int depth = 0;
    bool is_in_string = false;
    for (size_t at = 0; at < line.size() && at <= longest_line; ++at) {
        const char c = line[at];
        if (c == '"' && (at == 0 || line[at - 1] != '\\')) is_in_string = !is_in_string;
        if (is_in_string) continue;
        if (line.substr(at).starts_with(" // ")) break;
        if (c == '(' || c == '{') ++depth;
        if (c == ')' || c == '}') --depth;
        if (c == '[') depth += 100;  // an index stays together
        if (c == ']') depth -= 100;
        const int binding = at < margin + least_width ? -1 : binding_at(line, at);
        if (binding < 0) continue;
        const int cost = 4 * depth + binding;
        const bool fits = margin + further_in + line.size() - at - 1 <= longest_line;
        for (Place* place : {&best, &fitting})
            if ((place == &best || fits) && cost <= place->cost) *place = {at, cost};
    }
    return fitting.at != 0 ? fitting.at : best.at;
}

}  // namespace

std::string in_columns(const std::string& code) {
    std::string out;
    for (size_t start = 0; start < code.size();) {
        const size_t end = std::min(code.find('\n', start), code.size());
        std::string line = code.substr(start, end - start);
        const size_t margin = margin_of(line);
        const bool is_code = margin < line.size() && line[margin] != '/' && line[margin] != '#' &&
                             line.back() != '\\';
        while (is_code && line.size() > longest_line) {
            const size_t at = place_to_break(line, margin);
            if (at == 0) break;
            out += line.substr(0, at) + "\n";
            line = std::string(margin + further_in, ' ') + line.substr(at + 1);
        }
        out += line;
        if (end < code.size()) out += "\n";
        start = end + 1;
    }
    return out;
}

}  // namespace composit::c_family
