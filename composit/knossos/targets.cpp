// Names and elements that are assigned.
#include "composit/knossos/targets.h"

#include "composit/base/text.h"
#include "composit/knossos/syntax_text.h"

#include <algorithm>

namespace composit::knossos {
namespace {

bool is_sequence(const Syntax& target) {
    return target.form == Form::tuple || target.form == Form::list;
}

}  // namespace

std::optional<std::vector<Value>> taken_apart(Slices& slices, const Value& value) {
    if (const Tuple* tuple = value.tuple()) return tuple->parts;
    const ArrayRef array = value.array();
    const auto count = array ? first_extent(*array).integer() : std::nullopt;
    if (!count) return std::nullopt;
    std::vector<Value> parts;
    for (int64_t k = 0; k < *count; ++k) parts.push_back(slices.row(array, k));
    return parts;
}

void Targets::spread(const SyntaxRef& target, const Value& value, const Assign& assign) {
    if (!is_sequence(*target)) {
        assign(target, value);
        return;
    }
    const auto elements = target->all(Field::element);
    const auto parts = value.record() ? parts_of_value(value) : taken_apart(slices, value);
    if (!parts || parts->size() != elements.size())
        scope.refuse(*target,
                     text("`", shown(*target), "` has ", elements.size(), " names for ",
                          parts ? text(parts->size()) : kind_of(value)),
                     "As many values as names are required.", Refusal::Class::value);
    for (size_t i = 0; i < elements.size(); ++i) spread(elements[i], (*parts)[i], assign);
}

const std::string& Targets::name_of(const SyntaxRef& target) const {
    if (target->form != Form::name)
        scope.refuse(*target, "`" + shown(*target) + "` is part of a value, which does not change",
                     "Make a new tuple or record with the part replaced.");
    return target->name;
}

void Targets::bind(const SyntaxRef& target, const Value& item) {
    auto names = std::make_shared<std::map<std::string, Value>>();
    spread(target, item,
           [&](const SyntaxRef& each, const Value& part) { (*names)[name_of(each)] = part; });
    scope.bound.push_back(std::move(names));
}

bool has_elements(const Syntax& target) {
    if (!is_sequence(target)) return target.form == Form::subscript;
    const auto elements = target.all(Field::element);
    return std::any_of(elements.begin(), elements.end(),
                       [](const SyntaxRef& each) { return has_elements(*each); });
}

}  // namespace composit::knossos
