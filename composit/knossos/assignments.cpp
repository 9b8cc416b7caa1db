// What names get.
#include "composit/knossos/assignments.h"

#include "composit/knossos/arithmetic.h"
#include "composit/knossos/syntax_text.h"

#include <algorithm>

namespace composit::knossos {
namespace {

NameSet stored_names(const std::vector<SyntaxRef>& targets) {
    NameSet names;
    for (const SyntaxRef& target : targets)
        for (const auto& [name, count] : counts_of_names(*target, true)) names.insert(name);
    return names;
}

}  // namespace

void Assignments::do_assign(const SyntaxRef& statement) {
    Value value = expressions.value_or_function(statement->at(Field::value));
    const auto all = statement->all(Field::target);
    if (all.size() > 1) value = given_to_several(all, value);
    for (const SyntaxRef& target : all) assign(target, value);
}

void Assignments::do_annotated(const SyntaxRef& statement) {
    if (!statement->at(Field::value)) return;
    Value value = expressions.value(statement->at(Field::value));
    const SyntaxRef& target = statement->at(Field::target);
    const bool grows = target->form == Form::name && lists.grows(target->name, value);
    if (!grows) {
        const auto declared = kinds_of_numbers(
            scope.source->structure_of(*statement->at(Field::annotation), scope.source->name));
        if (declared == std::vector{Kind::floating} && kind(value) == Kind::integer)
            value = arrays.operators.cast(value, Kind::floating);
    }
    assign(target, value);
}

void Assignments::do_augmented(const SyntaxRef& statement) {
    const SyntaxRef &target = statement->at(Field::target), &by = statement->at(Field::value);
    if (target->form == Form::subscript) {
        const Value value = expressions.value(by);
        element_assignments.augment_element(statement, symbol_in_place(*statement), value);
        return;
    }
    if (target->form != Form::name)
        scope.refuse(*statement,
                     "`" + shown(*target) + "` is part of a value, which does not change",
                     "Make a new tuple or record with the part replaced.");
    const Value old = expressions.value(name_at(target->name, target->place));
    const Value other = expressions.value(by);
    const std::string& symbol = symbol_in_place(*statement);
    if (!old.array() && !other.array()) {
        assign(target, arrays.operators.binary(symbol, old, other));
        return;
    }
    const ArrayRef value = arrays.binary(symbol, old, other);
    if (const StoredRef changed = stored(old)) {
        element_assignments.check_holds(changed->kind, value->kind, *statement);
        element_assignments.change_in_place(changed, value, *statement);
    } else {
        assign(target, value);
    }
}

void Assignments::assign(const SyntaxRef& target, const Value& value) {
    if (target->form == Form::subscript) {
        element_assignments.assign_element(target, value);
        return;
    }
    if (has_elements(*target)) {
        assign_in_order(target, value);
        return;
    }
    Pairs pairs, growing;
    targets.spread(target, value, [&](const SyntaxRef& each, const Value& part) {
        const std::string& name = targets.name_of(each);
        (lists.grows(name, part) ? growing : pairs).emplace_back(name, part);
    });
    assign_pairs(target, pairs);
    for (const auto& [name, each] : growing) lists.begin(target, name, *each.tuple());
}

void Assignments::assign_pairs(const SyntaxRef& target, const Pairs& pairs) {
    for (const auto& [name, each] : pairs) check_structure(*target, name, each);
    for (const auto& [name, each] : pairs)
        if (function_value(each)) assign_function(*target, name, each);
    Pairs values, numbers;
    std::vector<std::pair<std::string, ArrayRef>> of_arrays;
    for (const auto& pair : pairs)
        if (!function_value(pair.second)) values.push_back(pair);
    for (const auto& [name, each] : values)
        for (const auto& [path, leaf] : leaves_with_names(each, true))
            if (const ArrayRef array = leaf.array())
                of_arrays.emplace_back(name + path, array);
            else
                numbers.emplace_back(name + path, leaf);
    array_variables.assign_arrays(of_arrays, *target);
    assign_leaves(numbers, *target);
    for (const auto& [name, each] : values) {
        // Variables that are arrays have their structures already.
        scope.structures[name] = structure_with(
            each, name,
            [&](const std::string& own, const ArrayRef&) { return scope.structures.at(own); });
        scope.defined->insert(name);
    }
}

void Assignments::assign_function(const Syntax& target, const std::string& name,
                                  const Value& value) {
    const StructureRef known = scope.structure_named(name);
    if (known && !function_value(known->function)->is_same(*function_value(value)))
        scope.refuse(target, name + " is one function here and another one before",
                     "Give them two names, and choose between their values.", Refusal::Class::type);
    scope.structures[name] = function_structure(value);
    scope.defined->insert(name);
}

// Refuses another structure than the variable has. An array may be another one.
void Assignments::check_structure(const Syntax& target, const std::string& name,
                                  const Value& value) const {
    const StructureRef known = scope.structure_named(name);
    if (!known) return;
    const std::string own =
        (function_value(value) ? function_structure(value) : structure_of_value(value))->outline();
    if (known->outline() == own) return;
    if (known->is_variable() && value.array() && known->block == arrays.code.out) return;
    scope.refuse(target, name + " is " + own + " here and " + known->outline() + " before",
                 "A variable keeps its structure: use another name.", Refusal::Class::type);
}

// All at once: what a later value still reads is written last.
void Assignments::assign_leaves(const Pairs& leaves, const Syntax& target) {
    Code& code = arrays.code;
    const int line = target.line();
    std::vector<std::pair<std::string, Expr>> made, late;
    for (const auto& [name, value] : leaves)
        made.emplace_back(name, kinds.value_of_variable(name, value, target));
    NameSet written_last;
    for (size_t i = 0; i < made.size(); ++i) {
        const auto& [name, value] = made[i];
        const int number = code.number_of(name);
        const auto later = made.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        if (std::none_of(later, made.end(), [number](const auto& other) {
                return variables_of(other.second).contains(number);
            }))
            continue;
        const Expr kept = code.hidden("new_" + name, *code.kind_named(name));
        late.emplace_back(name, kept);
        written_last.insert(name);
        code.assign(kept.index(), value, line);
    }
    for (const auto& [name, value] : made)
        if (!written_last.contains(name)) write(name, value, line);
    for (const auto& [name, value] : late) write(name, value, line);
}

void Assignments::write(const std::string& name, const Expr& value, int line) {
    Code& code = arrays.code;
    const int number = code.number_of(name);
    // A parameter that is assigned has two values.
    const bool is_once = code.times_assigned(name) == 1 && number >= code.parameter_count;
    if (is_once && kind(value) == Kind::integer) {
        const Value known = arrays.integers.resolved_within(value);
        if (arrays.integers.is_of_parameters(known)) arrays.integers.aliases[number] = known;
    }
    code.homes[number] = code.out;
    code.assign(number, value, line);
}

Value Assignments::given_to_several(const std::vector<SyntaxRef>& all, const Value& value) {
    const NameSet names = stored_names(all);
    Code& code = arrays.code;
    const auto once = [&](const Value& leaf, const std::string&) -> Value {
        if (const ArrayRef array = leaf.array())
            return stored(array) ? array : ArrayRef(arrays.storage.copied(*array));
        if (!leaf.expr()) return leaf;
        const auto variables = variables_of(*leaf.expr());
        const bool changes = std::any_of(variables.begin(), variables.end(), [&](int each) {
            return names.contains(code.whole(each));
        });
        return changes ? Value(code.held(leaf, "value")) : leaf;
    };
    return with_leaves(value, once, false);
}

void Assignments::assign_in_order(const SyntaxRef& target, const Value& value) {
    std::vector<std::pair<SyntaxRef, Value>> pairs;
    targets.spread(target, value, [&](const SyntaxRef& each, const Value& part) {
        pairs.emplace_back(each, part);
    });
    const Code& code = arrays.code;
    const auto held = [&](const Value& leaf, const std::string&) -> Value {
        if (const ArrayRef array = leaf.array()) return arrays.storage.copied(*array);
        const Expr* expression = leaf.expr();
        const bool is_kept =
            !expression || (expression->op() == Op::argument && code.is_assigned_once(*expression));
        return is_kept ? leaf : Value(arrays.code.held(leaf, "value"));
    };
    for (auto& [each, part] : pairs)
        if (!part.record()) part = with_leaves(part, held, false);
    for (const auto& [each, part] : pairs) assign(each, part);
}

}  // namespace composit::knossos
