// What stands between brackets.
#include "composit/knossos/subscripts.h"

#include "composit/base/text.h"
#include "composit/knossos/syntax_text.h"

#include <algorithm>

namespace composit::knossos {
namespace {

// The elements of a tuple that Python's slice takes.
Value sliced_tuple(const Tuple& tuple, std::optional<int64_t> start, std::optional<int64_t> stop,
                   int64_t step) {
    const auto size = static_cast<int64_t>(tuple.parts.size());
    if (step == 0) throw Mismatch("slice step cannot be zero", "Another integer is required.");
    step = std::clamp(step, -size - 1, size + 1);  // as far as any other that leads out
    const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
    const auto within = [&](std::optional<int64_t> bound, int64_t otherwise) {
        if (!bound) return otherwise;
        return std::clamp(*bound < 0 ? *bound + size : *bound, least, most);
    };
    const int64_t first = within(start, step > 0 ? 0 : most);
    const int64_t last = within(stop, step > 0 ? size : -1);
    std::vector<Value> parts;
    for (int64_t i = first; step > 0 ? i < last : i > last; i += step)
        parts.push_back(tuple.parts[static_cast<size_t>(i)]);
    return tuple_of(std::move(parts));
}

}  // namespace

Value Subscripts::of_tuple(const SyntaxRef& part) {
    std::vector<Value> parts;
    for (const SyntaxRef& each : part->all(Field::element))
        parts.push_back(expressions.value_or_function(each));
    return tuple_of(std::move(parts));
}

Value Subscripts::of_list(const SyntaxRef& part) {
    std::vector<Value> parts;
    for (const SyntaxRef& each : part->all(Field::element))
        parts.push_back(expressions.value(each));
    return tuple_of(std::move(parts), true);
}

Value Subscripts::of_subscript(const SyntaxRef& part) {
    const Value whole = expressions.value(part->at(Field::value));
    const SyntaxRef& between = part->at(Field::index);
    if (const ArrayRef array = whole.array()) return slices.indexed(array, indices(between));
    const Value holder = unnamed(whole);
    if (between->form == Form::slice) return slice_of(*between, holder);
    const Value index = expressions.value(between);
    const Tuple* tuple = holder.tuple();
    if (!tuple)
        throw Mismatch(with_article(kind_of(holder)) + " is indexed", "Arrays and tuples are.");
    const auto at = index.integer();
    if (!at)
        throw Mismatch("the index is not known",
                       "A literal integer, or a comprehension's, is required: write np.array(" +
                           shown(*part->at(Field::value)) + ")[" + shown(*between) + "].");
    const auto size = static_cast<int64_t>(tuple->parts.size());
    if (*at < -size || *at >= size)
        scope.refuse(*part, text("index ", text_of(index), " of a tuple of ", size),
                     "One that it has is required.", Refusal::Class::index);
    return tuple->parts[static_cast<size_t>(*at < 0 ? *at + size : *at)];
}

Value Subscripts::slice_of(const Syntax& slice, const Value& holder) {
    std::vector<Value> bounds;
    bool are_known = true;
    for (const Field field : {Field::lower, Field::upper, Field::step}) {
        bounds.push_back(expressions.value_if_any(slice.at(field)));
        are_known = are_known && (bounds.back().is_nothing() || bounds.back().integer());
    }
    if (const Tuple* tuple = holder.tuple(); tuple && are_known)
        return sliced_tuple(*tuple, bounds[0].integer(), bounds[1].integer(),
                            bounds[2].integer().value_or(1));
    throw Mismatch("a slice of " + with_article(kind_of(holder)),
                   "Arrays, and tuples by literal integers, are sliced.");
}

std::vector<Subscript> Subscripts::indices(const SyntaxRef& part) {
    std::vector<Subscript> made;
    if (part->form == Form::tuple) {
        for (const SyntaxRef& each : part->all(Field::element)) made.push_back(subscript(each));
        return made;
    }
    if (part->form == Form::slice || is_new_axis(*part)) return {subscript(part)};
    const Value value = index(part);
    if (const Tuple* tuple = value.tuple()) {
        for (const Value& each : tuple->parts) made.push_back(Subscript::at(each));
        return made;
    }
    return {Subscript::at(scalar(value))};
}

Subscript Subscripts::subscript(const SyntaxRef& part) {
    if (is_new_axis(*part)) return Subscript::new_axis();
    if (part->form != Form::slice) return Subscript::at(scalar(index(part)));
    const SyntaxRef &lower = part->at(Field::lower), &upper = part->at(Field::upper),
                    &step = part->at(Field::step);
    if (!lower && !upper && !step) return Subscript::whole();
    Value start = expressions.value_if_any(lower), stop = expressions.value_if_any(upper);
    return Subscript::slice(std::move(start), std::move(stop), expressions.value_if_any(step));
}

// None or np.newaxis.
bool Subscripts::is_new_axis(const Syntax& part) const {
    if (part.form != Form::attribute) return part.form == Form::constant && part.is_none;
    if (part.name != "newaxis") return false;
    const ObjectRef holder = scope.meaning_or_none(part.at(Field::value));
    return holder && scope.outside.name_of(*holder) == "numpy";
}

// An index, but nothing that NumPy takes several elements by.
Value Subscripts::index(const SyntaxRef& part) {
    Value value = expressions.value(part);
    const Tuple* tuple = value.tuple();
    const ArrayRef array = value.array();
    if (array || (tuple && tuple->is_list))
        throw Mismatch((array ? "an array of " + std::string(name(array->kind)) + "s" : "a list") +
                           std::string(" as an index"),
                       "Write a loop over the places.");
    return value;
}

}  // namespace composit::knossos
