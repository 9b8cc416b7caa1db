// Branches, and what conditions say of counters in them.
#include "composit/knossos/branches.h"

#include "composit/knossos/syntax_text.h"

namespace composit::knossos {
namespace {

std::string negated(const std::string& comparison) {
    static const std::map<std::string, std::string> known{{"<", ">="}, {">=", "<"},  {">", "<="},
                                                          {"<=", ">"}, {"==", "!="}, {"!=", "=="}};
    const auto found = known.find(comparison);
    return found == known.end() ? "" : found->second;
}

std::string turned(const std::string& comparison) {
    static const std::map<std::string, std::string> known{{"<", ">"},   {">", "<"},   {"<=", ">="},
                                                          {">=", "<="}, {"==", "=="}, {"!=", "!="}};
    const auto found = known.find(comparison);
    return found == known.end() ? "" : found->second;
}

// What is known of counters where a condition holds, or does not.
void narrow_where(const Code& code, Integers& integers, const Syntax& test, bool holds) {
    if (test.form == Form::unary && test.name == "not") {
        narrow_where(code, integers, *test.at(Field::value), !holds);
    } else if (test.form == Form::both && (test.name == "and") == holds) {
        for (const SyntaxRef& each : test.all(Field::element))
            narrow_where(code, integers, *each, holds);
    } else if (test.form == Form::comparison && test.comparisons.size() == 1) {
        const Syntax *left = test.at(Field::left).get(), *right = test.at(Field::right).get();
        std::string comparison = test.comparisons[0];
        if (left->form == Form::constant) {
            std::swap(left, right);
            comparison = turned(comparison);
        }
        if (negated(comparison).empty() || left->form != Form::name) return;
        const auto number = right->number.plain_integer();
        if (number && code.has(left->name))
            integers.narrow(code.number_of(left->name), holds ? comparison : negated(comparison),
                            *number);
    }
}

}  // namespace

void Branches::do_expression(const SyntaxRef& statement) {
    const SyntaxRef& value = statement->at(Field::value);
    if (value->form == Form::constant) return;
    if (const auto growing = lists.list_of(value)) {
        lists.append(value, *growing);
        return;
    }
    const int before = stack.count_of_changes;
    stack.called_for_effect = value.get();
    const bool has_effect = value->form == Form::call && (expressions.value(value).is_nothing() ||
                                                          stack.count_of_changes != before);
    if (!has_effect)
        scope.refuse(*statement, "the value of `" + shown(*statement) + "` is not used",
                     "Assign it, or leave the line out: kernels have no side effects.");
}

void Branches::do_function(const SyntaxRef& statement) {
    assignments.assign(name_at(statement->name, statement->place),
                       names.function_inside(statement));
}

BlockRef Branches::side(const Syntax& statement, bool holds) {
    const auto before = arrays.integers.bounds;
    narrow_where(arrays.code, arrays.integers, *statement.at(Field::test), holds);
    const BlockRef made = statements.block(statement.all(holds ? Field::body : Field::otherwise));
    arrays.integers.bounds = before;
    return made;
}

void Branches::do_branch(const SyntaxRef& statement) {
    Sharing& sharing = arrays.sharing;
    const Value condition = arrays.operators.truth(expressions.value(statement->at(Field::test)));
    if (const bool* is_true = condition.as<bool>()) {
        const Field chosen = *is_true ? Field::body : Field::otherwise;
        arrays.code.add(statements.block(statement->all(chosen))->statements);
        return;
    }
    const NameSet before = scope.defined_names();
    const State parts = sharing.parts;
    const Lists::Counts counts = lists.counts;
    const int first = arrays.code.count_of_arrays();
    ++scope.nesting;
    const BlockRef body = side(*statement, true);
    const auto after_body = scope.defined;
    const State parts_after_body = sharing.parts;
    const Lists::Counts counts_after_body = lists.counts;
    scope.defined = before;
    sharing.parts = parts;
    lists.begin_again_with(counts);
    const BlockRef otherwise = side(*statement, false);
    --scope.nesting;
    if (!scope.defined) {
        scope.defined = after_body;
        sharing.parts = parts_after_body;
        lists.begin_again_with(counts_after_body);
    } else if (after_body) {
        scope.defined = common(*scope.defined, *after_body);
        sharing.parts = joined({sharing.parts, parts_after_body});
        lists.join(counts_after_body);
    }
    for (int i = first; i < arrays.code.count_of_arrays(); ++i) sharing.ended.insert(i);
    arrays.code.add(Statement::branch(*condition.expr(), body->statements, otherwise->statements,
                                      statement->line()));
}

}  // namespace composit::knossos
