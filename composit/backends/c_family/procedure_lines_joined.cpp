#include "composit/backends/c_family/procedure_lines_joined.h"

#include "composit/backends/c_family/procedure_line_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/ascii.h"
#include "composit/base/text.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace composit::c_family {
namespace {

using Lines = std::vector<PrintedLine>;

// Where a word stands in a text, if it does so once.
std::optional<size_t> only_place_of(std::string_view word, std::string_view text) {
    std::optional<size_t> found;
    for (size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; at += word.size()) {
        const bool begins = at == 0 || !ascii::is_of_word(text[at - 1]);
        const size_t end = at + word.size();
        if (!begins || (end < text.size() && ascii::is_of_word(text[end]))) continue;
        if (found) return {};
        found = at;
    }
    return found;
}

// Whether a line from `begin` on, in the block of that one, says the word.
bool is_read_from(const Lines& lines, size_t begin, size_t indent, std::string_view word) {
    for (size_t i = begin; i < lines.size() && lines[i].indent >= indent; ++i)
        if (has_word(lines[i].text, word)) return true;
    return false;
}

// A declaration of one constant: "const double a = b;"
struct Constant {
    std::string name, value;
};
std::optional<Constant> constant_of(std::string_view text) {
    const std::string_view type = declared_type(text);
    const size_t equals = text.find(" = ");
    if (!type.starts_with("const ") || equals == std::string_view::npos || !declares_one(text))
        return {};
    return Constant{std::string(text.substr(type.size(), equals - type.size())),
                    std::string(text.substr(equals + 3, text.size() - equals - 4))};
}

bool are_of_one_block(const PrintedLine& line, const PrintedLine& next, bool is_derived) {
    return line.indent == next.indent &&
           (is_derived || next.source_line == 0 || next.source_line == line.source_line);
}

// Whether the statement runs all of itself, once: what stands in it then runs as it did before.
bool runs_once(std::string_view text) {
    constexpr std::string_view choices[] = {"?", "&&", "||", "{"};
    for (const std::string_view each : choices)
        if (text.find(each) != std::string_view::npos) return false;
    return text.ends_with(';');
}

bool put_index(const PrintedLine& line, const PrintedLine& next, PrintedLine& made) {
    const auto index = constant_of(line.text);
    if (!index ||
        !(index->value.starts_with("checked_index(") || index->value.starts_with("wrapped_index(")))
        return false;
    const auto place = only_place_of(index->name, next.text);
    if (!place || *place == 0 || !runs_once(next.text)) return false;
    made = next;
    made.text.replace(*place, index->name.size(), index->value);
    return count_of_lines(made) < count_of_lines(line) + count_of_lines(next);
}

// "y += a;" and "add_in_order(y, a);", also of `rounded(a)`.
bool put_stored(const PrintedLine& line, const PrintedLine& next, PrintedLine& made) {
    const auto stored = constant_of(line.text);
    const size_t equals = stored ? stored->value.find("] = ") : std::string::npos;
    const auto place = stored ? only_place_of(stored->name, next.text) : std::nullopt;
    if (equals == std::string::npos || !place) return false;
    const std::string_view text = next.text;
    std::string_view before = text.substr(0, *place), behind = text.substr(*place);
    behind.remove_prefix(stored->name.size());
    if (before.ends_with("rounded(") && behind.starts_with(")")) {
        before.remove_suffix(8);
        behind.remove_prefix(1);
    }
    const bool is_sum = (before.ends_with(" += ") || before.ends_with(" -= ")) && behind == ";";
    const bool is_in_order =
        (text.starts_with("add_in_order(") || text.starts_with("subtract_in_order(")) &&
        before.ends_with(", ") && behind == ");";
    const std::string array = stored->value.substr(0, stored->value.find('['));
    if ((!is_sum && !is_in_order) || has_word(before, array) || has_word(stored->value, "taken"))
        return false;
    made = next;
    const bool has_parentheses = !is_sum || text[*place + stored->name.size()] == ')';
    const std::string value = has_parentheses ? stored->value : "(" + stored->value + ")";
    made.text.replace(*place, stored->name.size(), value);
    return count_of_lines(made) < count_of_lines(line) + count_of_lines(next);
}

// "x_log.push_back(x[i]);" and "x_log_row[j] = x[i];": the array that keeps an element, what stands
// for its place, and the element.
struct Kept {
    std::string log, to, element;
};
std::optional<Kept> what_is_kept(const std::string& text, bool is_c) {
    constexpr std::string_view pushes = ".push_back(", stores = "] = ";
    if (const size_t call = text.find(pushes); call != std::string::npos) {
        if (!text.ends_with(");")) return {};
        const size_t first = call + pushes.size();
        return Kept{text.substr(0, call), text.substr(0, call),
                    text.substr(first, text.size() - first - 2)};
    }
    const size_t open = text.find('['), close = text.find(stores);
    const auto is_of_name = [](char c) { return ascii::is_of_word(c); };
    if (is_c || close == std::string::npos || open > close || !text.ends_with("];") ||
        !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(open), is_of_name))
        return {};
    const size_t first = close + stores.size();
    Kept made{text.substr(0, open), text.substr(0, close + 1),
              text.substr(first, text.size() - first - 1)};
    const bool is_element = made.element.find(']') + 1 == made.element.size();
    const bool is_log = made.log.find("_log") != std::string::npos;
    if (!is_element || !is_log || has_word(made.element, made.log)) return {};
    return made;
}

// "add_in_order(" of "add_in_order(place, value);"; empty where the text is no such call.
std::string call_that_adds_to(const std::string& place, std::string_view text) {
    constexpr std::string_view calls[] = {"add_in_order(", "subtract_in_order(", "add_to_rounded(",
                                          "add_to_rounded_in_order("};
    for (const std::string_view call : calls)
        if (text.starts_with(std::string(call) + place + ", ")) return std::string(call);
    return "";
}

// How many lines from `begin` on log an element, then overwrite it; constants may stand between.
size_t put_logged(const Lines& lines, size_t begin, bool is_derived, bool is_c, Lines& made) {
    const PrintedLine& line = lines[begin];
    const auto keeps = what_is_kept(line.text, is_c);
    if (!keeps) return 0;
    const auto& [log, to, place] = *keeps;
    made.clear();
    for (size_t i = begin + 1; i < lines.size(); ++i) {
        const PrintedLine& next = lines[i];
        if (!are_of_one_block(line, next, is_derived)) return 0;
        const std::string adds = call_that_adds_to(place, next.text);
        if (adds.empty() && !next.text.starts_with(place + " ")) {
            const bool is_constant = constant_of(next.text) && !takes_elements(next.text) &&
                                     next.text.find("] = ") == std::string::npos;
            if (!is_constant || has_word(next.text, log)) return 0;
            made.push_back(next);
            continue;
        }
        const std::string rest = next.text.substr(adds.size() + place.size());
        const bool gives = !adds.empty() || rest.starts_with(" = ") || rest.starts_with(" += ") ||
                           rest.starts_with(" -= ");
        if (!gives || has_word(rest, log)) return 0;
        PrintedLine joined = next;
        joined.text = text(adds, "logged(", to, ", ", place, ")", rest);
        if (count_of_lines(joined) >= count_of_lines(line) + count_of_lines(next)) return 0;
        made.push_back(joined);
        return i + 1 - begin;
    }
    return 0;
}

// Whether the text beside a place says that what stands there is a whole value.
bool is_value_of_its_own(std::string_view before, std::string_view behind) {
    constexpr std::string_view begins[] = {"(", ", ", " = ", " += ", " -= ", "return "};
    const bool begins_here =
        std::any_of(std::begin(begins), std::end(begins),
                    [&](const std::string_view each) { return before.ends_with(each); });
    return begins_here && !behind.empty() &&
           (behind[0] == ')' || behind[0] == ',' || behind[0] == ';');
}

// The characters outside of parentheses.
std::string outermost(std::string_view value) {
    std::string found;
    int depth = 0;
    for (const char c : value) {
        depth -= c == ')' || c == ']';
        if (depth == 0) found += c;
        depth += c == '(' || c == '[';
    }
    return found;
}

// The value as it is to stand in a text in place of a name: in parentheses where it would else be
// another value. A sum, or a product, that other summands follow needs none.
std::string in_text(const std::string& value, std::string_view before, std::string_view behind) {
    if (is_value_of_its_own(before, behind)) return value;
    const std::string own = outermost(value);
    const bool is_first = is_value_of_its_own(before, ";");
    const bool adds = behind.starts_with(" + ") || behind.starts_with(" - ");
    if (is_first && adds && own.find_first_of("?<>=&|!%") == std::string::npos) return value;
    return own.find(' ') == std::string::npos && value[0] != '-' ? value : "(" + value + ")";
}

// A constant that the line declares may stand in a later one, which alone reads it, once, with
// nothing but constants between: the place of that line; 0: it stays. None of the `names` goes.
size_t put_constant(const Lines& lines, size_t i, const std::set<std::string>& names,
                    const std::set<std::string>& acting, PrintedLine& made) {
    const auto constant = constant_of(lines[i].text);
    const auto acts = [&](std::string_view text) {
        const bool calls = std::any_of(acting.begin(), acting.end(), [&](const std::string& name) {
            return has_word(text, name);
        });
        return calls || takes_elements(text) || text.find("] = ") != std::string_view::npos ||
               text.find("checked_index(") != std::string_view::npos;
    };
    if (!constant || names.contains(constant->name) || acts(lines[i].text)) return 0;
    size_t k = i + 1;
    for (;; ++k) {
        if (k == lines.size() || lines[k].indent != lines[i].indent) return 0;
        if (has_word(lines[k].text, constant->name)) break;
        if (!constant_of(lines[k].text) || acts(lines[k].text)) return 0;
    }
    const std::string_view text = lines[k].text;
    const auto place = only_place_of(constant->name, text);
    const std::string_view list = "return {";
    const std::string_view whole = text.starts_with(list) ? text.substr(list.size()) : text;
    if (!place || !runs_once(whole) || takes_elements(text) ||
        is_read_from(lines, k + 1, lines[i].indent, constant->name))
        return 0;
    made = lines[k];
    const std::string_view behind = text.substr(*place + constant->name.size());
    made.text.replace(*place, constant->name.size(),
                      in_text(constant->value, text.substr(0, *place), behind));
    if (made.source_line == 0) made.source_line = lines[i].source_line;
    const size_t own = count_of_lines(lines[i]), next = count_of_lines(lines[k]);
    // A short constant stands beside others of its type, maybe.
    const size_t most = own == 1 ? next : own + next - 1;
    return count_of_lines(made) <= most ? k : 0;
}

// "add_multiple(dx, y, g, n);" or with set_.
struct WrittenMultiple {
    bool adds = false;
    std::vector<std::string> arguments;
};
std::optional<WrittenMultiple> multiple_of(std::string_view text) {
    constexpr std::string_view heads[] = {"set_multiple(", "add_multiple("};
    for (const bool adds : {false, true}) {
        const std::string_view head = heads[adds];
        if (!text.starts_with(head) || !text.ends_with(");")) continue;
        WrittenMultiple made{adds, {""}};
        int depth = 0;
        for (const char c : text.substr(head.size(), text.size() - head.size() - 2)) {
            depth += (c == '(' || c == '[') - (c == ')' || c == ']');
            if (c == ',' && depth == 0)
                made.arguments.emplace_back();
            else if (c != ' ' || !made.arguments.back().empty())
                made.arguments.back() += c;
        }
        return made;
    }
    return {};
}

// Whether the one is of the array that receives the gradient of the other's: "dx + i", "x".
bool is_gradient_of(std::string_view one, std::string_view other) {
    const auto word = [](std::string_view text) {
        size_t end = 0;
        while (end < text.size() && ascii::is_of_word(text[end])) ++end;
        return text.substr(0, end);
    };
    return word(one) == "d" + std::string(word(other));
}

// What both rows of a product receive: two multiples of one factor.
bool put_together(const PrintedLine& line, const PrintedLine& next, PrintedLine& made) {
    const auto one = multiple_of(line.text), other = multiple_of(next.text);
    if (!one || !other || one->arguments.size() != 4 || other->arguments.size() != 4) return false;
    const auto &a = one->arguments, &b = other->arguments;
    if (a[2] != b[2] || a[3] != b[3] || !is_gradient_of(a[0], b[1]) ||
        !is_gradient_of(b[0], a[1]) || (!one->adds && !other->adds))
        return false;
    const auto& set = one->adds ? b : a;
    const auto& added = one->adds ? a : b;
    const char* name = one->adds && other->adds ? "dot_product_vjp(" : "set_dot_product_vjp(";
    made = line;
    made.text = text(name, set[2], ", ", added[1], ", ", set[1], ", ", set[0], ", ", added[0], ", ",
                     set[3], ");");
    return count_of_lines(made) < count_of_lines(line) + count_of_lines(next);
}

}  // namespace

Lines with_constants_in_place(Lines lines, const std::set<std::string>& names,
                              const std::set<std::string>& acting) {
    for (size_t i = 0; i + 1 < lines.size();) {
        PrintedLine made;
        if (const size_t k = put_constant(lines, i, names, acting, made)) {
            lines[k] = made;
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
            i -= i > 0;
        } else {
            ++i;
        }
    }
    return lines;
}

Lines with_products_together(const Lines& lines, bool is_derived) {
    Lines out;
    for (const PrintedLine& line : lines) {
        PrintedLine made;
        if (!out.empty() && are_of_one_block(out.back(), line, is_derived) &&
            put_together(out.back(), line, made))
            out.back() = made;
        else
            out.push_back(line);
    }
    return out;
}

Lines with_indices_in_place(Lines lines, bool is_derived) {
    for (size_t i = 0; i + 1 < lines.size();) {
        PrintedLine made;
        const auto index = constant_of(lines[i].text);
        const bool joins = index && are_of_one_block(lines[i], lines[i + 1], is_derived) &&
                           !is_read_from(lines, i + 2, lines[i].indent, index->name) &&
                           put_index(lines[i], lines[i + 1], made);
        if (joins) {
            if (made.source_line == 0) made.source_line = lines[i].source_line;
            lines[i] = made;
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            i -= i > 0;
        } else {
            ++i;
        }
    }
    return lines;
}

Lines with_values_in_place(Lines lines, bool is_derived, bool is_c) {
    Lines out;
    for (size_t i = 0; i < lines.size();) {
        PrintedLine made;
        Lines several;
        const auto stored = constant_of(lines[i].text);
        if (stored && i + 1 < lines.size() &&
            are_of_one_block(lines[i], lines[i + 1], is_derived) &&
            !is_read_from(lines, i + 2, lines[i].indent, stored->name) &&
            put_stored(lines[i], lines[i + 1], made)) {
            out.push_back(made);
            i += 2;
        } else if (const size_t count = put_logged(lines, i, is_derived, is_c, several)) {
            out.insert(out.end(), several.begin(), several.end());
            i += count;
        } else {
            out.push_back(lines[i++]);
        }
    }
    return out;
}

}  // namespace composit::c_family
