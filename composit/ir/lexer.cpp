// Tokens: words, numbers (also inf and nan with a sign), quoted texts, signs.
#include "composit/ir/lexer.h"

#include "composit/base/ascii.h"
#include "composit/base/error.h"
#include "composit/base/utf8.h"
#include "composit/ir/print.h"

#include <charconv>

namespace composit::ir {
namespace {

bool is_letter(char c) { return ascii::is_letter(c) || c == '_'; }
using ascii::is_digit;

int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

void Lexer::fail_at(const Token& token, std::string_view message) {
    fail<ValueError>("parse: line ", token.line, ", column ", token.column, ": ", message);
}

void Lexer::fail_here(std::string_view required) const {
    const bool is_end = token_.kind == TokenKind::end;
    const std::string found =
        is_end ? "the end of the text" : quoted(token_.spelling.substr(0, 40));
    fail_at(token_, text("found ", found, ". ", required, " is required."));
}

bool Lexer::is(std::string_view sign_or_word) const {
    return (token_.kind == TokenKind::sign || token_.kind == TokenKind::word) &&
           token_.spelling == sign_or_word;
}

Token Lexer::take() {
    const Token taken = token_;
    advance();
    return taken;
}

bool Lexer::accept(std::string_view sign_or_word) {
    if (!is(sign_or_word)) return false;
    advance();
    return true;
}

void Lexer::expect(std::string_view sign_or_word, std::string_view where) {
    if (!accept(sign_or_word)) fail_here(text("'", sign_or_word, "' ", where));
}

void Lexer::skip_blanks() {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '#') {
            while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        } else if (c == '\n') {
            line_start_ = ++at_;
            ++line_;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++at_;
        } else {
            break;
        }
    }
}

void Lexer::advance() {
    skip_blanks();
    const size_t begin = at_;
    token_ = {TokenKind::end, {}, line_, at_ - line_start_ + 1};
    if (at_ == text_.size()) return;
    const auto peek = [&](size_t ahead) {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    };
    const char c = text_[at_];
    if (is_letter(c)) {
        token_.kind = TokenKind::word;
        while (is_letter(peek(0)) || is_digit(peek(0))) ++at_;
    } else if (is_digit(c) || (c == '-' && (is_digit(peek(1)) || is_letter(peek(1))))) {
        token_.kind = TokenKind::number;
        for (++at_; at_ < text_.size(); ++at_) {
            const bool is_exponent_sign =
                (peek(0) == '+' || peek(0) == '-') && text_[at_ - 1] == 'e';
            if (!is_letter(peek(0)) && !is_digit(peek(0)) && peek(0) != '.' && !is_exponent_sign)
                break;
        }
    } else if (c == '"') {
        token_.kind = TokenKind::text;
        for (++at_; peek(0) != '"'; ++at_) {
            if (peek(0) == '\\') ++at_;
            if (at_ >= text_.size() || text_[at_] == '\n')
                fail_at(token_,
                        "found a text that does not end. '\"' on the same line is required.");
        }
        ++at_;
    } else if (c == '-' && peek(1) == '>') {
        token_.kind = TokenKind::sign;
        at_ += 2;
    } else {
        if (std::string_view("%=(){}[],:.;<>").find(c) == std::string_view::npos)
            fail_at(token_, text("found ", quoted(text_.substr(at_, 1)),
                                 ", which begins nothing. A node, body or return is required."));
        token_.kind = TokenKind::sign;
        ++at_;
    }
    token_.spelling = text_.substr(begin, at_ - begin);
}

std::string Lexer::unescaped(const Token& token) const {
    std::string out;
    const std::string_view inner = token.spelling.substr(1, token.spelling.size() - 2);
    for (size_t i = 0; i < inner.size(); ++i) {
        if (inner[i] != '\\') {
            out += inner[i];
            continue;
        }
        const char c = ++i < inner.size() ? inner[i] : '\0';
        if (c == '"' || c == '\\') {
            out += c;
        } else if (c == 'n') {
            out += '\n';
        } else if (c == 'x' && i + 2 < inner.size() && hex_digit(inner[i + 1]) >= 0 &&
                   hex_digit(inner[i + 2]) >= 0) {
            out += static_cast<char>(hex_digit(inner[i + 1]) * 16 + hex_digit(inner[i + 2]));
            i += 2;
        } else {
            fail_at(token,
                    "found an unknown escape. One of \\\", \\\\, \\n and \\x with two digits "
                    "is required.");
        }
    }
    if (const std::optional<size_t> at = broken_utf8(out))
        fail_at(token,
                text("found a text that is no UTF-8 from byte ", *at, " on. UTF-8 is required."));
    return out;
}

std::string Lexer::take_text(std::string_view what) {
    if (token_.kind != TokenKind::text) fail_here(text(what, " in quotes"));
    std::string value = unescaped(token_);
    advance();
    return value;
}

std::string Lexer::take_word_or_text(std::string_view what) {
    if (token_.kind == TokenKind::word) return std::string(take().spelling);
    if (token_.kind != TokenKind::text) fail_here(what);
    return take_text(what);
}

int64_t Lexer::take_integer(std::string_view what) {
    int64_t value = 0;
    const std::string_view digits = token_.spelling;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (token_.kind != TokenKind::number || error != std::errc() ||
        end != digits.data() + digits.size())
        fail_here(what);
    advance();
    return value;
}

}  // namespace composit::ir
