#include "composit/backends/c_family/procedure_lines.h"

#include "composit/backends/c_family/line_breaks.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/ascii.h"
#include "composit/base/comments.h"
#include "composit/base/text.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace composit::c_family {
namespace {

using Lines = std::vector<PrintedLine>;

// "const double ", of a line that declares; empty where it does not.
std::string_view type_of(std::string_view text) {
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

size_t width(const PrintedLine& line) { return 4 * line.indent + line.text.size(); }

std::string_view without_const(std::string_view type) {
    return type.starts_with("const ") ? type.substr(6) : type;
}

// Both as one declaration, which is constant if both were. False: they are none, or it would be too
// long.
bool declare_together(PrintedLine& line, const PrintedLine& next) {
    const std::string_view type = type_of(line.text), other = type_of(next.text);
    if (type.empty() || without_const(type) != without_const(other)) return false;
    const std::string_view more = std::string_view(next.text).substr(other.size());
    if (width(line) + 1 + more.size() > longest_line) return false;
    if (type != other) line.text = without_const(line.text);
    line.text.pop_back();
    line.text += ", ";
    line.text += more;
    return true;
}

// Whether a line declares vectors, or numbers that are zero: such lines may stand together whatever
// lines of the source they belong to.
bool makes_room(std::string_view text) {
    const std::string_view type = type_of(text);
    if (type.empty() || type.starts_with("const ")) return false;
    if (type.starts_with("std::vector<")) return true;
    std::string_view rest = text.substr(type.size());
    rest.remove_suffix(1);
    while (!rest.empty()) {
        const size_t end = std::min(rest.find(", "), rest.size());
        const std::string_view one = rest.substr(0, end);
        if (!one.ends_with(" = 0.0") && !one.ends_with(" = {}")) return false;
        rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    return true;
}

// Two fills with zeros as one: "fill_zeros(x, n);", of several arrays.
bool fill_together(PrintedLine& line, const PrintedLine& next) {
    static constexpr std::string_view head = "fill_zeros(";
    if (!line.text.starts_with(head) || !next.text.starts_with(head)) return false;
    if (width(line) + next.text.size() - head.size() > longest_line) return false;
    line.text.resize(line.text.size() - 2);
    line.text += ", " + next.text.substr(head.size());
    return true;
}

// Whether a declaration is of one variable: no comma stands outside of parentheses.
bool is_single(std::string_view text) {
    int depth = 0;
    for (const char c : text) {
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (c == ',' && depth == 0) return false;
    }
    return true;
}

// A value that is declared, then stored: both in one. Of several values in one declaration the
// later ones may be elements that the store changes.
bool store_at_once(PrintedLine& line, const PrintedLine& next) {
    const std::string_view type = type_of(line.text);
    const size_t equals = next.text.find("] = ");
    if (!type.starts_with("const ") || equals == std::string::npos) return false;
    const std::string name = next.text.substr(equals + 4, next.text.size() - equals - 5);
    const std::string head = text(type, name, " = ");
    const bool is_stored = line.text.find("] = ") != std::string::npos;
    const bool is_alone = line.text.starts_with(head) && !is_stored && is_single(line.text) &&
                          !has_word(next.text.substr(0, equals), name);
    if (!is_alone || width(line) + equals + 4 > longest_line) return false;
    line.text = head + next.text.substr(0, equals + 4) + line.text.substr(head.size());
    return true;
}

// The condition of an assertion that is a comparison of sums.
std::string_view asserted(std::string_view text) {
    if (!text.starts_with("assert(") || !text.ends_with(");")) return {};
    const std::string_view condition = text.substr(7, text.size() - 9);
    const bool is_plain = std::all_of(condition.begin(), condition.end(), [](char c) {
        return ascii::is_letter_or_digit(c) ||
               std::string_view(" _<>=+-*[].").find(c) != std::string_view::npos;
    });
    return is_plain ? condition : std::string_view();
}

bool assert_together(PrintedLine& line, const PrintedLine& next) {
    const bool is_joined = line.text.find(" && ") != std::string::npos;
    const std::string_view one = asserted(line.text), other = asserted(next.text);
    if (is_joined || one.empty() || other.empty()) return false;
    const std::string made = text("assert(", one, " && ", other, ");");
    if (4 * line.indent + made.size() > longest_line) return false;
    line.text = made;
    return true;
}

// What is done for more than its value, an index that is looked at or an element that is stored,
// without the constant that it is the value of where nothing in its block reads that.
Lines without_unread(Lines lines) {
    for (size_t i = 0; i < lines.size(); ++i) {
        const std::string_view text = lines[i].text, type = type_of(text);
        const size_t equals = text.find(" = ");
        if (!type.starts_with("const ") || equals == std::string_view::npos) continue;
        const std::string_view name = text.substr(type.size(), equals - type.size()),
                               value = text.substr(equals + 3);
        const bool does_more =
            value.starts_with("checked_index(") || value.find("] = ") != std::string_view::npos;
        if (!does_more || !is_single(text)) continue;
        size_t end = i + 1;
        while (end < lines.size() && lines[end].indent >= lines[i].indent &&
               !has_word(lines[end].text, name))
            ++end;
        const bool is_read = end < lines.size() && lines[end].indent >= lines[i].indent;
        if (!is_read) lines[i].text = std::string(value);
    }
    return lines;
}

Lines together(const Lines& lines) {
    Lines out;
    int before = 0;  // the source line of the last one
    for (const PrintedLine& line : lines) {
        const bool is_of_same = line.source_line == 0 || line.source_line == before;
        if (line.source_line != 0) before = line.source_line;
        const bool may_join = !out.empty() && out.back().indent == line.indent;
        if (may_join && makes_room(out.back().text) && makes_room(line.text) &&
            declare_together(out.back(), line))
            continue;
        if (may_join && is_of_same &&
            (declare_together(out.back(), line) || store_at_once(out.back(), line) ||
             fill_together(out.back(), line) || assert_together(out.back(), line)))
            continue;
        out.push_back(line);
    }
    return out;
}

bool opens(const std::string& text) {
    return text.ends_with(") {") &&
           (text.starts_with("for (") || text.starts_with("while (") || text.starts_with("if ("));
}

bool is_statement(const std::string& text) {
    return text.ends_with(';') && text.find('\n') == std::string::npos && type_of(text).empty();
}

// Where what `begin` opens ends, if it holds one statement; 0: it holds others. A loop's may be
// such a loop or branch, that of a branch is a plain one.
size_t end_of_single(const Lines& lines, size_t begin) {
    const bool is_loop = !lines[begin].text.starts_with("if (");
    size_t inner = begin + 1;
    if (inner + 1 >= lines.size()) return 0;
    if (is_statement(lines[inner].text)) {
        ++inner;
    } else if (is_loop && opens(lines[inner].text)) {
        const size_t end = end_of_single(lines, inner);
        if (end == 0) return 0;
        inner = end + 1;
    } else {
        return 0;
    }
    const bool closes = inner < lines.size() && lines[inner].text == "}" &&
                        lines[inner].indent == lines[begin].indent;
    return closes ? inner : 0;
}

Lines without_braces(const Lines& lines) {
    std::vector<bool> is_left_out(lines.size(), false), is_bare(lines.size(), false);
    for (size_t i = 0; i < lines.size(); ++i) {
        if (!opens(lines[i].text)) continue;
        if (const size_t end = end_of_single(lines, i)) is_bare[i] = is_left_out[end] = true;
    }
    Lines out;
    int head = 0, before = 0;  // source lines: of what is open, of the last line
    for (size_t i = 0; i < lines.size(); ++i) {
        if (is_left_out[i]) continue;
        const int source_line = lines[i].source_line != 0 ? lines[i].source_line : before;
        before = source_line;
        // What one line of the source says stands on one line.
        const bool is_inner = i > 0 && is_bare[i - 1];
        if (is_inner && !is_bare[i] && source_line == head &&
            width(out.back()) + 1 + lines[i].text.size() <= longest_line) {
            out.back().text += " " + lines[i].text;
            continue;
        }
        head = source_line;
        out.push_back(lines[i]);
        if (is_bare[i]) out.back().text.resize(lines[i].text.size() - 2);
    }
    return out;
}

}  // namespace

Lines gathered(Lines lines) {
    return without_braces(without_unread(together(without_unread(std::move(lines)))));
}

std::string in_lines(const std::vector<std::string>& values, size_t indent) {
    const size_t begin = 4 * indent + 8;
    std::string out;
    size_t end = begin;
    for (const std::string& value : values) {
        const bool is_first = out.empty();
        if (!is_first && end + value.size() + 4 > longest_line) {
            out += ",\n" + std::string(begin, ' ');
            end = begin;
        } else if (!is_first) {
            out += ", ";
        }
        out += value;
        end += value.size() + 2;
    }
    return out;
}

std::string printed(const Lines& lines, const std::string& file) {
    std::string out;
    int marked = 0;
    for (const PrintedLine& line : lines) {
        const std::string indent(4 * line.indent, ' ');
        const bool has_mark = line.source_line != 0 && line.source_line != marked && !file.empty();
        const std::string mark =
            has_mark ? text("// ", in_comment(file), ":", line.source_line) : std::string();
        const bool fits = width(line) + mark.size() + 2 <= longest_line;
        if (has_mark && !fits) out += indent + mark + "\n";
        out += in_columns(indent + line.text + (has_mark && fits ? "  " + mark : "") + "\n");
        if (has_mark) marked = line.source_line;
    }
    return out;
}

}  // namespace composit::c_family
