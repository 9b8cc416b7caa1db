#include "composit/backends/c_family/procedure_lines.h"

#include "composit/backends/c_family/line_breaks.h"
#include "composit/backends/c_family/procedure_line_text.h"
#include "composit/backends/c_family/procedure_lines_joined.h"
#include "composit/backends/c_family/procedure_lines_named.h"
#include "composit/backends/c_family/procedure_trips.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/ascii.h"
#include "composit/base/comments.h"
#include "composit/base/text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace composit::c_family {
namespace {

using Lines = std::vector<PrintedLine>;

size_t width(const PrintedLine& line) { return 4 * line.indent + line.text.size(); }

std::string_view without_const(std::string_view type) {
    return type.starts_with("const ") ? type.substr(6) : type;
}

// Both as one declaration, which is constant if both were. False: they are none, or it would be too
// long.
bool declare_together(PrintedLine& line, const PrintedLine& next) {
    const std::string_view type = declared_type(line.text), other = declared_type(next.text);
    if (type.empty() || without_const(type) != without_const(other)) return false;
    // Of what is stored as well, the constant may go.
    const auto stores = [](const PrintedLine& each) {
        return each.text.starts_with("const ") && each.text.find("] = ") != std::string::npos;
    };
    if (stores(line) || stores(next)) return false;
    const std::string_view more = std::string_view(next.text).substr(other.size());
    if (width(line) + 1 + more.size() > longest_line) return false;
    if (type != other) line.text = without_const(line.text);
    line.text.pop_back();
    line.text += ", ";
    line.text += more;
    return true;
}

// Whether a line declares vectors, arrays, or numbers that are zero: such lines may stand together
// whatever lines of the source they belong to.
bool makes_room(std::string_view text) {
    const std::string_view type = declared_type(text);
    if (type.empty() || type.starts_with("const ")) return false;
    if (type.starts_with("std::vector<")) return true;
    std::string_view rest = text.substr(type.size());
    rest.remove_suffix(1);
    while (!rest.empty()) {
        const size_t end = std::min(rest.find(", "), rest.size());
        const std::string_view one = rest.substr(0, end);
        const bool is_array = one.ends_with(']') && one.find(" = ") == std::string_view::npos;
        const bool is_zero = one.ends_with(" = 0.0") || one.ends_with(" = 0");
        if (!is_zero && !one.ends_with(" = {}") && !is_array) return false;
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

// A value that is declared, then stored: both in one. Of several values in one declaration the
// later ones may be elements that the store changes. Of a truth value C compilers ask whether a
// comparison was meant.
bool store_at_once(PrintedLine& line, const PrintedLine& next, bool is_c) {
    const std::string_view type = declared_type(line.text);
    if (is_c && type == "const bool ") return false;
    const size_t equals = next.text.find("] = ");
    if (!type.starts_with("const ") || equals == std::string::npos) return false;
    const std::string name = next.text.substr(equals + 4, next.text.size() - equals - 5);
    const std::string head = text(type, name, " = ");
    const bool is_stored = line.text.find("] = ") != std::string::npos;
    const bool is_alone = line.text.starts_with(head) && !is_stored && declares_one(line.text) &&
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
        const std::string_view text = lines[i].text, type = declared_type(text);
        const size_t equals = text.find(" = ");
        if (!type.starts_with("const ") || equals == std::string_view::npos) continue;
        const std::string_view name = text.substr(type.size(), equals - type.size()),
                               value = text.substr(equals + 3);
        const bool does_more =
            value.starts_with("checked_index(") || value.find("] = ") != std::string_view::npos;
        if (!does_more || !declares_one(text)) continue;
        size_t end = i + 1;
        while (end < lines.size() && lines[end].indent >= lines[i].indent &&
               !has_word(lines[end].text, name))
            ++end;
        const bool is_read = end < lines.size() && lines[end].indent >= lines[i].indent;
        if (!is_read) lines[i].text = std::string(value);
    }
    return lines;
}

// The words of sizes, "(n * m)", in a declaration of vectors; nothing where it copies elements.
std::optional<std::set<std::string>> words_of_sizes(const std::string& text) {
    std::set<std::string> words;
    std::string word;
    int depth = 0;
    for (const char c : text) {
        if (ascii::is_of_word(c) && depth > 0) {
            word += c;
            continue;
        }
        if (!word.empty()) words.insert(std::exchange(word, ""));
        depth += (c == '(') - (c == ')');
        if (depth > 0 && c == ',') return {};
    }
    return words;
}

// Numbers that are zero, or vectors of sizes that the text knows, which an earlier declaration of
// the block makes as well.
bool declare_before(Lines& out, const PrintedLine& line) {
    const std::string_view type = declared_type(line.text);
    if (!makes_room(line.text)) return false;
    const auto words = words_of_sizes(line.text);
    if (!words) return false;
    const std::vector<std::string> names = names_declared(line.text);
    for (size_t i = out.size(); i-- > 0 && out[i].indent >= line.indent;) {
        // Another variable of that name lives in between.
        const bool is_of_other =
            std::any_of(names.begin(), names.end(),
                        [&](const std::string& name) { return has_word(out[i].text, name); });
        if (is_of_other) return false;
        if (out[i].indent != line.indent) continue;
        const std::string_view other = declared_type(out[i].text);
        const bool knows_all =
            std::all_of(words->begin(), words->end(),
                        [&](const std::string& word) { return has_word(out[i].text, word); });
        if (other == type && knows_all && declare_together(out[i], line)) return true;
    }
    return false;
}

// Whether the text gives the variable a value.
bool assigns(std::string_view text, const std::string& variable) {
    if (!has_word(text, variable)) return false;
    for (const char* const symbol : {" = ", " += ", " -= ", " *= "})
        if (text.find(variable + symbol) != std::string_view::npos) return true;
    return text.find("++" + variable) != std::string_view::npos;
}

// An array that becomes zero, with those that an earlier fill of the block sets to zero, where
// nothing between mentions it or says what its size is.
bool fill_before(Lines& out, const PrintedLine& line) {
    static constexpr std::string_view head = "fill_zeros(";
    const size_t comma = line.text.find(", ");
    if (!line.text.starts_with(head) || comma == std::string::npos) return false;
    const std::string array = line.text.substr(head.size(), comma - head.size());
    const auto sizes = words_of_sizes("(" + line.text.substr(comma + 2));
    if (!sizes) return false;
    for (size_t i = out.size(); i-- > 0 && out[i].indent >= line.indent;) {
        if (out[i].indent == line.indent && fill_together(out[i], line)) return true;
        const bool is_apart =
            !has_word(out[i].text, array) &&
            std::none_of(sizes->begin(), sizes->end(),
                         [&](const std::string& size) { return assigns(out[i].text, size); });
        if (!is_apart) return false;
    }
    return false;
}

// A constant, with those of its type that an earlier line of the block declares, where nothing but
// declarations stands between, none of which it reads.
bool declare_with_constants(Lines& out, const PrintedLine& line) {
    const std::string_view type = declared_type(line.text);
    const auto is_plain = [](std::string_view text) {
        return !declared_type(text).empty() && !takes_elements(text) &&
               text.find("] = ") == std::string_view::npos;
    };
    if (!type.starts_with("const ") || !is_plain(line.text)) return false;
    for (size_t i = out.size(); i-- > 0 && out[i].indent == line.indent;) {
        if (!is_plain(out[i].text)) return false;
        if (i + 1 < out.size() && declared_type(out[i].text) == type &&
            declare_together(out[i], line))
            return true;
        for (const std::string& name : names_declared(out[i].text))
            if (has_word(line.text, name)) return false;
    }
    return false;
}

Lines together(const Lines& lines, bool is_derived, bool is_c) {
    Lines out;
    int before = 0;  // the source line of the last one
    for (size_t i = 0; i < lines.size(); ++i) {
        PrintedLine line = lines[i];
        const auto is_of = [&](const PrintedLine& each) {
            return each.source_line == 0 || each.source_line == before || is_derived;
        };
        const bool is_of_same = is_of(line);
        if (line.source_line != 0) before = line.source_line;
        if (i + 1 < lines.size() && lines[i + 1].indent == line.indent && is_of(lines[i + 1]) &&
            store_at_once(line, lines[i + 1], is_c))
            ++i;
        const bool may_join = !out.empty() && out.back().indent == line.indent;
        if (may_join && makes_room(out.back().text) && makes_room(line.text) &&
            declare_together(out.back(), line))
            continue;
        const bool is_made_before =
            is_derived && (declare_before(out, line) || declare_with_constants(out, line) ||
                           fill_before(out, line));
        if (is_made_before) continue;
        if (may_join && is_of_same &&
            (declare_together(out.back(), line) || fill_together(out.back(), line) ||
             assert_together(out.back(), line)))
            continue;
        out.push_back(line);
    }
    return out;
}

// "x[i * 3 + 1] = value;", or with +=.
struct Element {
    std::string array, place, value;  // "x", "i * 3", "value"
    int64_t offset = 0;               // 1
    bool adds = false;
};

std::optional<Element> element_of(const std::string& text) {
    const size_t open = text.find('['), adds = text.find("] += "), sets = text.find("] = ");
    const size_t close = std::min(adds, sets);
    const auto is_of_name = [](char c) { return ascii::is_of_word(c); };
    if (open == std::string::npos || close == std::string::npos || open > close ||
        text.find('\n') != std::string::npos || !text.ends_with(';') ||
        !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), is_of_name))
        return {};
    Element made;
    made.array = text.substr(0, open);
    made.adds = close == adds;
    const size_t begin = close + (made.adds ? 5 : 4);
    made.value = text.substr(begin, text.size() - begin - 1);
    made.place = text.substr(open + 1, close - open - 1);
    const size_t last = made.place.find_last_not_of("0123456789");
    const size_t digits = last == std::string::npos ? 0 : last + 1;
    const bool is_sum = digits >= 3 && made.place.compare(digits - 3, 3, " + ") == 0;
    if (digits < made.place.size() && (digits == 0 || is_sum)) {
        made.offset = std::stoll(made.place.substr(digits));
        made.place.resize(digits == 0 ? 0 : digits - 3);
    }
    const bool stores_more = made.value.find(" = ") != std::string::npos;
    const bool is_choice = made.place.find('?') != std::string::npos;
    if (stores_more || is_choice || has_word(made.value, made.array) ||
        has_word(made.place, made.array))
        return {};
    return made;
}

// "-1": an int, of which clang does not make elements of another type in a list.
bool is_int(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && std::all_of(text.begin(), text.end(), ascii::is_digit);
}

// How many lines from the first on set neighbouring elements of one array, or add to them, in any
// order, of values that read none of them: "set_elements(&x[i * 3], {a, b, c});" says all.
size_t set_elements(const Lines& lines, size_t first, bool is_derived, PrintedLine& made) {
    constexpr size_t least = 3;
    std::vector<Element> all;
    bool is_ordered = true, has_effects = false;
    for (size_t i = first; i < lines.size(); ++i) {
        const bool is_of_same = is_derived || lines[i].source_line == 0 ||
                                lines[i].source_line == lines[first].source_line;
        const auto next = element_of(lines[i].text);
        if (lines[i].indent != lines[first].indent || !is_of_same || !next || is_int(next->value))
            break;
        const bool fits = all.empty() || (next->array == all[0].array &&
                                          next->place == all[0].place && next->adds == all[0].adds);
        const bool is_new = std::none_of(all.begin(), all.end(), [&](const Element& each) {
            return each.offset == next->offset;
        });
        if (!fits || !is_new) break;
        is_ordered &= all.empty() || next->offset > all.back().offset;
        has_effects |= takes_elements(next->value);
        all.push_back(*next);
    }
    if (all.size() < least || (has_effects && !is_ordered)) return 0;
    std::sort(all.begin(), all.end(),
              [](const Element& a, const Element& b) { return a.offset < b.offset; });
    for (size_t i = 1; i < all.size(); ++i)
        if (all[i].offset != all[0].offset + static_cast<int64_t>(i)) return 0;
    std::vector<std::string> values;
    for (const Element& each : all) values.push_back(each.value);
    const std::string offset = all[0].offset == 0 && !all[0].place.empty() ? ""
                               : all[0].place.empty() ? text(all[0].offset)
                                                      : text(" + ", all[0].offset);
    made = lines[first];
    made.text = text(all[0].adds ? "add_elements(&" : "set_elements(&", all[0].array, "[",
                     all[0].place, offset, "], {", join(values), "});");
    size_t before = 0;
    for (size_t i = first; i < first + all.size(); ++i) before += count_of_lines(lines[i]);
    return count_of_lines(made) < before ? all.size() : 0;
}

Lines elements_together(const Lines& lines, bool is_derived) {
    Lines out;
    for (size_t i = 0; i < lines.size();) {
        PrintedLine made;
        const size_t count = set_elements(lines, i, is_derived, made);
        out.push_back(count > 0 ? made : lines[i]);
        i += std::max<size_t>(count, 1);
    }
    return out;
}

bool opens(const std::string& text) {
    return text.ends_with(") {") &&
           (text.starts_with("for (") || text.starts_with("while (") || text.starts_with("if ("));
}

bool is_statement(const std::string& text) {
    return text.ends_with(';') && text.find('\n') == std::string::npos &&
           declared_type(text).empty();
}

// The line behind the statement that begins at one.
size_t end_of_statement(const Lines& lines, size_t begin) {
    size_t end = begin + 1;
    if (!lines[begin].text.ends_with(" {")) return end;
    while (end < lines.size() &&
           (lines[end].indent > lines[begin].indent || lines[end].text.starts_with("} else")))
        ++end;
    return end + 1;
}

// Where what `begin` opens ends, if it holds one statement; 0: it holds others. A loop's may be a
// loop or branch, that of a branch is a plain one, or a loop without an `else` that might be its.
size_t end_of_single(const Lines& lines, size_t begin) {
    const bool is_loop = !lines[begin].text.starts_with("if (");
    const size_t inner = begin + 1;
    if (inner + 1 >= lines.size()) return 0;
    const size_t end = end_of_statement(lines, inner);
    const bool closes =
        end < lines.size() && lines[end].text == "}" && lines[end].indent == lines[begin].indent;
    if (!closes) return 0;
    if (is_statement(lines[inner].text)) return end;
    if (!opens(lines[inner].text) || (!is_loop && lines[inner].text.starts_with("if ("))) return 0;
    const bool has_else =
        std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(inner),
                    lines.begin() + static_cast<std::ptrdiff_t>(end),
                    [](const PrintedLine& each) { return each.text.starts_with("} else"); });
    return is_loop || !has_else ? end : 0;
}

Lines without_braces(const Lines& lines, bool is_derived) {
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
        const bool is_of_same = source_line == head || is_derived;
        if (is_inner && !is_bare[i] && !opens(lines[i].text) && is_of_same &&
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

size_t all_lines(const Lines& lines) {
    size_t count = 0;
    for (const PrintedLine& line : lines) count += count_of_lines(line);
    return count;
}

}  // namespace

Lines gathered(Lines lines, bool is_derived, bool is_c, const std::set<std::string>& names,
               const std::set<std::string>& acting, TakenNames* taken) {
    lines = with_indices_in_place(without_unread(std::move(lines)), is_derived);
    if (is_derived && !is_c) {
        lines = without_counted_logs(std::move(lines));
        lines =
            with_products_together(with_constants_in_place(std::move(lines), names, acting), true);
    }
    lines = without_unread(together(lines, is_derived, is_c));
    if (is_derived && taken) {
        lines = with_parts_named(std::move(lines), *taken);
        // Lines that are shorter now may be joined.
        Lines joined = without_unread(together(lines, true, is_c));
        Lines numbered =
            without_unread(together(with_low_numbers(std::move(lines), names), true, is_c));
        lines = all_lines(numbered) <= all_lines(joined) ? numbered : joined;
    }
    if (!is_c) lines = elements_together(lines, is_derived);
    lines = with_values_in_place(std::move(lines), is_derived, is_c);
    return without_braces(lines, is_derived);
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
