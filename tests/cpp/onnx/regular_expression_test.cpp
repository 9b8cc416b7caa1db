// Regular expressions, and patterns that take exponential time elsewhere.
#include "composit/onnx/regular_expression.h"

#include "composit/base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace composit::onnx {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
    return RegularExpression(pattern).matches(text);
}

TEST(RegularExpression, matches_whole_texts) {
    EXPECT_TRUE(matches("abc", "abc"));
    EXPECT_FALSE(matches("abc", "abcd"));
    EXPECT_FALSE(matches("abc", "xabc"));
    EXPECT_TRUE(matches("", ""));
    EXPECT_TRUE(matches("a|bc|", "bc"));
    EXPECT_TRUE(matches("a|bc|", ""));
    EXPECT_TRUE(matches("a*b+c?", "bb"));
    EXPECT_FALSE(matches("a*b+c?", "aac"));
    EXPECT_TRUE(matches("(ab){2,3}", "ababab"));
    EXPECT_FALSE(matches("(ab){2,3}", "ab"));
    EXPECT_TRUE(matches("x{2}", "xx"));
    EXPECT_TRUE(matches("x{2,}", "xxxxx"));
    EXPECT_TRUE(matches("(?:a|b)+?c", "abac"));
    EXPECT_TRUE(matches("a{,2}", "a{,2}"));
}

TEST(RegularExpression, knows_classes_escapes_and_assertions) {
    EXPECT_TRUE(matches("[a-c_]+[^0-9]", "ab_x"));
    EXPECT_FALSE(matches("[^0-9]", "5"));
    EXPECT_TRUE(matches(R"([\w.-]+\.\d\D\s\S\W)", "a-b.1x y!"));
    EXPECT_TRUE(matches(R"([]a]+[a\]-])", "]a-"));
    EXPECT_TRUE(matches(R"(\bword\b)", "word"));
    EXPECT_FALSE(matches(R"(wo\brd)", "word"));
    EXPECT_TRUE(matches("^a$", "a"));
    EXPECT_TRUE(matches(".", "é"));
    EXPECT_FALSE(matches(".", "\n"));
    EXPECT_TRUE(matches("[а-я]+", "мир"));
}

TEST(RegularExpression, takes_no_exponential_time_and_bounds_its_steps) {
    EXPECT_FALSE(matches("(a*)*b", std::string(5000, 'a')));
    EXPECT_FALSE(matches("(a|a)*b", std::string(5000, 'a')));
    EXPECT_THROW(RegularExpression("((a{1000}){1000}){1000}"), NotSupported);
    EXPECT_THROW(RegularExpression("((){1000}){1000}"), NotSupported);
    EXPECT_THROW(RegularExpression(std::string(100000, '(')), Error);
}

TEST(RegularExpression, refuses_what_is_no_pattern) {
    for (const char* pattern : {"(", ")", "a**", "*", "[a", "\\", "a{3,2}", "[z-a]"})
        EXPECT_THROW(RegularExpression{pattern}, ValueError) << pattern;
    for (const char* pattern : {"(?i)a", "(?P<n>a)", "[[:alpha:]]", "\\pL", "a{1001}"})
        EXPECT_THROW(RegularExpression{pattern}, NotSupported) << pattern;
}

}  // namespace
}  // namespace composit::onnx
