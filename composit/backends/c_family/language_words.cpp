// Words that no identifier may be.
#include "composit/backends/c_family/language_words.h"

#include <unordered_set>

namespace composit::c_family {

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

}  // namespace composit::c_family
