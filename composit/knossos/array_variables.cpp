// Which array a name stands for.
#include "composit/knossos/array_variables.h"

#include "composit/base/text.h"

#include <algorithm>

namespace composit::knossos {
namespace {

StoredRef stored_of(const StructureRef& structure) {
    return structure && structure->is_variable() ? structure->stored : nullptr;
}

}  // namespace

void ArrayVariables::assign(const std::string& name, const ArrayRef& value, const Syntax& part) {
    const StoredRef before = stored_of(scope.structure_named(name));
    assign_array(name, value, part);
    const bool is_other = before && before != stored_of(scope.structures[name]);
    // A name of a loop that is written out may stand for the array, too.
    const bool has_bound = std::any_of(scope.bound.begin(), scope.bound.end(),
                                       [](const Bound& names) { return !names->empty(); });
    if (is_other && !before->is_argument && !has_bound) sharing.let_go(before->number);
}

bool ArrayVariables::has_shape(const Stored& stored, const Array& value) const {
    return std::equal(stored.shape.begin(), stored.shape.end(), value.shape.begin(),
                      value.shape.end(), [&](const Value& a, const Value& b) {
                          return same(integers.resolved(a), integers.resolved(b));
                      });
}

// Whether what is assigned in the block that made the array is an array of its own: it is made of
// the one before, or has another form.
bool ArrayVariables::is_another(const Structure& known, const Array& value) const {
    const Stored& stored = *known.stored;
    const bool has_form = stored.kind == value.kind && has_shape(stored, value);
    return !has_form || value.reads.contains(stored.number);
}

StructureRef ArrayVariables::kept(const std::string& name, const Array& value) {
    StructureRef known = scope.structure_named(name);
    if (!stored_of(known)) return known;
    if (known->stored->is_argument) {
        begin_copying(name);
        return nullptr;
    }
    const bool is_read_later = scope.is_read_behind_a_break(whole_of(name));
    if (known->block == code.out && is_another(*known, value) && !is_read_later) return nullptr;
    return known;
}

void ArrayVariables::assign_array(const std::string& name, const ArrayRef& value,
                                  const Syntax& part) {
    const StoredRef own = knossos::stored(value);
    const StoredRef before = stored_of(scope.structure_named(name));
    // One made in a branch or loop that has ended can be read no more.
    const bool has_ended =
        before && sharing.ended.contains(before->number) && !scope.is_defined(whole_of(name));
    if (before && !has_ended && own && before->number == own->number) return;
    const StructureRef known = has_ended ? nullptr : kept(name, *value);
    const bool is_new = own && !own->is_argument && sharing.fresh.contains(own->number);
    StoredRef target;
    ArrayRef made = value;
    if (!known) {
        if (is_new) {
            rename(own, name);
            sharing.fresh.erase(own->number);
            scope.structures[name] = variable_structure(own, code.out);
            return;
        }
        target = storage.add_array(name, value->kind, value->shape, Role::local, value->lists);
        scope.structures[name] = variable_structure(target, code.out);
    } else if (!stored_of(known) || known->outline() != structure_of_value(value)->outline()) {
        scope.refuse(part,
                     text(name, " is an array of ", value->shape.size(), " axes here and ",
                          known->outline(), " before"),
                     "A variable keeps its structure: use another name.", Refusal::Class::type);
    } else {
        target = known->stored;
        integers.require_shape(target->shape, value->shape);
        if (value->needs_others(target->number)) made = storage.copied(*value);
        sharing.overwritten(target->number);
    }
    const bool is_again = known && known->block != code.out;
    if (made->reads.contains(target->number))  // each element its own: the array is not made anew
        storage.store_all(*target, *made);
    else
        storage.fill(*target, *made, is_again);
    sharing.copy_of_parts(*target, *made);
}

// A name of an argument is assigned: in the outermost block it stands for another array from here
// on; elsewhere for an array of its own from the beginning, which is a copy.
void ArrayVariables::begin_copying(const std::string& name) {
    if (scope.nesting == 0) return;
    found.copied.insert(name);
    throw Restart();
}

void ArrayVariables::copy_arguments(const Syntax& function) {
    for (const SyntaxRef& argument : function.all(Field::parameter)) {
        const std::string& name = argument->name;
        if (!found.copied.contains(name)) continue;
        const Value value = scope.leaf_or_array(scope.structures.at(name), name);
        scope.structures[name] = structure_with(
            value, name,
            [&](const std::string& own, const ArrayRef& array) { return copy_of(own, array); });
    }
}

StructureRef ArrayVariables::copy_of(const std::string& name, const ArrayRef& value) {
    const StoredRef made = storage.add_array(name, value->kind, value->shape);
    storage.fill(*made, *value);
    sharing.copy_of_parts(*made, *value);
    return scope.structures[name] = variable_structure(made, code.out);
}

void ArrayVariables::assign_arrays(const std::vector<std::pair<std::string, ArrayRef>>& pairs,
                                   const Syntax& part) {
    Numbers assigned;
    std::vector<ArrayRef> values;
    for (const auto& [name, each] : pairs) {
        const bool reads = std::any_of(each->reads.begin(), each->reads.end(),
                                       [&](int number) { return assigned.contains(number); });
        values.push_back(reads ? ArrayRef(storage.copied(*each)) : each);
        if (const StoredRef known = stored_of(scope.structure_named(name)))
            assigned.insert(known->number);
    }
    for (size_t i = 0; i < pairs.size(); ++i) assign(pairs[i].first, values[i], part);
}

void ArrayVariables::rename(const StoredRef& stored, const std::string& name) {
    if (storage.taken_names().contains(name)) return;
    code.arrays[static_cast<size_t>(stored->number)].name = name;
    stored->name = name;
}

}  // namespace composit::knossos
