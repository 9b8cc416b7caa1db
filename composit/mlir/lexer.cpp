// Tokens of MLIR's text.
#include "composit/mlir/lexer.h"

#include "composit/base/ascii.h"
#include "composit/base/printable.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace composit::mlir::syntax {
namespace {

bool is_of_name(char c) { return ascii::is_of_word(c) || c == '$' || c == '.'; }
bool is_of_value(char c) { return is_of_name(c) || c == '-'; }

constexpr size_t most_shown = 40;

// Of a number that float64 has not: whether it is too small, not too large.
bool is_below_one(std::string_view digits) {
    if (digits.starts_with('-')) digits.remove_prefix(1);
    const size_t e = digits.find_first_of("eE");
    const std::string_view mantissa = digits.substr(0, e);
    int64_t exponent = 0;
    if (e != std::string_view::npos) {
        std::string_view written = digits.substr(e + 1);
        if (written.starts_with('+')) written.remove_prefix(1);
        const auto read =
            std::from_chars(written.data(), written.data() + written.size(), exponent);
        if (read.ec != std::errc()) return written.starts_with('-');
    }
    const size_t first = mantissa.find_first_of("123456789");
    const size_t point = std::min(mantissa.find('.'), mantissa.size());
    if (first == std::string_view::npos) return true;
    // The power of ten of the first digit that is not 0.
    const int64_t power = static_cast<int64_t>(point) - static_cast<int64_t>(first);
    return exponent <= -power;
}

}  // namespace

int hexadecimal_digit(char c) {
    if (ascii::is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string shown(std::string_view spelling) {
    const std::string_view part = spelling.substr(0, most_shown);
    return "'" + printable(part) + (part.size() < spelling.size() ? "…'" : "'");
}

std::string shown(const Token& token) {
    return token.kind == Token::Kind::end ? "the end of the text" : shown(token.spelling);
}

std::optional<double> float64_of(std::string_view digits) {
    double value = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ptr != end) return {};
    if (read.ec == std::errc()) return value;
    if (read.ec != std::errc::result_out_of_range || !is_below_one(digits)) return {};
    return digits.starts_with('-') ? -0.0 : 0.0;
}

std::string place_text(const Place& place) {
    return composit::text("line ", place.line, ", column ", place.column);
}

bool Lexer::is(std::string_view sign_or_word) const {
    return (token_.kind == Token::Kind::sign || token_.kind == Token::Kind::word) &&
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

void Lexer::expect(std::string_view sign_or_word) {
    if (!accept(sign_or_word)) fail_here("'" + std::string(sign_or_word) + "'");
}

Token Lexer::expect(Token::Kind kind, std::string_view what) {
    if (token_.kind != kind) fail_here(what);
    return take();
}

void Lexer::fail_here(std::string_view required) const {
    fail_at(token_.place, "found ", shown(token_), ". ", required, " is required.");
}

void Lexer::skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
        const char c = text_[at_];
        if (c == '\n') {
            ++line_;
            line_start_ = at_ + 1;
        } else if (c == '/' && at(at_ + 1) == '/') {
            while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

void Lexer::advance() {
    skip_blanks();
    token_.place = here();
    const size_t start = at_;
    const auto made = [&](Token::Kind kind) {
        token_.kind = kind;
        token_.spelling = text_.substr(start, at_ - start);
    };
    if (at_ >= text_.size()) return made(Token::Kind::end);
    const char c = text_[at_];
    if (ascii::is_letter(c) || c == '_') {
        while (is_of_name(at(at_))) ++at_;
        return made(Token::Kind::word);
    }
    const bool is_negative = c == '-' && ascii::is_digit(at(at_ + 1));
    if (ascii::is_digit(c) || is_negative) {
        if (is_negative) ++at_;
        if (at(at_) == '0' && at(at_ + 1) == 'x' && hexadecimal_digit(at(at_ + 2)) >= 0) {
            at_ += 2;
            while (hexadecimal_digit(at(at_)) >= 0) ++at_;
            return made(Token::Kind::number);
        }
        while (ascii::is_digit(at(at_))) ++at_;
        if (at(at_) == '.') {
            ++at_;
            while (ascii::is_digit(at(at_))) ++at_;
            const bool has_sign = at(at_ + 1) == '-' || at(at_ + 1) == '+';
            const bool has_exponent =
                (at(at_) == 'e' || at(at_) == 'E') && ascii::is_digit(at(at_ + (has_sign ? 2 : 1)));
            if (has_exponent) {
                at_ += has_sign ? 2 : 1;
                while (ascii::is_digit(at(at_))) ++at_;
            }
        }
        return made(Token::Kind::number);
    }
    if (c == '"') {
        for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
            if (text_[at_] == '\\') ++at_;
        if (at(at_) != '"') fail_at(token_.place, "a text does not end. '\"' is required.");
        ++at_;
        return made(Token::Kind::text);
    }
    if (c == '@' && at(at_ + 1) == '"') {
        const Place place = token_.place;
        for (at_ += 2; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
            if (text_[at_] == '\\') ++at_;
        if (at(at_) != '"') fail_at(place, "a name does not end. '\"' is required.");
        ++at_;
        return made(Token::Kind::symbol);
    }
    Token::Kind kind = Token::Kind::sign;
    switch (c) {
        case '%': kind = Token::Kind::value; break;
        case '@': kind = Token::Kind::symbol; break;
        case '#': kind = Token::Kind::alias; break;
        case '!': kind = Token::Kind::type_alias; break;
        case '^': kind = Token::Kind::label; break;
        default: break;
    }
    ++at_;
    if (kind != Token::Kind::sign) {
        const bool is_value = kind == Token::Kind::value;
        while (is_value ? is_of_value(at(at_)) : is_of_name(at(at_))) ++at_;
        // "%0#1" is one name; "#stablehlo<…>" ends before its bracket.
        if (at_ - start > 1) return made(kind);
        if (kind != Token::Kind::alias)
            fail_at(token_.place, "'", c, "' stands alone. A name behind it is required.");
        return made(Token::Kind::sign);
    }
    if (c == '-' && at(at_) == '>') ++at_;
    if (c == ':' && at(at_) == ':') ++at_;
    static constexpr std::string_view signs = "()[]{}<>,:=-+?*|/;";
    if (signs.find(c) == std::string_view::npos)
        fail_at(token_.place, "found ", shown({Token::Kind::sign, text_.substr(start, 1), {}}),
                ", with which nothing begins. MLIR's text is required.");
    made(Token::Kind::sign);
}

Shape Lexer::take_lengths() {
    if (!is("<")) fail_here("'<'");
    Shape shape;
    int64_t count = 1;
    skip_blanks();
    const Place place = here();
    while (ascii::is_digit(at(at_)) || at(at_) == '?') {
        if (at(at_) == '?') {
            if (at(at_ + 1) != 'x')
                fail_at(place, "the lengths of a tensor end in ", shown(text_.substr(at_ + 1, 1)),
                        ". Lengths with an x behind each are required, as in tensor<?x3xf32>.");
            at_ += 2;
            shape.push_back(open_length);
            continue;
        }
        int64_t length = 0;
        const char* const begin = text_.data() + at_;
        const auto read = std::from_chars(begin, text_.data() + text_.size(), length);
        at_ += static_cast<size_t>(read.ptr - begin);
        if (read.ec != std::errc() || at(at_) != 'x')
            fail_at(place, "the lengths of a tensor end in ", shown(text_.substr(at_, 1)),
                    ". Lengths with an x behind each are required, as in tensor<2x3xf32>.");
        ++at_;
        constexpr int64_t most = std::numeric_limits<int64_t>::max() / 64;  // of bytes
        // Also where another length is 0: strides are products of some.
        if (length > 0 && count > most / length)
            fail_at<OverflowError>(place, "a tensor has more than ", most,
                                   " elements. Fewer are required.");
        count *= std::max<int64_t>(1, length);
        shape.push_back(length);
    }
    advance();
    return shape;
}

int64_t Lexer::take_integer() {
    const Token token = expect(Token::Kind::number, "an integer");
    std::string_view digits = token.spelling;
    const bool is_negative = digits.front() == '-';
    if (is_negative) digits.remove_prefix(1);
    const bool is_hexadecimal = digits.substr(0, 2) == "0x";
    if (is_hexadecimal) digits.remove_prefix(2);
    uint64_t magnitude = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude,
                                      is_hexadecimal ? 16 : 10);
    const bool is_whole = read.ptr == digits.data() + digits.size() && read.ec == std::errc();
    const uint64_t most = uint64_t{1} << 63;
    if (!is_whole || magnitude > (is_negative ? most : most - 1))
        fail_at(token.place, "found ", shown(token), ". An integer of 64 bits is required.");
    return static_cast<int64_t>(is_negative ? ~magnitude + 1 : magnitude);
}

std::string Lexer::take_text() { return unquoted(expect(Token::Kind::text, "a quoted text")); }

std::string Lexer::take_symbol() {
    Token token = expect(Token::Kind::symbol, "a name with @");
    token.spelling.remove_prefix(1);
    return token.spelling.front() == '"' ? unquoted(token) : std::string(token.spelling);
}

std::string unquoted(const Token& token) {
    const std::string_view inside = token.spelling.substr(1, token.spelling.size() - 2);
    std::string text;
    for (size_t i = 0; i < inside.size(); ++i) {
        if (inside[i] != '\\') {
            text += inside[i];
            continue;
        }
        const char next = i + 1 < inside.size() ? inside[i + 1] : '\0';
        const int high = hexadecimal_digit(next);
        const int low = i + 2 < inside.size() ? hexadecimal_digit(inside[i + 2]) : -1;
        if (next == 'n' || next == 't' || next == '"' || next == '\\') {
            text += next == 'n' ? '\n' : next == 't' ? '\t' : next;
            ++i;
        } else if (high >= 0 && low >= 0) {
            text += static_cast<char>(16 * high + low);
            i += 2;
        } else {
            fail_at(token.place,
                    "a text has '\\' before what it does not go with. \\n, \\t, \\\", "
                    "\\\\ or two hexadecimal digits are required.");
        }
    }
    return text;
}

}  // namespace composit::mlir::syntax
