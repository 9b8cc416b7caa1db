#include "composit/backends/c_family/code_alone.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

using c_family::code_alone;

TEST(CodeAlone, DropsWhatCommentsSayAndKeepsLines) {
    EXPECT_EQ(code_alone("// made\n//\nint x = 1;  // model.py:7\n\nint y = 4 / 2;"),
              "\n\nint x = 1;\n\nint y = 4 / 2;");
    EXPECT_EQ(code_alone("x;  // the end"), "x;");
    EXPECT_EQ(code_alone("//"), "");
    EXPECT_EQ(code_alone(""), "");
    EXPECT_EQ(code_alone("a / b"), "a / b");
}

TEST(CodeAlone, KeepsLiterals) {
    EXPECT_EQ(code_alone(R"(s = "a//b"; // c)"), R"(s = "a//b";)");
    EXPECT_EQ(code_alone(R"(s = "a\"//b"; c = '"'; // d)"), R"(s = "a\"//b"; c = '"';)");
    EXPECT_EQ(code_alone(R"(c = '\''; // d)"), R"(c = '\'';)");
    EXPECT_EQ(code_alone("#error \"it's // so\"\nx; // y"), "#error \"it's // so\"\nx;");
}

}  // namespace
}  // namespace composit::tests
