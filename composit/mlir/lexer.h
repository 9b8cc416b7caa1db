// Splits MLIR's text into tokens that know where they stand.
#pragma once

#include "composit/base/error.h"
#include "composit/base/printable.h"
#include "composit/mlir/syntax.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace composit::mlir::syntax {

struct Token {
    enum class Kind : uint8_t {
        word,
        value,
        symbol,
        alias,
        type_alias,
        label,
        number,
        text,
        sign,
        end
    };
    Kind kind = Kind::end;
    std::string_view spelling;  // as written
    Place place;
};

// Errors are of `mlir.load`, with the place.
template <class E = ValueError, class... Parts>
[[noreturn]] void fail_at(const Place& place, const Parts&... parts) {
    // Parts of the text may be bytes that are no UTF-8.
    fail<E>("mlir.load: ", place_text(place), ": ", printable(composit::text(parts...)));
}

// As errors quote it: its beginning; "the end of the text" where there is no token.
[[nodiscard]] std::string shown(std::string_view spelling);
[[nodiscard]] std::string shown(const Token& token);
// The value of a hexadecimal digit; -1 for any other character.
[[nodiscard]] int hexadecimal_digit(char c);
// A decimal number, 0 where it is nearer to 0 than all others. Nothing where it is none, or too
// large.
[[nodiscard]] std::optional<double> float64_of(std::string_view digits);

// A copy goes on from where it was made.
class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) { advance(); }

    [[nodiscard]] const Token& token() const { return token_; }
    [[nodiscard]] bool is(Token::Kind kind) const { return token_.kind == kind; }
    [[nodiscard]] bool is(std::string_view sign_or_word) const;
    Token take();  // the token, and on to the next
    bool accept(std::string_view sign_or_word);
    // ValueError unless it is there.
    void expect(std::string_view sign_or_word);
    Token expect(Token::Kind kind, std::string_view what);
    // ValueError "found …. `required` is required."
    [[noreturn]] void fail_here(std::string_view required) const;

    // Of a tensor's type, whose "<" is the token: the lengths behind it, each with its x, and on to
    // the element type. NotSupported for lengths that are not known, OverflowError for more
    // elements than can be counted.
    [[nodiscard]] Shape take_lengths();

    [[nodiscard]] int64_t take_integer();
    [[nodiscard]] std::string take_text();    // without quotes
    [[nodiscard]] std::string take_symbol();  // without @
    [[nodiscard]] std::string_view text() const { return text_; }

  private:
    void advance();
    void skip_blanks();
    [[nodiscard]] Place here() const { return {line_, at_ - line_start_ + 1}; }
    [[nodiscard]] char at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }

    std::string_view text_;
    size_t at_ = 0, line_ = 1, line_start_ = 0;
    Token token_;
};

// The characters that a quoted text stands for. ValueError for escapes that are none.
[[nodiscard]] std::string unquoted(const Token& token);

}  // namespace composit::mlir::syntax
