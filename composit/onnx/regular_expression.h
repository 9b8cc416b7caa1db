// Regular expressions in RE2's syntax, matched in time that grows with pattern times text.
//
// Literals, `.`, classes ([a-z], [^…], \d \D \s \S \w \W), groups, `|`, the repetitions * + ? {m,n}
// and their lazy forms, and the assertions ^ $ \b \B. Texts are read as UTF-8.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::onnx {

class RegularExpression {
  public:
    // ValueError, with the byte, where the pattern is none; NotSupported for syntax that is not
    // listed above, and for patterns of more than 100,000 steps.
    explicit RegularExpression(std::string_view pattern);

    // Whether the whole text matches.
    [[nodiscard]] bool matches(std::string_view text) const;

    // A step of the program that the pattern becomes. For its parser.
    struct Step {
        enum class Kind { character, split, assertion, done };
        Kind kind = Kind::done;
        // Of characters: ranges, of which one is to hold the character; all others if negated.
        std::vector<std::pair<uint32_t, uint32_t>> ranges = {};
        bool is_negated = false;
        char assertion = 0;          // '^', '$', 'b', 'B'
        size_t next = 0, other = 0;  // of a split both
    };

  private:
    void follow(size_t step, const std::vector<uint32_t>& text, size_t at,
                std::vector<size_t>& reached, std::vector<char>& is_reached) const;

    std::vector<Step> steps_;
};

}  // namespace composit::onnx
