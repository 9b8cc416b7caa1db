// Integers of plain arithmetic as text.
#include "composit/backends/c_family/procedure_text.h"

#include "composit/base/text.h"

#include <algorithm>
#include <cctype>

namespace composit::c_family {

using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

}  // namespace

std::string plain(const std::string& text) {
    if (text.find("<<") != std::string::npos || text.find(">>") != std::string::npos) return text;
    std::string out;
    for (size_t i = 0; i < text.size();) {
        size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        std::string word = text.substr(i, std::max<size_t>(end - i, 1));
        const bool is_wide = word.size() > 2 && word.size() < 12 && std::isdigit(word[0]) &&
                             word.find_first_not_of("0123456789") == word.size() - 2 &&
                             word.substr(word.size() - 2) == "ll";
        out += is_wide ? word.substr(0, word.size() - 2) : word;
        i += word.size();
    }
    return out;
}

std::string factor(const std::string& text) {
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
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

}  // namespace composit::c_family
