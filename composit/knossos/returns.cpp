// What functions return.
#include "composit/knossos/returns.h"

#include "composit/base/text.h"

#include <algorithm>
#include <set>

namespace composit::knossos {
namespace {

using Sort = Structure::Sort;

// The names of results: those of the variables that the first return of a tuple names.
std::vector<std::string> names_of_results(const Syntax& function) {
    for (const Syntax* each : parts_by_level(function)) {
        const SyntaxRef& value = each->at(Field::value);
        if (each->form != Form::leave || !value || value->form != Form::tuple) continue;
        std::vector<std::string> names;
        const auto items = value->all(Field::element);
        for (const SyntaxRef& item : items)
            if (item->form == Form::name) names.push_back(item->name);
        if (names.size() == items.size() &&
            names.size() == std::set<std::string>(names.begin(), names.end()).size())
            return names;
    }
    return {};
}

int64_t count_of_returns(const Syntax& function) {
    const auto all = parts_by_level(function);
    return std::count_if(all.begin(), all.end(),
                         [](const Syntax* each) { return each->form == Form::leave; });
}

// The numbers and arrays of a value, in order; other things as they are.
void split(const Value& value, std::vector<Value>& found) {
    if (!value.tuple() && !value.record()) {
        found.push_back(value);
        return;
    }
    for (const Value& part : parts_of_value(value)) split(part, found);
}

std::string outline_of(const Structure& structure) {
    const std::string outline = structure.outline();
    return structure.sort == Sort::tensor ? outline + " of " + std::string(name(structure.kind))
                                          : outline;
}

// Whether a tuple, list or record is made as another one is.
bool is_made_alike(const Structure& declared, const Structure& own) {
    if (declared.made_by)
        return own.made_by && own.made_by->identity() == declared.made_by->identity();
    return !own.made_by || own.made_by->is_tuple();
}

bool is_nothing(const SyntaxRef& value) {
    return !value || (value->form == Form::constant && value->is_none);
}

}  // namespace

void Returns::do_return(const SyntaxRef& statement) {
    if (!stack.frames.empty()) {
        do_return_of_call(statement);
        return;
    }
    if (!statement->at(Field::value))
        scope.refuse(*statement, "it returns nothing here", "A number is required.");
    const Value value = expressions.value(statement->at(Field::value));
    if (scope.declared) check_declared(*statement, scope.declared, value);
    structure = value;
    std::vector<Value> parts, numbers;
    split(value, parts);
    for (size_t i = 0; i < parts.size(); ++i)
        if (const ArrayRef array = parts[i].array())
            return_array(i, array);
        else
            numbers.push_back(parts[i]);
    for (const Value& each : numbers) (void)leaves_with_names(each);  // which are numbers
    const bool has_arrays = numbers.size() != parts.size();
    if (has_returned && has_arrays && parts.size() != count_of_parts)
        scope.refuse(*statement, "it returns other arrays here than elsewhere",
                     "The same are required.");
    has_returned = true;
    count_of_parts = parts.size();
    if (parts.empty())
        scope.refuse(*statement, "it returns an empty tuple", "A number is required.");
    return_numbers(*statement, numbers, has_arrays);
}

void Returns::return_numbers(const Syntax& statement, const std::vector<Value>& numbers,
                             bool has_arrays) {
    std::vector<Kind> wanted = scope.declared_kinds.value_or(std::vector<Kind>());
    if (wanted.empty() || (has_arrays && wanted.size() != numbers.size())) {
        wanted.clear();
        for (const Value& each : numbers) wanted.push_back(kind_of_number(each));
    }
    const bool has_others = !results.empty() && results.size() != numbers.size();
    if (wanted.size() != numbers.size() || has_others)
        scope.refuse(statement,
                     text("it returns ", numbers.size(), " numbers here, and ",
                          results.empty() ? wanted.size() : results.size(),
                          " elsewhere or by its annotation"),
                     "The same number on every path is required.", Refusal::Class::type);
    if (results.empty())
        for (size_t i = 0; i < wanted.size(); ++i)
            results.push_back(result(i, wanted.size(), wanted[i]));
    std::vector<Expr> values;
    for (size_t i = 0; i < numbers.size(); ++i)
        values.push_back(kinds.fitted(statement, text("return ", i), numbers[i], results[i].second,
                                      "the result"));
    code.add(Statement::leave(std::move(values), statement.line()));
    scope.defined.reset();
}

std::pair<std::string, Kind> Returns::result(size_t i, size_t count, Kind kind) const {
    const auto names = names_of_results(*scope.source->tree);
    std::string name = count == 1 ? "y" : text("y", i);
    if (names.size() == count) name = names[i];
    const bool is_float = kinds.found.floats.contains(text("return ", i));
    return {std::move(name), is_float ? Kind::floating : kind};
}

void Returns::return_array(size_t place, const ArrayRef& value) {
    std::vector<Value> shape;
    for (const Value& extent : value->shape) shape.push_back(integers.in_parameters(extent));
    for (const Value& extent : shape)
        if (!integers.is_of_parameters(extent))
            throw Mismatch("a result whose extents depend on what is computed",
                           "Extents of arguments, integer arguments and literals decide them.");
    const StoredRef own = stored(value);
    if (own) sharing.check_current(own->number);
    auto known = outputs.find(place);
    if (known == outputs.end()) {
        if (becomes_output(own)) {
            auto& made = code.arrays[static_cast<size_t>(own->number)];
            made.shape.clear();
            for (const Value& extent : shape) made.shape.push_back(code.integer(extent));
            made.role = Role::output;
            outputs[place] = own;
            return;
        }
        known =
            outputs.emplace(place, storage.add_array("y", value->kind, shape, Role::output)).first;
    }
    integers.require_shape(known->second->shape, value->shape);
    storage.fill(*known->second, *value);
}

// Whether an array of the procedure is the output itself: outputs stand in the order of the
// results, so that callers find them.
bool Returns::becomes_output(const StoredRef& value) const {
    if (!value || value->is_argument || count_of_returns(*scope.source->tree) != 1) return false;
    return std::all_of(outputs.begin(), outputs.end(),
                       [&](const auto& each) { return each.second->number < value->number; });
}

// ----- of functions that become part of the kernel

void Returns::do_return_of_call(const SyntaxRef& statement) {
    const FrameRef frame = stack.frames.back();
    const bool is_none = is_nothing(statement->at(Field::value));
    if (is_none && !frame->is_for_effect)
        scope.refuse(*statement, "it returns nothing here", "A number is required.");
    Value value = is_none ? tuple_of({}) : expressions.value(statement->at(Field::value));
    if (const ArrayRef array = value.array(); array && array->lists > 0)
        value = storage.stored(array, "list");  // its names mean something here only
    if (scope.nesting != frame->nesting || frame->joined || frame->has_raises) {
        leave_call(*statement, value);
        return;
    }
    // The only one that is reached: its value stands where the call does.
    frame->value = is_none ? Value() : as_declared(value);
    frame->has_value = true;
    scope.defined.reset();
}

void Returns::leave_call(const Syntax& part, const Value& value) {
    const FrameRef frame = stack.frames.back();
    const Tuple* tuple = value.tuple();
    const bool is_empty = tuple && tuple->parts.empty();
    if (scope.declared && !(frame->is_for_effect && is_empty))
        check_declared(part, scope.declared, value);
    if (!frame->joined)
        frame->joined = paths.join(part, value, kinds_of_result(value), "returned", frame->block,
                                   frame->first_variable);
    const auto leaves = frame->joined->put(part, value);
    const auto variables = frame->joined->variables();
    std::vector<Expr> made;
    for (size_t i = 0; i < std::min(leaves.size(), variables.size()); ++i) {
        const Kind kind = kind_of_number(variables[i]);
        made.push_back(
            kind == Kind::floating && scope.declared
                ? operators.cast(leaves[i], kind)
                : kinds.fitted(part, text(key_of_result(), " ", i), leaves[i], kind, "the result"));
    }
    code.add(Statement::leave(std::move(made), code.line));
    frame->states.push_back(sharing.parts);
    scope.defined.reset();
}

std::string Returns::key_of_result() const {
    return text("result of call ", stack.frames.back()->number);
}

std::vector<Kind> Returns::kinds_of_result(const Value& value) const {
    std::vector<Kind> made;
    if (scope.declared) {
        for (const StructureRef& leaf : all_leaves(scope.declared)) made.push_back(leaf->kind);
        return made;
    }
    int k = 0;
    for (const Value& leaf : leaves_of_value(value)) {
        Kind kind = kind_of_leaf(leaf);
        if (!leaf.array() && kinds.found.floats.contains(text(key_of_result(), " ", k++)))
            kind = Kind::floating;
        made.push_back(kind);
    }
    return made;
}

Value Returns::as_declared(const Value& value) const {
    if (scope.declared_kinds != std::vector{Kind::floating} || value.tuple() || value.record() ||
        value.array())
        return value;
    const auto number = known_float(value);
    return number ? Value(*number) : Value(operators.cast(value, Kind::floating));
}

// ----- what annotations say

StructureRef Returns::declared_by(const Syntax& function, bool is_part) const {
    const SyntaxRef& result = function.at(Field::result);
    const Source& source = *scope.source;
    if (!result || (is_part && (is_nothing(result) || source.is_open(*result)))) return nullptr;
    return source.structure_of(*result, source.name);
}

void Returns::check_declared(const Syntax& part, const StructureRef& declared, const Value& value) {
    const StructureRef own = structure_of_value(value);
    if (declared->sort == Sort::parts && own->sort == Sort::parts) {
        if (is_made_alike(*declared, *own) && declared->parts.size() == own->parts.size()) {
            const auto parts = parts_of_value(value);
            for (size_t i = 0; i < parts.size(); ++i)
                check_declared(part, declared->parts[i].second, parts[i]);
            return;
        }
    } else if (declared->sort == Sort::tensor && own->sort == Sort::tensor) {
        if (declared->kind == own->kind && declared->extents.size() == own->extents.size()) {
            // Of functions that become part of others the names mean something elsewhere.
            if (stack.frames.empty()) check_extents(*declared, *value.array());
            return;
        }
    } else if (declared->sort == own->sort) {
        return;
    }
    scope.refuse(
        part,
        "it returns " + outline_of(*own) + ", and " + outline_of(*declared) + " by its annotation",
        "A result of the annotation's structure is required.", Refusal::Class::type);
}

void Returns::check_extents(const Structure& declared, const Array& value) {
    for (size_t i = 0; i < declared.extents.size(); ++i) {
        const auto* name = std::get_if<std::string>(&declared.extents[i]);
        if (!name) {
            integers.require_same(std::get<Value>(declared.extents[i]), value.shape[i]);
        } else if (const auto known = scope.symbols.find(*name); known != scope.symbols.end()) {
            integers.require_same(code.leaf(known->second), value.shape[i]);
        }
    }
}

}  // namespace composit::knossos
