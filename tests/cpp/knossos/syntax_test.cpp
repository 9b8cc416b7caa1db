// Which names texts mention, and which jumps they hold.
#include "composit/knossos/syntax.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace composit::knossos {
namespace {

SyntaxRef part(Syntax made, std::initializer_list<SyntaxRef> children = {}) {
    made.children = children;
    auto kept = std::make_shared<Syntax>(std::move(made));
    kept->origin = kept.get();
    return kept;
}

SyntaxRef named(const char* name, bool is_stored = false) {
    return part({.form = Form::name, .name = name, .is_stored = is_stored});
}

// for TARGET in x: BODY
SyntaxRef loop_over(const char* target, const SyntaxRef& body) {
    const SyntaxRef counter = named(target, true);
    const SyntaxRef made =
        part({.form = Form::loop, .is_statement = true}, {counter, named("x"), body});
    std::const_pointer_cast<Syntax>(made)->target = counter;
    return made;
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

}  // namespace
}  // namespace composit::knossos
