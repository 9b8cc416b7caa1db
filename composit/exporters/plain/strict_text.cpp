#include "composit/exporters/plain/strict_text.h"

#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/strict_expression.h"

#include <algorithm>
#include <cctype>

namespace composit::plain {
namespace {

bool is_number(const std::string& text) { return text[0] >= '0' && text[0] <= '9'; }

// "12ull" to "12ULL"; a float's f, which a hexadecimal number has as a digit, stays.
std::string with_capital_suffix(std::string number) {
    size_t end = number.size();
    while (end > 0 && (number[end - 1] == 'u' || number[end - 1] == 'l')) --end;
    for (; end < number.size(); ++end)
        number[end] = static_cast<char>(std::toupper(static_cast<unsigned char>(number[end])));
    return number;
}

class StrictPrinter {
  public:
    StrictPrinter(Language language, const std::string& code)
        : language_(language), code_(code), tokens_(tokens_of(code)) {
        for (Token& each : tokens_)
            if (each.kind == Token::Kind::word && is_number(each.text))
                each.text = with_capital_suffix(each.text);
    }

    std::string print() {
        while (at_ < tokens_.size()) statement();
        std::string prototypes;
        for (const std::string& each : prototypes_) prototypes += each + ";\n";
        return prototypes + (prototypes.empty() ? "" : "\n") + result_;
    }

  private:
    const Token& token() const { return tokens_[at_]; }
    bool is_at(std::string_view word) const {
        return at_ < tokens_.size() && tokens_[at_].text == word;
    }

    void line(const std::string& text) { result_ += std::string(4 * depth_, ' ') + text + "\n"; }

    // Comments and directives before the next statement.
    void between() {
        while (at_ < tokens_.size() &&
               (token().kind == Token::Kind::comment || token().kind == Token::Kind::directive)) {
            if (token().has_empty_line && depth_ == 0 && !result_.empty()) result_ += "\n";
            if (token().kind == Token::Kind::directive)
                result_ += token().text + "\n";
            else if (token().starts_line || result_.empty())
                line(token().text);
            else
                result_.insert(result_.size() - 1, "  " + token().text);
            ++at_;
        }
    }

    // Statements up to the brace that closes them.
    void block() {
        ++at_;
        ++depth_;
        for (between(); !is_at("}"); between()) statement();
        --depth_;
        ++at_;
    }

    // The body of a loop or a choice, whose header is `start`.
    void body(const std::string& start) {
        line(start + " {");
        if (is_at("{")) {
            block();
        } else {
            ++depth_;
            between();
            statement();
            --depth_;
        }
        comment_behind();
        line("}");
    }
    // A comment behind the statement stays within its braces.
    void comment_behind() {
        for (; at_ < tokens_.size() && token().kind == Token::Kind::comment && !token().starts_line;
             ++at_)
            result_.insert(result_.size() - 1, "  " + token().text);
    }

    void statement() {
        const size_t before = at_;
        between();
        if (at_ >= tokens_.size() || (at_ > before && is_at("}"))) return;
        if (token().has_empty_line && depth_ == 0 && !result_.empty() && at_ == before)
            result_ += "\n";
        if (is_at("for")) return loop();
        if (is_at("if") || is_at("while")) return choice("");
        if (is_at("__attribute__")) {
            const size_t end = closing(tokens_, at_ + 1) + 1;
            line(as_written(tokens_, at_, end));
            at_ = end;
            return;
        }
        if (is_at("__asm__")) return verbatim();
        // To the end, or to the brace that opens a block.
        size_t end = at_;
        while (tokens_[end].text != ";" && tokens_[end].text != "{") {
            const bool is_list = tokens_[end].text == "=" && tokens_[end + 1].text == "{";
            const bool opens = tokens_[end].text == "(" || tokens_[end].text == "[";
            end = is_list ? closing(tokens_, end + 1) + 1
                  : opens ? closing(tokens_, end) + 1
                          : end + 1;
        }
        if (tokens_[end].text == "{") return opened(end);
        simple(at_, end);
        at_ = end + 1;
    }

    void verbatim() {
        size_t end = at_;
        while (tokens_[end].text != ";") ++end;
        line(as_written(tokens_, at_, end + 1));
        at_ = end + 1;
    }

    // A function, a struct, a namespace, or a block by itself.
    void opened(size_t open) {
        const std::string head = as_written(tokens_, at_, open);
        const bool is_function = open > at_ && tokens_[open - 1].text == ")";
        if (is_function && depth_ == 0 && head.starts_with("static ")) prototypes_.push_back(head);
        line(head.empty() ? "{" : head + " {");
        at_ = open;
        block();
        if (is_function || head.empty()) {
            line("}");
            return;
        }
        size_t end = at_;
        while (tokens_[end].text != ";") ++end;
        line("} " + as_written(tokens_, at_, end + 1));
        if (end == at_) result_.erase(result_.size() - 3, 1);  // "} ;"
        at_ = end + 1;
    }

    void loop() {
        const size_t open = at_ + 1, close = closing(tokens_, open);
        std::vector<std::string> parts;
        size_t start = open + 1;
        for (size_t k = start; k <= close; ++k) {
            if (tokens_[k].text != ";" && k != close) continue;
            if (parts.empty()) {
                const std::vector<std::string> begin = declaration(start, k);
                parts.push_back(begin.size() == 1 ? begin[0] : as_written(tokens_, start, k));
            } else {
                parts.push_back(strict_expression(language_, tokens_, start, k));
            }
            start = k + 1;
        }
        at_ = close + 1;
        body("for (" + join(parts, "; ") + ")");
    }

    void choice(const std::string& before) {
        const std::string word = token().text;
        const size_t open = at_ + 1, close = closing(tokens_, open);
        at_ = close + 1;
        body(before + word + " (" + strict_expression(language_, tokens_, open + 1, close) + ")");
        if (!is_at("else")) return;
        ++at_;
        result_.pop_back();  // "} else {" is one line
        const size_t margin = result_.rfind('\n') + 1;
        result_.erase(margin);
        if (is_at("if")) return choice("} else ");
        body("} else");
    }

    // The declarations of one statement, each with the type; or the statement, if it is none.
    std::vector<std::string> declaration(size_t first, size_t last) const {
        if (first == last) return {""};
        size_t name = first;
        while (name < last && (is_of_type(tokens_[name].text) || tokens_[name].text == "*" ||
                               tokens_[name].text == "__restrict"))
            name += tokens_[name].text == "struct" ? 2 : 1;  // and its name
        if (!is_of_type(tokens_[first].text) || tokens_[name].text == "(")
            return {strict_expression(language_, tokens_, first, last)};
        const std::string type = as_written(tokens_, first, name) + " ";
        std::vector<std::string> result;
        size_t start = name;
        for (size_t k = name; k <= last; ++k) {
            if (k < last &&
                (tokens_[k].text == "(" || tokens_[k].text == "[" || tokens_[k].text == "{")) {
                k = closing(tokens_, k);
                continue;
            }
            if (k < last && tokens_[k].text != ",") continue;
            result.push_back(type + with_zeros(strict_expression(language_, tokens_, start, k)));
            start = k + 1;
        }
        return result;
    }

    // "sums[8][8] = {{0.0f}}" as "sums[8][8] = {0}", which alone means all elements in C.
    std::string with_zeros(const std::string& declarator) const {
        const size_t list = declarator.find(" = {");
        if (language_ != Language::c || list == std::string::npos) return declarator;
        const std::string value = declarator.substr(list + 3);
        const bool is_zero = value == "{{false}}" || value == "{false}" ||
                             value.find_first_not_of("{}0.f") == std::string::npos;
        return is_zero ? declarator.substr(0, list + 3) + "{0}" : declarator;
    }

    void simple(size_t first, size_t last) {
        if (first == last) return;
        const bool is_table =
            std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                        tokens_.begin() + static_cast<std::ptrdiff_t>(last),
                        [](const Token& each) { return each.starts_line && each.text != "&&"; });
        const std::string& word = tokens_[first].text;
        if (is_table && std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                                    tokens_.begin() + static_cast<std::ptrdiff_t>(last),
                                    [](const Token& each) { return each.text == "{"; })) {
            // Lists of numbers keep their lines.
            const size_t begin = tokens_[first].begin, end = tokens_[last].begin;
            line(code_.substr(begin, end - begin) + ";");
        } else if (word == "return") {
            line(first + 1 == last
                     ? "return;"
                     : "return " + strict_expression(language_, tokens_, first + 1, last) + ";");
        } else if (word == "(" && tokens_[first + 1].text == "void") {
            line(as_written(tokens_, first, last + 1));
        } else if (word == "enum" || word == "using") {
            line(as_written(tokens_, first, last + 1));
        } else {
            const bool is_call = word == "memset" || word == "memcpy" || word == "__builtin_memcpy";
            for (const std::string& each : declaration(first, last))
                line((is_call ? "(void)" : "") + each + ";");
        }
    }

    Language language_;
    const std::string& code_;
    std::vector<Token> tokens_;
    std::string result_;
    std::vector<std::string> prototypes_;
    size_t at_ = 0;
    size_t depth_ = 0;
};

}  // namespace

std::string strict_text(Language language, const std::string& code) {
    const std::string with_suffixes = with_capital_suffixes(code);
    return StrictPrinter(language, with_suffixes).print();
}

std::string with_capital_suffixes(std::string code) {
    const std::vector<Token> tokens = tokens_of(code);
    for (const Token& each : tokens)
        if (each.kind == Token::Kind::word && is_number(each.text))
            code.replace(each.begin, each.text.size(), with_capital_suffix(each.text));
    return code;
}

}  // namespace composit::plain
