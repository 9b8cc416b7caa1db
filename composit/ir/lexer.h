// Splits the text of a graph or scalar function into tokens that know where they stand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace composit::ir {

enum class TokenKind : uint8_t { word, number, text, sign, end };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string_view spelling;  // as written
    size_t line = 1, column = 1;
};

class Lexer {
  public:
    // Throws ValueError on characters that begin no token and on texts that do not end.
    explicit Lexer(std::string_view text) : text_(text) { advance(); }

    const Token& token() const { return token_; }
    bool is(std::string_view sign_or_word) const;
    Token take();  // the token, and on to the next
    // Takes it when it is there.
    bool accept(std::string_view sign_or_word);
    void expect(std::string_view sign_or_word, std::string_view where);

    std::string take_text(std::string_view what);  // a quoted text, without quotes
    std::string take_word_or_text(std::string_view what);
    int64_t take_integer(std::string_view what);

    // ValueError "parse: line …, column …: found …. `required` is required."
    [[noreturn]] void fail_here(std::string_view required) const;
    [[noreturn]] static void fail_at(const Token& token, std::string_view message);

  private:
    void advance();
    void skip_blanks();
    std::string unescaped(const Token& token) const;

    std::string_view text_;
    size_t at_ = 0, line_ = 1, line_start_ = 0;
    Token token_;
};

}  // namespace composit::ir
