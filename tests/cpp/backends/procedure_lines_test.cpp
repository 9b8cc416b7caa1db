// Printed functions in as few lines as a person would take.
#include "composit/backends/c_family/procedure_lines.h"

#include "composit/backends/c_family/line_breaks.h"
#include "composit/backends/c_family/procedure_text.h"

#include <gtest/gtest.h>

namespace composit::tests {
namespace {

using c_family::PrintedLine;
using Lines = std::vector<PrintedLine>;

std::string text_of(const Lines& lines) {
    return c_family::printed(c_family::gathered(lines, false), "k.py");
}

TEST(ProcedureLines, DeclarationsOfOneLineOfTheSourceStandTogether) {
    EXPECT_EQ(text_of({{0, "const double a = x;", 3},
                       {0, "const double b = y;", 3},
                       {0, "double c = 0.0;", 3},
                       {0, "const double d = a;", 4}}),
              "double a = x, b = y, c = 0.0;  // k.py:3\n"
              "const double d = a;  // k.py:4\n");
    EXPECT_EQ(text_of({{0, "const double a = x;", 3}, {0, "const double b = y;", 3}}),
              "const double a = x, b = y;  // k.py:3\n");
}

std::string derived(const Lines& lines) {
    return c_family::printed(c_family::gathered(lines, true), "k.py");
}

TEST(ProcedureLines, DerivativesDeclareTogetherWhatStandsTogether) {
    EXPECT_EQ(derived({{0, "const double a = x;", 3}, {0, "const double b = a * a;", 4}}),
              "const double a = x, b = a * a;  // k.py:3\n");
    // What is stored as well stays alone.
    EXPECT_EQ(derived({{0, "const double a = y[i] = x;", 3}, {0, "const double b = a;", 4}}),
              "const double a = y[i] = x;  // k.py:3\nconst double b = a;  // k.py:4\n");
}

TEST(ProcedureLines, DerivativesDeclareZerosWithEarlierOnes) {
    EXPECT_EQ(derived({{0, "double a = 0.0;", 3},
                       {0, "f(a);", 3},
                       {0, "double b = 0.0;", 4},
                       {0, "std::vector<double> x(n);", 4},
                       {0, "f(b);", 4},
                       {0, "std::vector<double> y(n * n);", 4},
                       {0, "std::vector<double> z(m), w(x, x + n);", 4}}),
              "double a = 0.0, b = 0.0;  // k.py:3\nf(a);\n"
              "std::vector<double> x(n), y(n * n);  // k.py:4\nf(b);\n"
              "std::vector<double> z(m), w(x, x + n);\n");
    // Not with those of another block.
    EXPECT_EQ(derived({{0, "if (c) {", 3},
                       {1, "double a = 0.0;", 3},
                       {1, "f(a);", 3},
                       {0, "} else {", 3},
                       {1, "double b = 0.0;", 3},
                       {1, "f(b);", 3},
                       {0, "}"}}),
              "if (c) {  // k.py:3\n    double a = 0.0;\n    f(a);\n} else {\n"
              "    double b = 0.0;\n    f(b);\n}\n");
}

TEST(ProcedureLines, NeighbouringElementsAreSetAtOnce) {
    EXPECT_EQ(text_of({{0, "x[0] = a;", 3}, {0, "x[1] = b;", 3}, {0, "x[2] = c;", 3}}),
              "set_elements(&x[0], {a, b, c});  // k.py:3\n");
    EXPECT_EQ(
        text_of(
            {{0, "x[i * 3 + 2] += a;", 3}, {0, "x[i * 3 + 1] += b;", 3}, {0, "x[i * 3] += c;", 3}}),
        "add_elements(&x[i * 3], {c, b, a});  // k.py:3\n");
    // What reads or empties an element before, and other elements, stay.
    for (const char* const last : {"x[2] = x[0];", "x[3] = c;", "x[i] = c;", "x[1] = c;"})
        EXPECT_EQ(text_of({{0, "x[0] = a;", 3}, {0, "x[1] = b;", 3}, {0, last, 3}}),
                  std::string("x[0] = a;  // k.py:3\nx[1] = b;\n") + last + "\n");
    EXPECT_EQ(text_of({{0, "x[2] = taken(y[0]);", 3}, {0, "x[1] = b;", 3}, {0, "x[0] = c;", 3}}),
              "x[2] = taken(y[0]);  // k.py:3\nx[1] = b;\nx[0] = c;\n");
}

TEST(ProcedureLines, AnIndexStandsInTheOneStatementThatReadsIt) {
    const PrintedLine index{0, "const int64_t s = checked_index(i, n);", 3};
    EXPECT_EQ(derived({index, {0, "x[s] += 1.0;", 3}}),
              "x[checked_index(i, n)] += 1.0;  // k.py:3\n");
    // Where it is read twice, later, in a loop, or perhaps not at all, it stays.
    const std::string before = "const int64_t s = checked_index(i, n);  // k.py:3\n";
    EXPECT_EQ(derived({index, {0, "x[s] += y[s];", 3}}), before + "x[s] += y[s];\n");
    EXPECT_EQ(derived({index, {0, "x[s] += 1.0;", 3}, {0, "f(s);", 3}}),
              before + "x[s] += 1.0;\nf(s);\n");
    EXPECT_EQ(derived({index, {0, "for (; k < n; ++k) {", 3}, {1, "f(s);", 3}, {0, "}"}}),
              before + "for (; k < n; ++k) f(s);\n");
    EXPECT_EQ(derived({index, {0, "y += c ? x[s] : 0.0;", 3}}), before + "y += c ? x[s] : 0.0;\n");
    // Lines of the source stay apart in what somebody wrote.
    EXPECT_EQ(text_of({index, {0, "x[s] += 1.0;", 4}}), before + "x[s] += 1.0;  // k.py:4\n");
}

TEST(ProcedureLines, WhatIsStoredIsAddedInOne) {
    const PrintedLine stored{0, "const double v = x[i] = f(y);", 3};
    EXPECT_EQ(derived({stored, {0, "s -= v;", 3}}), "s -= (x[i] = f(y));  // k.py:3\n");
    EXPECT_EQ(derived({stored, {0, "add_in_order(s, v);", 3}}),
              "add_in_order(s, x[i] = f(y));  // k.py:3\n");
    EXPECT_EQ(derived({stored, {0, "s += rounded(v);", 3}}),
              "s += rounded(x[i] = f(y));  // k.py:3\n");
    const std::string before = "const double v = x[i] = f(y);  // k.py:3\n";
    for (const char* const next : {"s -= 2.0 * v;", "x[j] += v;", "s += v * v;"})
        EXPECT_EQ(derived({stored, {0, next, 3}}), before + next + "\n");
    EXPECT_EQ(derived({stored, {0, "s -= v;", 3}, {0, "f(v);", 3}}), before + "s -= v;\nf(v);\n");
}

TEST(ProcedureLines, WhatIsLoggedIsOverwrittenInOne) {
    const PrintedLine log{0, "x_log.push_back(x[i]);", 3};
    EXPECT_EQ(derived({log, {0, "x[i] += a;", 3}}), "logged(x_log, x[i]) += a;  // k.py:3\n");
    EXPECT_EQ(derived({log, {0, "const double b = a + x[i];", 3}, {0, "x[i] = b * b;", 3}}),
              "const double b = a + x[i];  // k.py:3\nlogged(x_log, x[i]) = b * b;\n");
    const std::string before = "x_log.push_back(x[i]);  // k.py:3\n";
    for (const char* const next : {"x[j] = a;", "f(x[i]);", "const double b = take_last(y);"})
        EXPECT_EQ(derived({log, {0, next, 3}, {0, "x[i] = b * b;", 3}}),
                  before + next + "\nx[i] = b * b;\n");
    EXPECT_EQ(derived({log, {0, "x[i] = take_last(x_log);", 3}}),
              before + "x[i] = take_last(x_log);\n");
}

TEST(ProcedureLines, DerivativesFillWithEarlierArrays) {
    const Lines lines = {
        {0, "fill_zeros(x, n);", 3}, {0, "f(x, n);", 3}, {0, "fill_zeros(y, m);", 4}};
    EXPECT_EQ(derived(lines), "fill_zeros(x, n, y, m);  // k.py:3\nf(x, n);\n");
    for (const char* const between : {"f(y);", "const int64_t m = n + 1;"})
        EXPECT_EQ(derived({lines[0], {0, between, 3}, lines[2], {0, "g(m);", 4}}),
                  std::string("fill_zeros(x, n);  // k.py:3\n") + between +
                      "\nfill_zeros(y, m);  // k.py:4\ng(m);\n");
}

TEST(ProcedureLines, ConstantsStandWhereTheyAreReadOnce) {
    EXPECT_EQ(derived({{0, "const double a = b < c ? 0.0 : b;", 3}, {0, "n += a;", 3}}),
              "n += b < c ? 0.0 : b;  // k.py:3\n");
    EXPECT_EQ(derived({{0, "const double a = b + c;", 3}, {0, "n += a * d;", 3}}),
              "n += (b + c) * d;  // k.py:3\n");
    // What is taken in between may be what it reads; another reads it again.
    const Lines taken = {{0, "const double a = x[i] * c;", 3}, {0, "n += taken(x[i]) + a;", 3}};
    EXPECT_EQ(derived(taken), "const double a = x[i] * c;  // k.py:3\nn += taken(x[i]) + a;\n");
    const Lines twice = {{0, "const double a = b + c;", 3}, {0, "n += a * a;", 3}};
    EXPECT_EQ(derived(twice), "const double a = b + c;  // k.py:3\nn += a * a;\n");
}

TEST(ProcedureLines, LogsAreTheirOwnCounts) {
    const Lines lines = {{0, "int64_t trips = 0;", 1},
                         {0, "std::vector<double> x_log;", 1},
                         {0, "while (x < n) {", 1},
                         {1, "trips += 1;", 1},
                         {1, "x_log.push_back(x);", 1},
                         {1, "f(x);", 1},
                         {0, "}"},
                         {0, "for (int64_t trip = trips - 1; trip >= 0; --trip) {", 1},
                         {1, "x = take_last(x_log);", 1},
                         {1, "g(x);", 1},
                         {0, "}"}};
    const std::string made = derived(lines);
    EXPECT_NE(made.find("while (!x_log.empty()) {"), std::string::npos) << made;
    EXPECT_EQ(made.find("trips"), std::string::npos) << made;
    Lines broken = lines;  // counted, but not logged
    broken.insert(broken.begin() + 4, {1, "if (x < 0) break;", 1});
    EXPECT_NE(derived(broken).find("trips += 1;"), std::string::npos);
}

TEST(ProcedureLines, LoopsOfLoopsHaveNoBraces) {
    EXPECT_EQ(text_of({{0, "for (; i < n; ++i) {", 1},
                       {1, "for (; j < m; ++j) {", 2},
                       {2, "f(i);", 3},
                       {2, "g(j);", 3},
                       {1, "}"},
                       {0, "}"}}),
              "for (; i < n; ++i)  // k.py:1\n    for (; j < m; ++j) {  // k.py:2\n"
              "        f(i);  // k.py:3\n        g(j);\n    }\n");
    // An `else` within might be of the branch around.
    const Lines chosen = {{0, "if (c) {", 1}, {1, "for (; j < m; ++j) {", 1},
                          {2, "if (d) {", 1}, {3, "f(j);", 1},
                          {2, "} else {", 1}, {3, "g(j);", 1},
                          {2, "}", 1},        {1, "}", 1},
                          {0, "}", 1}};
    EXPECT_TRUE(text_of(chosen).ends_with("}\n}\n")) << text_of(chosen);
}

TEST(ProcedureLines, NoLineBecomesTooLong) {
    const std::string half(60, 'x');
    EXPECT_EQ(text_of({{0, "double a = " + half + ";", 0}, {0, "double b = " + half + ";", 0}}),
              "double a = " + half + ";\ndouble b = " + half + ";\n");
}

TEST(ProcedureLines, LongStatementsAreBrokenBeforeLooseOperators) {
    const std::string a(40, 'a'), b(40, 'b'), c(40, 'c');
    EXPECT_EQ(text_of({{1, "x = " + a + " * " + b + " + " + c + ";", 3}}),
              "    // k.py:3\n    x = " + a + " * " + b + "\n            + " + c + ";\n");
    EXPECT_EQ(text_of({{1, "f(" + a + ", g(" + b + " + " + c + "));", 3}}),
              "    // k.py:3\n    f(" + a + ",\n            g(" + b + " + " + c + "));\n");
}

TEST(ProcedureLines, LinesWithoutAPlaceToBreakStayLong) {
    const std::string word(110, 'a'), code = "x[" + word + " + 1] = y;\n// " + word + " + " + word;
    EXPECT_EQ(c_family::in_columns(code), code);
}

std::string named(const Lines& lines) {
    c_family::TakenNames taken({"t"});
    return c_family::printed(c_family::gathered(lines, true, false, {"a"}, {}, &taken), "");
}

TEST(ProcedureLines, PartsThatWideLinesHaveTwiceGetNames) {
    const std::string x(34, 'x'), y(34, 'y');
    const auto wide = [&](const std::string& part) {
        return "f(scaled(" + part + ", " + x + "), scaled(" + part + ", " + y + "));";
    };
    EXPECT_EQ(named({{0, "const double a = g();", 3}, {0, wide("1.0 - a"), 4}}),
              "const double a = g(), t = 1.0 - a;\n" + wide("t") + "\n");
    // Where no line becomes less, what may change, and integers stay.
    const std::string short_line = "f(1.0 - a, 1.0 - a);\n";
    EXPECT_EQ(named({{0, "const double a = g();", 3}, {0, "f(1.0 - a, 1.0 - a);", 4}}),
              "const double a = g();\n" + short_line);
    for (const char* declared : {"double a = g();", "const int64_t a = g();"}) {
        const std::string made = named({{0, declared, 3}, {0, wide("1.0 - a"), 4}});
        EXPECT_NE(made.find("scaled(1.0 - a, " + x), std::string::npos) << made;
        EXPECT_NE(made.find("scaled(1.0 - a, " + y), std::string::npos) << made;
    }
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

TEST(ProcedureLines, PlacesOfElementsAreWrittenAsByHand) {
    using c_family::flat_place;
    EXPECT_EQ(flat_place({"i"}, {""}), "i");
    EXPECT_EQ(flat_place({"0", "0"}, {"", "n"}), "0");
    EXPECT_EQ(flat_place({"i", "j + 1"}, {"", "n"}), "i * n + j + 1");
    EXPECT_EQ(flat_place({"i - 1", "k", "j"}, {"", "m", "n + 1"}),
              "((i - 1) * m + k) * (n + 1) + j");
    EXPECT_EQ(flat_place({"0", "k", "j"}, {"", "m", "n"}), "k * n + j");
    EXPECT_EQ(flat_place({"1", "j"}, {"", "n"}), "n + j");
    // Extents that are numbers are multiplied, and what is a number is one.
    EXPECT_EQ(flat_place({"i", "1", "r"}, {"", "4", "4"}), "i * 16 + 4 + r");
    EXPECT_EQ(flat_place({"i", "2", "1"}, {"", "3", "4"}), "i * 12 + 9");
    EXPECT_EQ(flat_place({"i + 1", "j"}, {"", "3"}), "(i + 1) * 3 + j");
    EXPECT_EQ(flat_place({"k", "2", "j"}, {"", "4", "d"}), "(k * 4 + 2) * d + j");
    EXPECT_EQ(flat_place({"i", "j"}, {"", "9999999999"}), "i * 9999999999 + j");
}

}  // namespace
}  // namespace composit::tests
