#include "composit/exporters/plain/strict_expression.h"

#include "composit/base/ascii.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

#include <algorithm>
#include <array>
#include <set>

namespace composit::plain {
namespace {

constexpr std::array<std::string_view, 24> long_signs = {
    "<<=", ">>=", "...", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
    "--",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "->", "::", "##"};

// The end of a word, a number or a text in quotes that begins at `at`; `at` if none does.
size_t end_of_word(const std::string& code, size_t at) {
    if (code[at] == '"' || code[at] == '\'') {
        size_t end = at + 1;
        while (end < code.size() && code[end] != code[at]) end += code[end] == '\\' ? 2 : 1;
        return std::min(end + 1, code.size());
    }
    const auto is_digit = [&](size_t k) {
        return k < code.size() && code[k] >= '0' && code[k] <= '9';
    };
    const bool is_number = is_digit(at) || (code[at] == '.' && is_digit(at + 1));
    size_t end = at;
    while (end < code.size()) {
        const bool is_exponent = is_number && end > at && (code[end] == '-' || code[end] == '+') &&
                                 (code[end - 1] == 'e' || code[end - 1] == 'E') &&
                                 code.compare(at, 2, "0x") != 0;
        if (!ascii::is_of_word(code[end]) && !(is_number && code[end] == '.') && !is_exponent)
            break;
        ++end;
    }
    return end;
}

// The end of a directive: lines that end with a backslash go on.
size_t end_of_directive(const std::string& code, size_t at) {
    size_t end = std::min(code.find('\n', at), code.size());
    while (end < code.size() && code[end - 1] == '\\')
        end = std::min(code.find('\n', end + 1), code.size());
    return end;
}

constexpr int of_assignment = 1, of_choice = 2;

// Operators with two operands by how closely they bind; 0: none.
int precedence(const std::string& sign) {
    static const std::vector<std::set<std::string>>& levels =
        *new std::vector<std::set<std::string>>{{"="},        {"?"},        {"||"},
                                                {"&&"},       {"|"},        {"^"},
                                                {"&"},        {"==", "!="}, {"<", ">", "<=", ">="},
                                                {"<<", ">>"}, {"+", "-"},   {"*", "/", "%"}};
    for (size_t k = 0; k < levels.size(); ++k)
        if (levels[k].contains(sign)) return static_cast<int>(k) + 1;
    return sign.size() > 1 && sign.back() == '=' ? of_assignment : 0;  // +=, <<=, …
}

// What is read so far, and the precedence of its outermost operator; 0: an operand by itself.
struct Read {
    std::string text;
    int level = 0;
};

class ExpressionReader {
  public:
    ExpressionReader(Language language, const std::vector<Token>& tokens, size_t first, size_t last)
        : language_(language), tokens_(tokens), at_(first), last_(last) {}

    std::string list() {
        std::string result;
        while (at_ < last_) {
            result += expression(of_assignment).text;
            if (at_ < last_) {
                internal_check(text() == ",", "plain: an expression is not C: ", text());
                result += ", ";
                ++at_;
            }
        }
        return result;
    }

  private:
    const std::string& text() const { return tokens_[at_].text; }
    bool is_at(std::string_view sign) const { return at_ < last_ && text() == sign; }

    static std::string enclosed(const Read& read) {
        return read.level == 0 ? read.text : "(" + read.text + ")";
    }

    // Operators of at least this precedence.
    Read expression(int least) {
        Read left = operand();
        while (at_ < last_) {
            const std::string sign = text();
            const int level = precedence(sign);
            if (level == 0 || level < least) break;
            ++at_;
            if (level == of_choice) {
                const Read yes = expression(of_choice);
                internal_check(is_at(":"), "plain: a choice without an alternative");
                ++at_;
                const Read no = expression(of_choice);
                left = {enclosed(left) + " ? " + enclosed(yes) + " : " + enclosed(no), of_choice};
            } else if (level == of_assignment) {
                left = {left.text + " " + sign + " " + expression(of_assignment).text, level};
            } else {
                const Read right = expression(level + 1);
                const std::string begin = left.level == level ? left.text : enclosed(left);
                left = {begin + " " + sign + " " + enclosed(right), level};
            }
        }
        return left;
    }

    // Tokens first … at_ - 1 with what stands in brackets.
    std::string within_brackets() {
        const size_t open = at_, close = closing(tokens_, open);
        at_ = close + 1;
        return ExpressionReader(language_, tokens_, open + 1, close).list();
    }

    Read operand() {
        internal_check(at_ < last_, "plain: an operand is missing");
        static const std::set<std::string>& signs =
            *new std::set<std::string>{"-", "+", "!", "~", "*", "&", "++", "--"};
        if (signs.contains(text())) {
            const std::string sign = text();
            ++at_;
            return {sign + enclosed(operand()), 0};
        }
        if (is_at("sizeof")) {
            ++at_;
            const std::string of = operand().text;
            return {of.front() == '(' ? "sizeof" + of : "sizeof(" + of + ")", 0};
        }
        if (is_at("{")) {
            const size_t open = at_;
            at_ = closing(tokens_, open) + 1;
            return {as_written(tokens_, open, at_), 0};
        }
        if (is_at("(")) {
            if (is_cast()) return cast();
            return behind("(" + within_brackets() + ")");
        }
        std::string name = text();
        ++at_;
        return behind(name);
    }

    // "(float)x", "(float (*)[4])x", but not "(float(x) + 1)"
    bool is_cast() const {
        if (!is_of_type(tokens_[at_ + 1].text)) return false;
        return tokens_[at_ + 2].text != "(" ||
               (tokens_[at_ + 3].text == "*" && tokens_[at_ + 4].text == ")");
    }

    Read cast() {
        const size_t open = at_;
        at_ = closing(tokens_, open) + 1;
        const std::string type = as_written(tokens_, open + 1, at_ - 1);
        if (at_ >= last_ || text() == ")") return {"(" + type + ")", 0};  // of sizeof
        const Read value = operand();
        if (language_ == Language::c) return {"(" + type + ")" + enclosed(value), 0};
        const std::string kind =
            type.find('*') == std::string::npos ? "static_cast<" : "reinterpret_cast<";
        const bool is_enclosed = value.level == 0 && value.text.front() == '(' &&
                                 value.text.find(')') == value.text.size() - 1;
        return behind(kind + type + ">" + (is_enclosed ? value.text : "(" + value.text + ")"));
    }

    // Calls, elements and members of what was read.
    Read behind(std::string result) {
        while (at_ < last_) {
            if (text() == "(" || text() == "[") {
                const std::string open = text(), close = open == "(" ? ")" : "]";
                result += open + within_brackets() + close;
            } else if (text() == "." || text() == "->" || text() == "::") {
                result += text() + tokens_[at_ + 1].text;
                at_ += 2;
            } else if (text() == "++" || text() == "--") {
                result += text();
                ++at_;
            } else {
                break;
            }
        }
        return {result, 0};
    }

    Language language_;
    const std::vector<Token>& tokens_;
    size_t at_, last_;
};

}  // namespace

std::vector<Token> tokens_of(const std::string& code) {
    std::vector<Token> tokens;
    size_t lines = 1;
    bool has_space = false;
    for (size_t at = 0; at < code.size();) {
        if (code[at] == ' ' || code[at] == '\n') {
            lines += code[at] == '\n' ? 1 : 0;
            has_space = true;
            ++at;
            continue;
        }
        Token token;
        token.has_space = has_space;
        token.starts_line = lines > 0;
        token.has_empty_line = lines > 1;
        token.begin = at;
        size_t end = at;
        if (code.compare(at, 2, "//") == 0) {
            token.kind = Token::Kind::comment;
            end = std::min(code.find('\n', at), code.size());
        } else if (code[at] == '#' && lines > 0) {
            token.kind = Token::Kind::directive;
            end = end_of_directive(code, at);
        } else {
            end = end_of_word(code, at);
            if (end == at) {
                token.kind = Token::Kind::sign;
                const auto sign =
                    std::find_if(long_signs.begin(), long_signs.end(), [&](std::string_view each) {
                        return code.compare(at, each.size(), each) == 0;
                    });
                end = at + (sign == long_signs.end() ? 1 : sign->size());
            }
        }
        token.text = code.substr(at, end - at);
        tokens.push_back(std::move(token));
        at = end;
        lines = 0;
        has_space = false;
    }
    return tokens;
}

bool is_of_type(std::string_view word) {
    static const std::set<std::string, std::less<>>& words =
        *new std::set<std::string, std::less<>>{
            "static",  "const",   "inline",   "constexpr", "unsigned", "void",    "char",
            "float",   "double",  "int",      "bool",      "struct",   "union",   "int8_t",
            "uint8_t", "int16_t", "uint16_t", "int32_t",   "uint32_t", "int64_t", "uint64_t"};
    return words.contains(word);
}

std::string as_written(const std::vector<Token>& tokens, size_t first, size_t last) {
    std::string result;
    for (size_t k = first; k < last; ++k)
        result += (tokens[k].has_space && k > first ? " " : "") + tokens[k].text;
    return result;
}

size_t closing(const std::vector<Token>& tokens, size_t open) {
    int depth = 0;
    for (size_t k = open; k < tokens.size(); ++k) {
        const std::string& text = tokens[k].text;
        if (text == "(" || text == "[" || text == "{") ++depth;
        if ((text == ")" || text == "]" || text == "}") && --depth == 0) return k;
    }
    fail<InternalError>("composit internal error: plain: a bracket is not closed");
}

std::string strict_expression(Language language, const std::vector<Token>& tokens, size_t first,
                              size_t last) {
    return ExpressionReader(language, tokens, first, last).list();
}

}  // namespace composit::plain
