// Integers of plain arithmetic as text.
#include "composit/backends/c_family/procedure_text.h"

#include "composit/backends/c_family/procedure_lines.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/ascii.h"
#include "composit/base/text.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace composit::c_family {

using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

// A number of at most nine digits, so that products of two are integers, too.
std::optional<int64_t> number_in(const std::string& text) {
    const bool is_number = !text.empty() && text.size() <= 9 &&
                           text.find_first_not_of("0123456789") == std::string::npos;
    return is_number ? std::optional<int64_t>(std::stoll(text)) : std::nullopt;
}

// "a * b", "(a + b)"
std::string in_product(const std::string& term) {
    const bool is_sum =
        term.find(" + ") != std::string::npos || term.find(" - ") != std::string::npos;
    return is_sum ? "(" + term + ")" : term;
}

// "i * 4": what stands in a sum, as often as it counts.
std::string times(const std::string& term, int64_t count) {
    return count == 1 ? term : in_product(term) + " * " + text(count);
}

bool is_word(char c) { return ascii::is_of_word(c) || c == '.'; }

}  // namespace

std::string plain(const std::string& text, std::string_view suffix) {
    if (text.find("<<") != std::string::npos || text.find(">>") != std::string::npos) return text;
    std::string out;
    for (size_t i = 0; i < text.size();) {
        size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        std::string word = text.substr(i, std::max<size_t>(end - i, 1));
        const size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
        const bool is_wide = digits > 0 && digits < 10 && word.substr(digits) == suffix;
        out += is_wide ? word.substr(0, digits) : word;
        i += word.size();
    }
    return out;
}

std::string type_of_elements(ir::DType dtype) {
    return dtype == ir::DType::boolean ? "uint8_t" : type_name(dtype);
}

std::string zero_of(ir::DType dtype) {
    return dtype == ir::DType::boolean ? "false" : plain(literal(dtype, {}));
}

std::string factor(const std::string& text) {
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

std::string flat_place(const std::vector<std::string>& indices,
                       const std::vector<std::string>& extents) {
    // Terms of the sum, and how often each counts: once, until an axis of known extent follows.
    std::vector<std::pair<std::string, int64_t>> terms;
    const auto sum = [&] {
        std::string out;
        int64_t number = 0;  // of terms that are numbers, one behind the other
        const auto add = [&](const std::string& term) {
            out += (out.empty() ? "" : " + ") + term;
            number = 0;
        };
        for (const auto& [term, count] : terms) {
            const auto own = number_in(term);
            if (own) number += *own * count;
            if (own) continue;
            if (number != 0) add(text(number));
            add(times(term, count));
        }
        if (number != 0) add(text(number));
        return out;
    };
    for (size_t axis = 0; axis < indices.size(); ++axis) {
        const auto extent = number_in(extents[axis]);
        const bool is_small =
            extent && std::all_of(terms.begin(), terms.end(), [&](const auto& term) {
                return term.second * *extent < 1'000'000'000;
            });
        if (is_small) {
            for (auto& [term, count] : terms) count *= *extent;
        } else if (const std::string before = sum(); !before.empty()) {
            const std::string extent_text = factor(extents[axis]);
            terms = {{before == "1" ? extent_text : in_product(before) + " * " + extent_text, 1}};
        }
        terms.emplace_back(indices[axis], 1);
    }
    const std::string made = sum();
    return made.empty() ? "0" : made;
}

std::string plain_integer(const Expr& value, const std::vector<std::string>& names) {
    if (value.dtype() != ir::DType::int64) return "";
    if (value.op() == Op::argument) return names[static_cast<size_t>(value.index())];
    if (value.op() == Op::constant) return text(static_cast<int64_t>(value.bits()[0]));
    const bool is_sum = value.op() == Op::add || value.op() == Op::subtract;
    if (!is_sum && value.op() != Op::multiply) return "";
    std::string left = plain_integer(value.operand(0), names);
    std::string right = plain_integer(value.operand(1), names);
    if (left.empty() || right.empty()) return "";
    const auto binds_loosely = [](const Expr& x) {
        return x.op() == Op::add || x.op() == Op::subtract ||
               (x.op() == Op::constant && static_cast<int64_t>(x.bits()[0]) < 0);
    };
    if (!is_sum && binds_loosely(value.operand(0))) left = "(" + left + ")";
    const bool wraps_right = !is_sum || value.op() == Op::subtract || right[0] == '-';
    if (wraps_right && binds_loosely(value.operand(1))) right = "(" + right + ")";
    const char* symbol = value.op() == Op::add ? " + " : is_sum ? " - " : " * ";
    return left + symbol + right;
}

std::string plain_comparison(const Expr& value, const std::vector<std::string>& names) {
    const char* symbol = value.op() == Op::less            ? " < "
                         : value.op() == Op::less_equal    ? " <= "
                         : value.op() == Op::greater       ? " > "
                         : value.op() == Op::greater_equal ? " >= "
                                                           : nullptr;
    if (!symbol) return "";
    const std::string left = plain_integer(value.operand(0), names);
    const std::string right = plain_integer(value.operand(1), names);
    return left.empty() || right.empty() ? "" : left + symbol + right;
}

std::string plain_condition(const ir::scalar::Expr& value, const std::vector<std::string>& names,
                            const std::string& text) {
    const bool is_other = value.op() == Op::bit_not && value.operand(0).op() == Op::argument;
    return is_other ? "!" + names[static_cast<size_t>(value.operand(0).index())] : text;
}

std::string returned(const std::vector<Expr>& values, std::vector<std::string> texts,
                     size_t indent) {
    for (size_t i = 0; i < values.size(); ++i) {
        const bool is_integer =
            texts[i].find(" & ") != std::string::npos || texts[i].find(" | ") != std::string::npos;
        if (values[i].dtype() == ir::DType::boolean && is_integer)
            texts[i] = "bool(" + texts[i] + ")";
    }
    return "return {" + in_lines(texts, indent) + "};";
}

std::string steps_of(const ir::procedure::Statement& loop, const std::vector<std::string>& names,
                     const std::function<std::string(const ir::procedure::Statement&)>& value) {
    std::vector<std::string> parts;
    for (const ir::procedure::Statement& next : loop.otherwise) {
        const std::string& target = names[static_cast<size_t>(next.variable)];
        const Expr& made = next.values[0];
        const bool is_step = (made.op() == Op::add || made.op() == Op::subtract) &&
                             made.operand(0).op() == Op::argument &&
                             made.operand(0).index() == next.variable &&
                             made.operand(1).op() == Op::constant && made.operand(1).value() == 1;
        const std::string simple = is_step ? "" : plain_integer(made, names);
        parts.push_back(is_step ? (made.op() == Op::add ? "++" : "--") + target
                                : target + " = " + (simple.empty() ? value(next) : simple));
    }
    return join(parts);
}

std::vector<std::string> value_texts(const std::vector<Expr>& values,
                                     const std::vector<std::string>& names, TakenNames& taken,
                                     const Roundings& roundings, std::vector<std::string>& before,
                                     const ScalarSpelling& spelling) {
    const Statements printed = print_statements(values, names, taken, &roundings, spelling);
    for (const std::string& text : printed.lines) before.push_back(plain(text));
    std::vector<std::string> results;
    for (const std::string& text : printed.results) results.push_back(plain(text));
    return results;
}

}  // namespace composit::c_family
