// The text of a program: lines of words, of which some have lines of their own behind them.
#pragma once

#include "composit/base/error.h"

#include <sstream>
#include <string>
#include <vector>

namespace composit::tests {

struct Line {
    std::vector<std::string> words;
    std::vector<Line> block;  // lines that are indented further
};

// The lines from `at` on whose indentation is `depth` times four spaces, with their blocks.
inline std::vector<Line> parse_block(const std::vector<std::string>& lines, size_t& at,
                                     size_t depth) {
    std::vector<Line> found;
    while (at < lines.size()) {
        const size_t spaces = lines[at].find_first_not_of(' ');
        user_check(spaces != std::string::npos && spaces % 4 == 0 && spaces <= 4 * depth,
                   "indentation of '", lines[at], "'");
        if (spaces < 4 * depth) break;
        Line line;
        std::istringstream words(lines[at++]);
        for (std::string word; words >> word;) line.words.push_back(word);
        const std::string& first = line.words[0];
        if (first == "loop" || first == "if" || first == "while")
            line.block = parse_block(lines, at, depth + 1);
        found.push_back(std::move(line));
    }
    return found;
}

// What stands between separators: "1,,3" is {"1", "", "3"}, and "" is nothing.
inline std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::string part;
    if (text.empty()) return parts;
    for (const char letter : text) {
        if (letter == separator) {
            parts.push_back(std::move(part));
            part.clear();
        } else {
            part += letter;
        }
    }
    parts.push_back(std::move(part));
    return parts;
}

// The words of one line, from the second on, one after the other.
class Words {
  public:
    explicit Words(const Line& line) : words_(line.words) {}
    const std::string& next() {
        user_check(at_ < words_.size(), "the line ends after '", words_.back(), "'");
        return words_[at_++];
    }
    bool has_more() const { return at_ < words_.size(); }

  private:
    const std::vector<std::string>& words_;
    size_t at_ = 1;
};

}  // namespace composit::tests
