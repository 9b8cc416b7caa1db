// Printed functions in as few lines as a person would take.
#include "composit/backends/c_family/procedure_lines.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

using c_family::PrintedLine;
using Lines = std::vector<PrintedLine>;

std::string text_of(const Lines& lines) {
    return c_family::printed(c_family::gathered(lines), "k.py");
}

TEST(ProcedureLines, DeclarationsOfOneLineOfTheSourceStandTogether) {
    EXPECT_EQ(text_of({{0, "const double a = x;", 3},
                       {0, "const double b = y;", 3},
                       {0, "double c = 0.0;", 3},
                       {0, "const double d = a;", 4}}),
              "const double a = x, b = y;  // k.py:3\n"
              "double c = 0.0;\n"
              "const double d = a;  // k.py:4\n");
}

TEST(ProcedureLines, NoLineBecomesTooLong) {
    const std::string half(60, 'x');
    EXPECT_EQ(text_of({{0, "double a = " + half + ";", 0}, {0, "double b = " + half + ";", 0}}),
              "double a = " + half + ";\ndouble b = " + half + ";\n");
}

TEST(ProcedureLines, AssertionsStandTogetherWhereTheyAreComparisons) {
    EXPECT_EQ(text_of({{0, "assert(i >= 0);", 2}, {0, "assert(i < n);", 2}, {0, "f(x);", 2}}),
              "assert(i >= 0 && i < n);  // k.py:2\nf(x);\n");
    EXPECT_EQ(text_of({{0, "assert(a || b);", 0}, {0, "assert(i < n);", 0}}),
              "assert(a || b);\nassert(i < n);\n");
}

TEST(ProcedureLines, ASingleStatementHasNoBraces) {
    EXPECT_EQ(text_of({{0, "for (; i < n; ++i) {", 1},
                       {1, "for (; j < m; ++j) {", 2},
                       {2, "y[j] += x;", 3},
                       {1, "}"},
                       {0, "}"}}),
              "for (; i < n; ++i)  // k.py:1\n"
              "    for (; j < m; ++j)  // k.py:2\n"
              "        y[j] += x;  // k.py:3\n");
}

TEST(ProcedureLines, WhatOneLineOfTheSourceSaysStandsOnOne) {
    EXPECT_EQ(text_of({{0, "for (; i < n; ++i) {", 1}, {1, "y[i] += x;", 1}, {0, "}"}}),
              "for (; i < n; ++i) y[i] += x;  // k.py:1\n");
    EXPECT_EQ(text_of({{0, "if (x < 0.0) {", 1}, {1, "return 0.0;"}, {0, "}"}, {0, "f(x);", 2}}),
              "if (x < 0.0) return 0.0;  // k.py:1\nf(x);  // k.py:2\n");
    const std::string call = "f(" + std::string(80, 'x') + ");";
    EXPECT_EQ(text_of({{0, "if (x < 0.0 && y < 0) {"}, {1, call}, {0, "}"}}),
              "if (x < 0.0 && y < 0)\n    " + call + "\n");
}

TEST(ProcedureLines, BracesStayWhereAnElseOrADeclarationStands) {
    const Lines with_else = {
        {0, "if (a) {"}, {1, "x = 1;"}, {0, "} else {"}, {1, "x = 2;"}, {0, "}"}};
    EXPECT_EQ(text_of(with_else), "if (a) {\n    x = 1;\n} else {\n    x = 2;\n}\n");
    EXPECT_EQ(text_of({{0, "if (a) {"}, {1, "if (b) {"}, {2, "x = 1;"}, {1, "}"}, {0, "}"}}),
              "if (a) {\n    if (b) x = 1;\n}\n");
    EXPECT_EQ(text_of({{0, "for (;;) {"}, {1, "const double t = x;"}, {0, "}"}}),
              "for (;;) {\n    const double t = x;\n}\n");
    EXPECT_EQ(text_of({{0, "for (;;) {"}, {1, "f();"}, {1, "g();"}, {0, "}"}}),
              "for (;;) {\n    f();\n    g();\n}\n");
}

}  // namespace
}  // namespace composit::tests
