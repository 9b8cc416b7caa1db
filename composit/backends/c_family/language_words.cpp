// Words that no identifier may be, and letters.
#include "composit/backends/c_family/language_words.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <unordered_set>

namespace composit::c_family {
namespace {

// From U+03B1 on; the capitals stand 32 places before.
constexpr std::array<std::string_view, 25> greek = {
    "alpha", "beta",   "gamma",   "delta", "epsilon", "zeta",    "eta",  "theta", "iota",
    "kappa", "lambda", "mu",      "nu",    "xi",      "omicron", "pi",   "rho",   "final_sigma",
    "sigma", "tau",    "upsilon", "phi",   "chi",     "psi",     "omega"};

std::string letter(uint32_t code) {
    const bool is_capital = code >= 0x391 && code <= 0x3a9;
    const uint32_t place = code - (is_capital ? 0x391 : 0x3b1);
    if (place < greek.size()) {
        std::string name(greek[place]);
        if (is_capital) name[0] = static_cast<char>(name[0] - 'a' + 'A');
        return name;
    }
    char text[16];
    std::snprintf(text, sizeof text, "u%04x", static_cast<unsigned>(code));
    return text;
}

}  // namespace

bool is_keyword(std::string_view word) {
    static const std::unordered_set<std::string_view> words = {
        "alignas",     "alignof",      "and",       "and_eq",
        "asm",         "auto",         "bitand",    "bitor",
        "bool",        "break",        "case",      "catch",
        "char",        "char8_t",      "char16_t",  "char32_t",
        "class",       "co_await",     "co_return", "co_yield",
        "compl",       "concept",      "const",     "const_cast",
        "consteval",   "constexpr",    "constinit", "continue",
        "decltype",    "default",      "delete",    "do",
        "double",      "dynamic_cast", "else",      "enum",
        "explicit",    "export",       "extern",    "false",
        "float",       "for",          "friend",    "goto",
        "if",          "inline",       "int",       "long",
        "main",        "mutable",      "namespace", "new",
        "noexcept",    "not",          "not_eq",    "nullptr",
        "operator",    "or",           "or_eq",     "private",
        "protected",   "public",       "register",  "reinterpret_cast",
        "requires",    "restrict",     "return",    "short",
        "signed",      "sizeof",       "static",    "static_assert",
        "static_cast", "struct",       "switch",    "template",
        "this",        "thread_local", "throw",     "true",
        "try",         "typedef",      "typeid",    "typename",
        "union",       "unsigned",     "using",     "virtual",
        "void",        "volatile",     "wchar_t",   "while",
        "xor",         "xor_eq"};
    return words.contains(word);
}

bool is_small_macro(std::string_view word) {
    static const std::unordered_set<std::string_view> words = {"assert", "errno", "i386",   "linux",
                                                               "stderr", "stdin", "stdout", "unix"};
    return words.contains(word);
}

std::string in_ascii(std::string_view name) {
    std::string out;
    for (size_t i = 0; i < name.size(); ++i) {
        const auto first = static_cast<unsigned char>(name[i]);
        const size_t more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        if (first < 0x80 || more == 0 || i + more >= name.size()) {
            out += name[i];
            continue;
        }
        uint32_t code = first & (0x3fu >> more);
        for (size_t k = 1; k <= more; ++k)
            code = code << 6 | (static_cast<unsigned char>(name[i + k]) & 0x3fu);
        out += letter(code);
        i += more;
    }
    return out;
}

}  // namespace composit::c_family
