// Which part needs which, and which translates what.
#include "composit/knossos/translation.h"

namespace composit::knossos {
namespace {

NameSet assigned_or_given(const Source& source, Mentions& mentions) {
    NameSet names = mentions.assigned_in(source.tree->all(Field::body));
    for (const std::string& name : source.parameters()) names.insert(name);
    return names;
}

}  // namespace

Translation::Translation(const SourceRef& source, DType dtype, const Outside& outside,
                         const KnownFunction& known, Found& found)
    : arrays(dtype, found, mentions.assigned_in(source->tree->all(Field::body)),
             counts_of_names(*source->tree, true), known),
      scope(arrays.code, outside, source, assigned_or_given(*source, mentions)),
      kinds{arrays.code, arrays.operators, scope, found},
      paths{arrays.code, arrays.operators, scope, arrays.integers, arrays.sharing, arrays.storage},
      stack{found, arrays.sharing},
      parameters{arrays.code, scope, arrays.storage},
      expressions{arrays.code, scope},
      lists{arrays.code,     arrays.operators, scope,         found,       stack,
            arrays.integers, arrays.storage,   arrays.makers, expressions, mentions},
      names{scope, expressions, arrays, lists},
      arithmetic{arrays, expressions},
      choices{arrays.code, arrays.operators, arrays.sharing, expressions, paths},
      subscripts{scope, expressions, arrays.slices},
      targets{scope, arrays.slices},
      sequences{arrays, scope, expressions, mentions},
      comprehensions{arrays, scope, expressions, targets, sequences},
      arguments{scope, expressions, arrays.slices},
      methods{arrays, outside},
      statements{arrays.code, scope},
      array_variables{arrays.code, scope, found, arrays.integers, arrays.sharing, arrays.storage},
      element_assignments{arrays, stack, expressions, subscripts},
      assignments{arrays,  scope, kinds,           expressions,
                  targets, lists, array_variables, element_assignments},
      branches{arrays, scope, stack, expressions, names, lists, statements, assignments},
      loops{arrays, scope,   found,     expressions, statements,
            lists,  targets, sequences, assignments, mentions},
      raising{arrays.code, arrays.operators, scope, found, stack, expressions},
      returns{arrays.code,    arrays.operators, scope, stack,       arrays.integers,
              arrays.sharing, arrays.storage,   kinds, expressions, paths},
      inlining{arrays,    scope,       found,   stack,   statements,
               sequences, assignments, raising, returns, mentions},
      calls{arrays, scope, found, expressions, arguments, methods, inlining} {
    add_forms_of_expressions();
    add_forms_of_statements();
}

void Translation::add_forms_of_expressions() {
    using Part = const SyntaxRef&;
    expressions.forms = {
        {Form::constant, [this](Part part) { return names.of_constant(part); }},
        {Form::name, [this](Part part) { return names.of_name(part); }},
        {Form::attribute, [this](Part part) { return names.of_attribute(part); }},
        {Form::lambda, [this](Part part) { return names.function_inside(as_definition(*part)); }},
        {Form::binary, [this](Part part) { return arithmetic.of_binary(part); }},
        {Form::unary, [this](Part part) { return arithmetic.of_unary(part); }},
        {Form::comparison, [this](Part part) { return arithmetic.of_comparison(part); }},
        {Form::both, [this](Part part) { return choices.of_both(part); }},
        {Form::choice, [this](Part part) { return choices.of_choice(part); }},
        {Form::tuple, [this](Part part) { return subscripts.of_tuple(part); }},
        {Form::list, [this](Part part) { return subscripts.of_list(part); }},
        {Form::subscript, [this](Part part) { return subscripts.of_subscript(part); }},
        {Form::list_of_each, [this](Part part) { return comprehensions.of_each(part); }},
        {Form::generator_of_each, [this](Part part) { return comprehensions.of_each(part); }},
        {Form::call, [this](Part part) { return calls.of_call(part); }},
    };
}

void Translation::add_forms_of_statements() {
    using Part = const SyntaxRef&;
    statements.forms = {
        {Form::assign, [this](Part part) { assignments.do_assign(part); }},
        {Form::annotated, [this](Part part) { assignments.do_annotated(part); }},
        {Form::augmented, [this](Part part) { assignments.do_augmented(part); }},
        {Form::branch, [this](Part part) { branches.do_branch(part); }},
        {Form::pass, [](Part) {}},
        {Form::expression, [this](Part part) { branches.do_expression(part); }},
        {Form::function, [this](Part part) { branches.do_function(part); }},
        {Form::loop, [this](Part part) { loops.do_loop(part); }},
        {Form::repeat, [this](Part part) { loops.do_loop(part); }},
        {Form::stop, [this](Part part) { loops.do_break(part); }},
        {Form::go_on, [this](Part part) { loops.do_continue(part); }},
        {Form::raise, [this](Part part) { raising.do_raise(part); }},
        {Form::assertion, [this](Part part) { raising.do_assertion(part); }},
        {Form::leave, [this](Part part) { returns.do_return(part); }},
    };
}

}  // namespace composit::knossos
