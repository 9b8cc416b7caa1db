// Texts that were valid, changed a little: what a stranger may send.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace composit::tests {

class Mutator {
  public:
    Mutator(std::vector<std::string> seeds, uint64_t seed)
        : seeds_(std::move(seeds)), random_(seed) {
        for (const std::string& text : seeds_)
            for (const std::string& token : tokens_of(text))
                if (token.find_first_not_of(" \n") != std::string::npos) pool_.push_back(token);
    }

    // A seed with one to four changes.
    std::string next() {
        std::vector<std::string> tokens = tokens_of(seeds_[below(seeds_.size())]);
        for (size_t changes = 1 + below(4); changes > 0 && !tokens.empty(); --changes)
            change(tokens);
        std::string text;
        for (const std::string& token : tokens) text += token;
        return text;
    }

    size_t below(size_t count) { return static_cast<size_t>(random_() % count); }

  private:
    static bool is_part(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.' || c == '-';
    }

    // Words and numbers, quoted texts, and single characters.
    static std::vector<std::string> tokens_of(const std::string& text) {
        std::vector<std::string> tokens;
        for (size_t at = 0; at < text.size();) {
            size_t end = at + 1;
            if (is_part(text[at]))
                while (end < text.size() && is_part(text[end])) ++end;
            if (text[at] == '"') end = std::min(text.find('"', end), text.size() - 1) + 1;
            tokens.push_back(text.substr(at, end - at));
            at = end;
        }
        return tokens;
    }

    static bool is_number(const std::string& token) {
        return token.find_first_not_of("0123456789.-") == std::string::npos;
    }

    std::string number() {
        constexpr const char* edges[] = {"0",
                                         "1",
                                         "2",
                                         "3",
                                         "4",
                                         "5",
                                         "7",
                                         "-1",
                                         "-2",
                                         "8",
                                         "16",
                                         "63",
                                         "64",
                                         "65",
                                         "1000",
                                         "2147483647",
                                         "2147483648",
                                         "-2147483648",
                                         "288230376151711744",
                                         "4611686018427387904",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551615",
                                         "99999999999999999999",
                                         "0.5",
                                         "1e400",
                                         "nan",
                                         "-inf"};
        return edges[below(std::size(edges))];
    }

    void change(std::vector<std::string>& tokens) {
        const size_t at = below(tokens.size()), other = below(tokens.size());
        const std::string old = tokens[at];
        switch (below(9)) {
            case 0: tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at)); break;
            case 1: tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at), old); break;
            case 2: std::swap(tokens[at], tokens[other]); break;
            case 3: tokens[at] = pool_[below(pool_.size())]; break;
            case 4: change_line(tokens, at); break;
            case 5:  // everywhere, so that types and attributes still agree
                if (is_number(old)) {
                    const std::string made = number();
                    for (std::string& token : tokens)
                        if (token == old) token = made;
                }
                break;
            case 6: tokens[at] = std::string(1, static_cast<char>(random_())); break;
            default:
                for (size_t i = at; i < tokens.size(); ++i)
                    if (is_number(tokens[i]) && tokens[i] != "-") {
                        tokens[i] = number();
                        break;
                    }
        }
    }

    // Removes the line from `at` on, or says it twice.
    void change_line(std::vector<std::string>& tokens, size_t at) {
        size_t end = at;
        while (end < tokens.size() && tokens[end] != "\n") ++end;
        const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(at),
                   last = tokens.begin() + static_cast<std::ptrdiff_t>(end);
        if (below(2) == 0) {
            tokens.erase(first, last);
        } else {
            const std::vector<std::string> line(first, last);
            tokens.insert(last, line.begin(), line.end());
        }
    }

    std::vector<std::string> seeds_, pool_;
    std::mt19937_64 random_;
};

}  // namespace composit::tests
