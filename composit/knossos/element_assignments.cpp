// Elements that change.
#include "composit/knossos/element_assignments.h"

#include "composit/base/text.h"
#include "composit/knossos/syntax_text.h"

#include <algorithm>

namespace composit::knossos {
namespace {

bool is_partial(const Stored& stored, const std::vector<Subscript>& given) {
    return given.size() < stored.shape.size() ||
           std::any_of(
               given.begin(), given.end(),
               [](const Subscript& each) { return each.kind != Subscript::Kind::place; });
}

bool is_identifier_of_python(const std::string& name) {
    return !name.empty() && name.find('.') == name.npos;
}

}  // namespace

void ElementAssignments::assign_element(const SyntaxRef& target, const Value& value) {
    const auto [stored, given] = target_of(target);
    assign_elements(stored, given, value);
    stack.has_changed(*stored);
}

void ElementAssignments::assign_elements(const StoredRef& stored, const Given& given,
                                         const Value& value) {
    if (is_partial(*stored, given))
        assign_part(stored, given, arrays.slices.indexed(stored, given).array(), value);
    else
        arrays.storage.store(*stored, element(*stored, given), scalar(value));
}

void ElementAssignments::assign_part(const StoredRef& stored, const Given& given,
                                     const ArrayRef& part, const Value& value, bool is_apart) {
    if (const Tuple* tuple = value.tuple()) {
        assign_each(stored, given, *part, *tuple);
        return;
    }
    const ArrayRef values = values_for(stored, part, value, is_apart);
    const auto places_of = places(*stored, given);
    arrays.storage.nest(part->shape, [&](const Index& at) {
        const Index place = places_of(at);
        arrays.storage.store(*stored, place, values->at(at));
    });
}

ArrayRef ElementAssignments::values_for(const StoredRef& stored, const ArrayRef& part,
                                        const Value& value, bool is_apart) {
    ArrayRef given = value.array();
    if (!given) {
        const Value number = scalar(value);
        return array(kind_of_number(number), part->shape,
                     [number](const Index&) { return number; });
    }
    const auto line =
        std::find_if(part->elsewhere.begin(), part->elsewhere.end(),
                     [](const auto& each) { return std::holds_alternative<Line>(each); });
    const bool needs_others = line == part->elsewhere.end()
                                  ? given->reads.contains(stored->number)
                                  : given->needs_others(stored->number, std::get<Line>(*line));
    if (needs_others && !is_apart) given = arrays.storage.copied(*given);
    ArrayRef values = arrays.elements.elementwise(
        [](const std::vector<Value>& numbers) { return numbers[0]; }, {given});
    arrays.integers.require_shape(part->shape, values->shape);
    if (values->shape.size() != part->shape.size())
        throw Mismatch("an array of other axes", "As many axes are required.");
    return values;
}

Index ElementAssignments::element(const Stored& stored, const Given& given) {
    Index places;
    for (size_t i = 0; i < std::min(given.size(), stored.shape.size()); ++i)
        places.push_back(arrays.integers.place(given[i].place, stored.shape[i]));
    return places;
}

void ElementAssignments::assign_each(const StoredRef& stored, const Given& given, const Array& part,
                                     const Tuple& value) {
    if (part.shape.size() != 1)
        throw Mismatch(text("a tuple for ", part.shape.size(), " axes"), "One axis is required.");
    arrays.integers.require_same(part.shape[0], static_cast<int64_t>(value.parts.size()));
    const auto places_of = places(*stored, given);
    for (size_t k = 0; k < value.parts.size(); ++k) {
        const Index place = places_of({static_cast<int64_t>(k)});
        arrays.storage.store(*stored, place, scalar(value.parts[k]));
    }
}

std::function<Index(const Index&)> ElementAssignments::places(const Stored& stored,
                                                              const Given& given) {
    const auto caught = std::make_shared<Index>();
    const ArrayRef probe = array(stored.kind, stored.shape, [caught](const Index& at) {
        *caught = at;
        return Value();
    });
    const ArrayRef view = arrays.slices.indexed(probe, given).array();
    return [caught, view](const Index& indices) {
        (void)view->at(indices);
        return *caught;
    };
}

std::pair<StoredRef, ElementAssignments::Given> ElementAssignments::target_of(
    const SyntaxRef& target) {
    const SyntaxRef& of = target->at(Field::value);
    auto [holder, given] = element_holder(of);
    const StoredRef found = stored(holder);
    if (!found) {
        if (holder.array() && of->form == Form::subscript)
            throw Mismatch("an element of a part of an array", "Write a[i, j].");
        throw Mismatch("`" + shown(*target) + "` is part of a value, which does not change",
                       "Make a new tuple or record with the part replaced.");
    }
    check_changes(*found, "an element of the argument " + found->name + " is assigned");
    for (Subscript& each : subscripts.indices(target->at(Field::index)))
        given.push_back(std::move(each));
    return {found, std::move(given)};
}

std::pair<Value, ElementAssignments::Given> ElementAssignments::element_holder(
    const SyntaxRef& part) {
    const bool is_element = part->form == Form::subscript &&
                            part->at(Field::index)->form != Form::slice &&
                            part->at(Field::index)->form != Form::tuple;
    if (is_element) {
        auto [holder, given] = element_holder(part->at(Field::value));
        const StoredRef found = stored(holder);
        if (found && given.size() + 1 < found->shape.size()) {
            for (Subscript& each : subscripts.indices(part->at(Field::index)))
                given.push_back(std::move(each));
            return {holder, std::move(given)};
        }
    }
    return {expressions.value(part), {}};
}

void ElementAssignments::change_in_place(const StoredRef& stored, ArrayRef value,
                                         const Syntax& augmented) {
    check_changes(*stored, "`" + shown(augmented) + "` changes the argument " + stored->name);
    if (value->shape.size() != stored->shape.size())
        throw Mismatch(
            text("an array of ", value->shape.size(), " axes for ", stored->shape.size()),
            "As many axes are required.");
    arrays.integers.require_shape(stored->shape, value->shape);
    if (value->needs_others(stored->number)) value = arrays.storage.copied(*value);
    arrays.storage.store_all(*stored, *value);
    stack.has_changed(*stored);
}

void ElementAssignments::check_changes(const Stored& stored, const std::string& wrong) const {
    const std::string& name = stored.name;
    if (stored.is_argument)
        throw Mismatch(
            wrong + ", and NumPy would change the caller's array",
            is_identifier_of_python(name)
                ? "Write " + name + " = " + name + ".copy() before, and return " + name + "."
                : "Assign to elements of a copy, and return it.");
    arrays.sharing.check_own(stored);
}

void ElementAssignments::augment_element(const SyntaxRef& augmented, const std::string& symbol,
                                         const Value& value) {
    const auto [stored, given] = target_of(augmented->at(Field::target));
    if (is_partial(*stored, given)) {
        const Value part = arrays.slices.indexed(stored, given);
        const ArrayRef made = arrays.binary(symbol, part, value);
        check_holds(stored->kind, made->kind, *augmented);
        // Each new element is one of its own place and of the value.
        const ArrayRef by = value.array();
        const bool is_apart = by ? !by->reads.contains(stored->number) : value.is_number();
        assign_part(stored, given, part.array(), made, is_apart);
    } else {
        augment(stored, given, symbol, value);
    }
    stack.has_changed(*stored);
}

void ElementAssignments::check_holds(Kind kind, Kind made, const Syntax& augmented) const {
    if (made <= kind) return;
    const std::string wanted(name(made));
    std::string instead = "An array of " + wanted + " is required.";
    const SyntaxRef& target = augmented.at(Field::target);
    if (target->form == Form::name) {
        Syntax written_out = augmented;
        written_out.form = Form::binary;
        written_out.is_statement = false;
        written_out.children = {{target, Field::left}, {augmented.at(Field::value), Field::right}};
        instead = "Write " + target->name + " = " + shown(written_out) + ".";
    }
    throw Mismatch("`" + shown(augmented) + "` puts " + wanted + "s into an array of " +
                       std::string(name(kind)),
                   instead);
}

void ElementAssignments::augment(const StoredRef& stored, const Given& given,
                                 const std::string& symbol, const Value& value) {
    const Operators& operators = arrays.operators;
    const Index places = element(*stored, given);
    if ((symbol == "+" || symbol == "-") && stored->kind == Kind::floating) {
        Value number = scalar(value);
        if (symbol == "-") number = operators.unary("-", number);
        const Expr added = operators.cast(number, Kind::floating);
        std::vector<Expr> indices;
        for (const Value& place : places) indices.push_back(arrays.code.integer(place));
        arrays.code.add(Statement::write(Statement::Kind::add, stored->number, std::move(indices),
                                         added, arrays.code.line));
        return;
    }
    const Value old = stored->at(places);
    arrays.storage.store(*stored, places, operators.binary(symbol, old, scalar(value)));
}

}  // namespace composit::knossos
