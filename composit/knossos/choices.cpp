// Branches for values.
#include "composit/knossos/choices.h"

#include "composit/ir/procedure/conditions_again.h"
#include "composit/knossos/statements.h"

#include <algorithm>

namespace composit::knossos {
namespace {

bool are_loads(const Block& block) {
    return std::all_of(block.statements.begin(), block.statements.end(),
                       [](const Statement& each) { return each.kind == Statement::Kind::load; });
}

}  // namespace

Value Choices::of_both(const SyntaxRef& part) {
    const bool is_or = part->name == "or";
    const auto parts = part->all(Field::element);
    Value result = truth(parts[0]);
    for (size_t i = 1; i < parts.size(); ++i) {
        Side here;
        {
            const Emitting needed(code);
            here.statements = needed.block();
            here.value = truth(parts[i]);
        }
        if (are_loads(*here.statements)) {
            code.add(here.statements->statements);
            result = operators.both(result, here.value, is_or ? Op::bit_or : Op::bit_and);
            continue;
        }
        // What is evaluated only where it matters.
        const Value reached = is_or ? operators.unary("not", result) : result;
        result = chosen(reached, here, {std::make_shared<Block>(), is_or});
    }
    return result;
}

Value Choices::truth(const SyntaxRef& part) {
    Value value = expressions.value(part);
    if (kind(value) != Kind::boolean)
        throw Mismatch("and and or of numbers that are no bools",
                       "Compare with 0, or write `a if a else b`.");
    return value;
}

Choices::Side Choices::side(const SyntaxRef& part) {
    const Emitting needed(code);
    Value value = expressions.value(part);
    return {needed.block(), std::move(value)};
}

Value Choices::chosen(const Value& condition, const Side& a, const Side& b) {
    const Kind kind = code.kind_by_trial([&] {
        return operators.select(code.hidden("condition", Kind::boolean), a.value, b.value);
    });
    const Expr made = code.hidden(ir::procedure::name_of_choices, kind);
    for (const Side& each : {a, b})
        each.statements->statements.push_back(
            Statement::assign(made.index(), operators.cast(each.value, kind), code.line));
    code.add(Statement::branch(operators.cast(condition, Kind::boolean), a.statements->statements,
                               b.statements->statements, code.line));
    return made;
}

Value Choices::of_paths(const Syntax& part, const Value& condition, const Side& a, const Side& b,
                        int known) {
    const auto kinds = paths.larger_kinds(part, a.value, b.value);
    const auto places = paths.join(part, a.value, kinds, "chosen", code.out, known);
    places->check(part, b.value);
    const State before = sharing.parts;
    std::vector<State> states;
    for (const Side& each : {a, b}) {
        sharing.parts = before;
        const Emitting side(code, each.statements);
        places->assign(part, each.value);
        states.push_back(sharing.parts);
    }
    sharing.parts = joined(states);
    code.add(Statement::branch(operators.cast(condition, Kind::boolean), a.statements->statements,
                               b.statements->statements, code.line));
    return places->value();
}

Value Choices::of_choice(const SyntaxRef& part) {
    const Value condition = operators.truth(expressions.value(part->at(Field::test)));
    if (const bool* is_true = condition.as<bool>())
        return expressions.value(part->at(*is_true ? Field::body : Field::otherwise));
    const int known = code.count_of_variables();
    const Side first = side(part->at(Field::body)), second = side(part->at(Field::otherwise));
    if (has_arrays(first.value) || has_arrays(second.value))
        return of_paths(*part, condition, first, second, known);
    if (are_loads(*first.statements) && are_loads(*second.statements)) {
        code.add(first.statements->statements);
        code.add(second.statements->statements);
        return operators.select(condition, first.value, second.value);
    }
    return chosen(condition, first, second);
}

}  // namespace composit::knossos
