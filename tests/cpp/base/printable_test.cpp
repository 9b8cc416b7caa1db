// Texts of others in comments, strings, labels and markup.
#include "composit/base/printable.h"

#include "composit/base/comments.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

using std::string_literals::operator""s;

TEST(Printable, KeepsLettersOfAllLanguages) {
    for (const char* text : {"", "a b", "naïve α ß 変数 \U0001f600", "\u0645\u06cc\u200c\u062e"})
        EXPECT_EQ(printable(text), text);
}

TEST(Printable, ReplacesWhatEndsLinesControlsOrTurns) {
    EXPECT_EQ(printable("a\rb\nc\td\ve\ff\x1bg\x7fh"), "a b c d e f g h");
    EXPECT_EQ(printable("a\0b"s), "a b");
    EXPECT_EQ(printable("a\u0085b\u009bc\u00add"), "a b c d");
    EXPECT_EQ(printable("a\u2028b\u2029c\u202ed\u2066e\u200ff\u061cg"), "a b c d e f g");
    EXPECT_EQ(printable("a\ufeffb\ufffec\uffffd\U000e0041e"), "a b c d e");
}

TEST(Printable, ReplacesBytesThatAreNoCharacters) {
    EXPECT_EQ(printable("a\xff\x80z"), "a  z");
    EXPECT_EQ(printable("a\xc0\x8dz"), "a  z");            // \r in two bytes
    EXPECT_EQ(printable("a\xe0\x80\x8dz"), "a   z");       // in three
    EXPECT_EQ(printable("a\xed\xa0\x80z"), "a   z");       // half of a pair
    EXPECT_EQ(printable("a\xf4\x90\x80\x80z"), "a    z");  // beyond the last character
    EXPECT_EQ(printable("a\xe2\x80"), "a  ");              // cut off
}

TEST(Printable, InMarkup) {
    EXPECT_EQ(in_markup("<a b=\"c\" d='&lt;'>\n"),
              "&lt;a b=&quot;c&quot; d=&#x27;&amp;lt;&#x27;&gt; ");
}

TEST(Printable, InLabelsOfGraphviz) {
    EXPECT_EQ(in_label("a\\N\"&#8238;\r\nb"), "a\\\\N\\\"&amp;#8238; \\nb");
    EXPECT_EQ(in_label("\\"), "\\\\");
    EXPECT_EQ(in_label("a\n"), "a\\n");
}

TEST(Comments, EndWithTheirLine) {
    EXPECT_EQ(comment_line("a\rint b;"), "// a int b;\n");
    EXPECT_EQ(comment_line("a */ b **/ c"), "// a * / b ** / c\n");
    EXPECT_EQ(comment_line("a\?\?/ \\"), "// a\?\?\n");
    for (const char* end : {"\\", "\\ \t", " \\ \\\\ ", "\u2028\\"})
        EXPECT_EQ(comment_line(std::string("a") + end), "// a\n") << end;
    for (const char* none : {"", " ", "\\", "\r\n", "\u202e"})
        EXPECT_EQ(comment_line(none), "//\n");
    EXPECT_EQ(comment_of("first\n\nthird\\\n"), "// first\n//\n// third\n");
    EXPECT_EQ(comment_of(""), "");
}

TEST(Comments, OfWordsEndTheirLinesBeforeBackslashes) {
    std::string words;
    for (int i = 0; i < 60; ++i) words += "word\\ ";
    const std::string comment = comment_of_words(words);
    EXPECT_EQ(comment.find("\\\n"), std::string::npos);
    for (size_t at = 0; at < comment.size(); at = comment.find('\n', at) + 1) {
        EXPECT_EQ(comment.substr(at, 2), "//");
        EXPECT_LE(comment.find('\n', at) - at, 100u);
    }
    EXPECT_EQ(comment_of_words("a b\rc"), "// a b c\n");
    EXPECT_EQ(comment_of_words(""), "//\n");
}

TEST(Comments, StringLiteralsAreAscii) {
    EXPECT_EQ(string_literal("plain"), "\"plain\"");
    EXPECT_EQ(string_literal("a\"b\\c\n\r1\0002\?\?/"s), "\"a\\\"b\\\\c\\n\\0151\\0002\\?\\?/\"");
    EXPECT_EQ(string_literal("é"), "\"\\303\\251\"");
}

}  // namespace
}  // namespace composit::tests
