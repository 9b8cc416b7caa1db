// Which names texts mention, which jumps they hold, and how they are written.
#include "composit/knossos/syntax_text.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace composit::knossos {
namespace {

SyntaxRef part(Syntax made, std::initializer_list<Child> children = {}) {
    made.children = children;
    return std::make_shared<Syntax>(std::move(made));
}

SyntaxRef named(const char* name, bool is_stored = false) {
    return part({.form = Form::name, .name = name, .is_stored = is_stored});
}

// for TARGET in x: BODY
SyntaxRef loop_over(const char* target, const SyntaxRef& body) {
    return part(
        {.form = Form::loop, .is_statement = true},
        {{named(target, true), Field::target}, {named("x"), Field::iterated}, {body, Field::body}});
}

TEST(KnossosSyntax, NamesThatAreReadAssignedAndChanged) {
    // y = x; z[i] = y; v.append(y)
    const SyntaxRef element =
        part({.form = Form::subscript, .is_stored = true}, {named("z"), named("i")});
    const SyntaxRef appending = part({.form = Form::attribute, .name = "append"}, {named("v")});
    const SyntaxRef all = part({}, {named("y", true), named("x"), element, appending});
    const Mentioned found = mentioned(*all);
    EXPECT_EQ(found.names, (std::set<std::string>{"i", "v", "x", "y", "z"}));
    EXPECT_EQ(found.assigned, (std::set<std::string>{"y"}));
    EXPECT_EQ(found.elements, (std::set<std::string>{"v", "z"}));
    EXPECT_EQ(found.appended, (std::set<std::string>{"v"}));
    EXPECT_EQ(counts_of_names(*all, true), (std::map<std::string, int>{{"y", 1}}));
}

TEST(KnossosSyntax, FunctionsInsideHaveNamesOfTheirOwn) {
    const SyntaxRef inner = part({.form = Form::function, .name = "f"}, {named("y", true)});
    EXPECT_EQ(mentioned(*inner).assigned, (std::set<std::string>{"f"}));
    EXPECT_EQ(mentioned(*inner).names, (std::set<std::string>{"y"}));
}

TEST(KnossosSyntax, NamesOutsideLoopsOfTheirOwn) {
    const SyntaxRef first = loop_over("i", named("y", true)), second = loop_over("i", named("i"));
    const SyntaxRef function = part({.form = Form::function}, {first, second, named("y")});
    EXPECT_FALSE(is_used_outside(*function, *first, "i"));
    EXPECT_TRUE(is_used_outside(*function, *first, "y"));
    const SyntaxRef alone = part({.form = Form::function}, {first});
    EXPECT_FALSE(is_used_outside(*alone, *first, "y"));
}

TEST(KnossosSyntax, JumpsOfTheirOwnLoop) {
    const SyntaxRef stop = part({.form = Form::stop, .is_statement = true});
    const SyntaxRef leave = part({.form = Form::leave, .is_statement = true});
    EXPECT_TRUE(jumps(*stop, true));
    EXPECT_FALSE(jumps(*loop_over("i", stop), true));
    EXPECT_TRUE(passes_over(*loop_over("i", stop)));
    EXPECT_FALSE(leaves(*loop_over("i", stop)));
    EXPECT_TRUE(leaves(*loop_over("i", leave)));
}

TEST(KnossosSyntax, ElementsThatCallsChange) {
    const SyntaxRef call = part({.form = Form::call, .place = {3, 4}}, {named("f"), named("x")});
    EXPECT_EQ(elements_changed_by(*call, {{{3, 4}, {"z"}}}),
              (std::set<std::string>{"f", "x", "z"}));
    EXPECT_TRUE(elements_changed_by(*call, {{{3, 5}, {"z"}}}).empty());
}

SyntaxRef sum_of(const SyntaxRef& a, const char* symbol, const SyntaxRef& b) {
    return part({.form = Form::binary, .name = symbol}, {{a, Field::left}, {b, Field::right}});
}

TEST(KnossosSyntax, TextsHaveParenthesesWhereOperatorsBindLess) {
    const SyntaxRef sum = sum_of(named("x"), "+", named("y"));
    EXPECT_EQ(written(*sum_of(sum, "*", named("z"))), "(x + y) * z");
    EXPECT_EQ(written(*sum_of(named("z"), "+", sum)), "z + (x + y)");
    EXPECT_EQ(written(*sum_of(named("z"), "**", sum_of(named("x"), "**", named("y")))),
              "z ** x ** y");
    const SyntaxRef sign = part({.form = Form::unary, .name = "-"}, {{named("x"), Field::value}});
    EXPECT_EQ(written(*sum_of(sign, "**", named("y"))), "(-x) ** y");
    const SyntaxRef test =
        part({.form = Form::comparison, .comparisons = {"<", "is not"}},
             {{named("x"), Field::left}, {named("y"), Field::right}, {named("z"), Field::right}});
    EXPECT_EQ(written(*test), "x < y is not z");
    const SyntaxRef alone = part({.form = Form::tuple}, {{named("x"), Field::element}});
    EXPECT_EQ(written(*alone), "(x,)");
}

TEST(KnossosSyntax, LongTextsAreShortened) {
    SyntaxRef all = named("längerer_name");
    for (int i = 0; i < 3; ++i) all = sum_of(all, "+", named("längerer_name"));
    EXPECT_EQ(shown(*all), "längerer_name + längerer_name + länge…");
}

TEST(KnossosSyntax, FunctionsInsideKeepNamesOfTheirOwn) {
    // def f(x): y = x; def g(x): return x + y
    const SyntaxRef own = part({.form = Form::parameter, .name = "x"});
    const SyntaxRef result = part({.form = Form::leave, .is_statement = true},
                                  {{sum_of(named("x"), "+", named("y")), Field::value}});
    const SyntaxRef inner = part({.form = Form::function, .name = "g", .is_statement = true},
                                 {{own, Field::parameter}, {result, Field::body}});
    const SyntaxRef assigning =
        part({.form = Form::assign, .is_statement = true},
             {{named("y", true), Field::target}, {named("x"), Field::value}});
    const SyntaxRef whole =
        part({.form = Form::function, .name = "f", .is_statement = true},
             {{own, Field::parameter}, {assigning, Field::body}, {inner, Field::body}});
    EXPECT_EQ(written(*renamed(*whole, {{"x", "x_2"}, {"y", "y_2"}, {"g", "h"}})),
              "def f(x_2):\n    y_2 = x_2\n\n    def h(x):\n        return x + y_2");
}

}  // namespace
}  // namespace composit::knossos
