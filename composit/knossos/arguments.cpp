// Arguments, and calls in other words.
#include "composit/knossos/arguments.h"

#include "composit/base/text.h"
#include "composit/knossos/syntax_text.h"
#include "composit/knossos/targets.h"

#include <algorithm>

namespace composit::knossos {
namespace {

bool is_among_names(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_name(const Named& named, const std::string& name) {
    return std::any_of(named.begin(), named.end(),
                       [&](const auto& each) { return each.first == name; });
}

std::string listed_names(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
    return all;
}

// What is wrong with arguments by name, where those in `rest` are wanted.
std::string wrong_names(const Named& named, const std::vector<std::string>& names,
                        const std::vector<std::string>& rest) {
    std::vector<std::string> wrong;
    for (const auto& [name, value] : named)
        if (is_among_names(names, name) && !is_among_names(rest, name))
            wrong.push_back(name + " twice");
    for (const std::string& name : rest)
        if (!has_name(named, name)) wrong.push_back("no " + name);
    for (const auto& [name, value] : named)
        if (!is_among_names(names, name)) wrong.push_back(name + ", which it has not");
    return listed_names(wrong);
}

std::shared_ptr<Syntax> part_like(const Syntax& other, Form form, std::vector<Child> children) {
    auto made = std::make_shared<Syntax>();
    made->form = form;
    made->place = other.place;
    made->children = std::move(children);
    return made;
}

// The call with other arguments.
SyntaxRef call_with(const Syntax& call, const std::vector<SyntaxRef>& arguments,
                    const std::vector<SyntaxRef>& named) {
    std::vector<Child> children{{call.at(Field::function), Field::function}};
    for (const SyntaxRef& each : arguments) children.emplace_back(each, Field::argument);
    for (const SyntaxRef& each : named) children.emplace_back(each, Field::keyword);
    return part_like(call, Form::call, std::move(children));
}

SyntaxRef constant_part(const Syntax& like, const Value& number) {
    auto made = part_like(like, Form::constant, {});
    made->number = number;
    made->text = text_of(number);
    return made;
}

// What changes no result of functions of several values; nothing for others.
std::optional<Value> neutral_of(const std::string& function) {
    if (function == "sum") return Value(0);
    if (function == "any") return Value(false);
    return function == "all" ? std::optional(Value(true)) : std::nullopt;
}

std::shared_ptr<Syntax> statement_like(const Syntax& other, Form form,
                                       std::vector<Child> children) {
    auto made = part_like(other, form, std::move(children));
    made->is_statement = true;
    return made;
}

SyntaxRef stored_name(const std::string& name, const Syntax& like) {
    auto made = std::make_shared<Syntax>(*name_at(name, like.place));
    made->is_stored = true;
    return made;
}

// The one argument of a function that goes through several values: a comprehension, else null.
const Syntax* comprehension_in(const Syntax& call, const std::string& function) {
    const auto given = call.all(Field::argument);
    if (!neutral_of(function) || call.at(Field::keyword) || given.size() != 1) return nullptr;
    const Form form = given[0]->form;
    return form == Form::generator_of_each || form == Form::list_of_each ? given[0].get() : nullptr;
}

// Where a dtype stands among the arguments by position.
std::optional<size_t> place_of_dtype(const std::string& function) {
    static const std::set<std::string> behind_one{
        "numpy.zeros",   "numpy.ones",       "numpy.empty",     "numpy.array",
        "numpy.asarray", "numpy.zeros_like", "numpy.ones_like", "numpy.empty_like"};
    if (function == "numpy.full") return 2;
    return behind_one.contains(function) ? std::optional<size_t>(1) : std::nullopt;
}

}  // namespace

std::vector<Value> Arguments::by_position(const Syntax& call) {
    std::vector<Value> arguments;
    for (const SyntaxRef& each : call.all(Field::argument)) {
        if (each->form != Form::starred) {
            arguments.push_back(expressions.value_or_function(each));
            continue;
        }
        const Value whole = unnamed(expressions.value(each->at(Field::value)));
        const auto parts = taken_apart(slices, whole);
        if (!parts) throw Mismatch("*arguments that are no tuple", "Write the arguments.");
        arguments.insert(arguments.end(), parts->begin(), parts->end());
    }
    return arguments;
}

Named Arguments::by_name(const Syntax& call) {
    const auto given = call.all(Field::keyword);
    for (const SyntaxRef& each : given)
        if (each->name.empty()) throw Mismatch("**arguments in a call", "Write the arguments.");
    Named named;
    for (const SyntaxRef& each : given) {
        const SyntaxRef& part = each->at(Field::value);
        named.emplace_back(each->name, each->name == "dtype" ? Value(kind_of_dtype(part))
                                                             : expressions.value_or_function(part));
    }
    return named;
}

Kind Arguments::kind_of_dtype(const SyntaxRef& part) {
    const bool is_constant = part->form == Form::constant;
    const ObjectRef found = is_constant ? part->outer : scope.meaning_or_none(part);
    if (!found && part->form == Form::attribute && part->name == "dtype")
        if (const ArrayRef array = expressions.value(part->at(Field::value)).array())
            return array->kind;
    const auto kind = found ? scope.outside.kind_of_dtype(*found) : std::nullopt;
    if (!kind)
        scope.refuse(*part, "the dtype `" + shown(*part) + "`",
                     "int, float or bool (int64, float64) is required.");
    return *kind;
}

std::vector<Value> Arguments::in_order(const Syntax& call, const Source& source,
                                       std::vector<Value> arguments, const Named& given) const {
    if (given.empty()) return source.with_defaults(std::move(arguments));
    const auto names = source.parameters();
    const std::vector<std::string> rest(
        names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), arguments.size())),
        names.end());
    Named named;
    for (const auto& each : source.defaults)
        if (is_among_names(rest, each.first)) named.push_back(each);
    for (const auto& [name, value] : given) {
        (void)taken(named, name);
        named.emplace_back(name, value);
    }
    const std::string wrong = wrong_names(named, names, rest);
    if (!wrong.empty())
        scope.refuse(call, source.name + " is given " + wrong,
                     "A value for each of " + listed_names(names) + " is required.",
                     Refusal::Class::type);
    for (const std::string& name : rest) arguments.push_back(*taken(named, name));
    return arguments;
}

SyntaxRef with_neutral_elements(const SyntaxRef& call, const std::string& function) {
    const auto neutral = neutral_of(function);
    const Syntax* const found = comprehension_in(*call, function);
    if (!found) return call;
    const Syntax& made = *found;
    const auto generators = made.all(Field::generator);
    if (generators.size() != 1) return call;
    auto tests = generators[0]->all(Field::test);
    if (tests.empty()) return call;
    std::reverse(tests.begin(), tests.end());
    SyntaxRef element = made.at(Field::element);
    for (const SyntaxRef& test : tests)
        element = part_like(made, Form::choice,
                            {{test, Field::test},
                             {element, Field::body},
                             {constant_part(made, *neutral), Field::otherwise}});
    const SyntaxRef loop = part_like(*generators[0], Form::comprehension,
                                     {{generators[0]->at(Field::target), Field::target},
                                      {generators[0]->at(Field::iterated), Field::iterated}});
    const SyntaxRef values =
        part_like(made, made.form, {{element, Field::element}, {loop, Field::generator}});
    return call_with(*call, {values}, {});
}

SyntaxRef loops_of(const Syntax& call, const std::string& function) {
    const Syntax* const made = comprehension_in(call, function);
    if (!made) return nullptr;
    auto generators = made->all(Field::generator);
    if (generators.size() < 2) return nullptr;
    const NameSet taken = mentioned(*made).names;
    std::string total = "total";
    for (int i = 2; taken.contains(total); ++i) total = text("total_", i);
    const SyntaxRef& element = made->at(Field::element);
    const SyntaxRef first = constant_part(*made, *neutral_of(function));
    const auto leave = [&](const SyntaxRef& value) {
        return statement_like(*made, Form::leave, {{value, Field::value}});
    };
    std::shared_ptr<Syntax> inner;
    if (function == "sum") {
        inner =
            statement_like(*made, Form::augmented,
                           {{stored_name(total, *made), Field::target}, {element, Field::value}});
        inner->name = "+";
    } else {
        const bool is_any = function == "any";
        auto test = part_like(*made, Form::unary, {{element, Field::value}});
        test->name = "not";
        inner = statement_like(*made, Form::branch,
                               {{is_any ? element : SyntaxRef(test), Field::test},
                                {leave(constant_part(*made, is_any)), Field::body}});
    }
    std::reverse(generators.begin(), generators.end());
    for (const SyntaxRef& each : generators) {
        auto tests = each->all(Field::test);
        std::reverse(tests.begin(), tests.end());
        for (const SyntaxRef& test : tests)
            inner =
                statement_like(*made, Form::branch, {{test, Field::test}, {inner, Field::body}});
        inner = statement_like(*made, Form::loop,
                               {{each->at(Field::target), Field::target},
                                {each->at(Field::iterated), Field::iterated},
                                {inner, Field::body}});
    }
    const bool is_sum = function == "sum";
    std::vector<Child> body;
    if (is_sum)
        body.emplace_back(
            statement_like(*made, Form::assign,
                           {{stored_name(total, *made), Field::target}, {first, Field::value}}),
            Field::body);
    body.emplace_back(inner, Field::body);
    body.emplace_back(leave(is_sum ? name_at(total, made->place) : first), Field::body);
    auto definition = statement_like(*made, Form::function, std::move(body));
    definition->name = function;
    return definition;
}

SyntaxRef with_dtype_by_name(const SyntaxRef& call, const std::string& function) {
    const auto at = place_of_dtype(function);
    auto given = call->all(Field::argument);
    if (!at || given.size() != *at + 1 || given[*at]->form == Form::starred) return call;
    auto dtype = part_like(*given[*at], Form::keyword, {{given[*at], Field::value}});
    dtype->name = "dtype";
    given.pop_back();
    auto named = call->all(Field::keyword);
    named.push_back(dtype);
    return call_with(*call, given, named);
}

SyntaxRef with_shape(const SyntaxRef& call) {
    const auto given = call->all(Field::argument);
    if (given.size() < 2) return call;
    std::vector<Child> elements;
    for (const SyntaxRef& each : given) elements.emplace_back(each, Field::element);
    return call_with(*call, {part_like(*call, Form::tuple, std::move(elements))},
                     call->all(Field::keyword));
}

}  // namespace composit::knossos
