// Makes identifiers and finds those that a piece of code takes.
#include "composit/backends/c_family/kernel_names.h"

#include "composit/backends/c_family/language_words.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/ascii.h"
#include "composit/base/text.h"

#include <algorithm>
#include <set>

namespace composit::c_family {
namespace {

// Words that files of kernels use for themselves, beside those of the language.
bool is_of_files(const std::string& word) {
    static const std::set<std::string> words = {
        "begin",  "end",     "int16_t",  "int32_t",  "int64_t",  "int8_t", "scratch",
        "size_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "std"};
    return words.contains(word);
}

// Macros of C's headers, which mean something else wherever they stand: NULL, INT_MAX, errno.
bool is_macro(const std::string& word) {
    const bool is_small = std::any_of(word.begin(), word.end(), ascii::is_small);
    if (word.front() == '_') return false;
    TakenNames none;
    return is_small ? is_small_macro(word) : unique_name(word, none) != word;
}

// The end of the comment, string or character that begins at `at`; `at` itself when none does.
size_t skip_quiet_text(std::string_view code, size_t at) {
    auto after = [&](std::string_view mark, size_t from) {
        size_t place = code.find(mark, from);
        return place == std::string_view::npos ? code.size() : place + mark.size();
    };
    if (code.substr(at, 2) == "//") return after("\n", at);
    if (code.substr(at, 2) == "/*") return after("*/", at + 2);
    if (code[at] != '"' && code[at] != '\'') return at;
    size_t end = at + 1;
    while (end < code.size() && code[end] != code[at]) end += code[end] == '\\' ? 2 : 1;
    return end + 1;
}

}  // namespace

std::string identifier(std::string_view wish) {
    constexpr size_t longest = 60;
    std::string result;
    for (size_t i = 0; i < wish.size() && result.size() < longest + 2; ++i) {
        const char c = ascii::is_of_word(wish[i]) ? wish[i] : '_';
        if (c != '_' || (!result.empty() && result.back() != '_')) result += c;
    }
    if (result.ends_with('_')) result.pop_back();
    if (result.size() > longest) result.resize(longest);
    if (result.empty()) return "x";
    return ascii::is_digit(result[0]) ? "_" + result : result;
}

std::string Names::claim(std::string_view wish) {
    const std::string valid = identifier(wish), base = is_macro(valid) ? valid + "_1" : valid;
    auto is_free = [&](const std::string& name) {
        return !taken_.contains(name) && !is_keyword(name) && !is_of_files(name);
    };
    std::string name = base;
    if (!is_free(name)) name = base + "_";
    for (int number = 2; !is_free(name); ++number) name = text(base, "_", number);
    taken_.insert(name);
    return name;
}

std::set<std::string> declared_names(std::string_view code) {
    std::set<std::string> names;
    int depth = 0;  // of braces and parentheses
    for (size_t at = 0; at < code.size();) {
        size_t next = skip_quiet_text(code, at);
        if (next != at) {
            at = next;
            continue;
        }
        char c = code[at];
        if (c == '{' || c == '(') ++depth;
        if (c == '}' || c == ')') --depth;
        if (!ascii::is_of_word(c)) {
            ++at;
            continue;
        }
        while (next < code.size() && ascii::is_of_word(code[next])) ++next;
        std::string word(code.substr(at, next - at));
        bool is_number = ascii::is_digit(word[0]);
        if (!is_number && (depth == 0 || word.rfind("COMPOSIT_", 0) == 0)) names.insert(word);
        at = next;
    }
    return names;
}

}  // namespace composit::c_family
