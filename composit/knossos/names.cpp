// What names and attributes are.
#include "composit/knossos/names.h"

#include "composit/knossos/syntax_text.h"

namespace composit::knossos {

Value Names::of_constant(const SyntaxRef& part) {
    if (!part->number.is_number())
        scope.refuse(*part, part->text + " is no number",
                     part->is_none ? "Assign a number, such as 0.0, until there is another one."
                                   : "Kernels compute with numbers.");
    return part->number;
}

Value Names::of_name(const SyntaxRef& part) {
    for (auto names = scope.bound.rbegin(); names != scope.bound.rend(); ++names)
        if (const auto found = (*names)->find(part->name); found != (*names)->end())
            return found->second;
    if (scope.locals->contains(part->name)) {
        const StructureRef structure = scope.defined_variable(*part, part->name);
        return structure->list ? lists.value(*structure->list)
                               : scope.leaf_or_array(structure, part->name);
    }
    return scope.from_outside(*part, *scope.meaning(part));
}

Value Names::of_attribute(const SyntaxRef& part) {
    if (const ObjectRef found = scope.meaning_or_none(part))
        return scope.from_outside(*part, *found);
    scope.check_module(*part);
    const SyntaxRef& of = part->at(Field::value);
    const Value holder = expressions.value(of);
    if (const ArrayRef array = holder.array()) return arrays.attribute(array, part->name);
    std::string instead = "Numbers have no parts.";
    if (const Record* record = holder.record()) {
        instead = "It has ";
        for (const auto& [name, value] : record->fields) {
            if (name == part->name) return value;
            instead += (&name == &record->fields.front().first ? "" : ", ") + name;
        }
        instead += ".";
    } else if (holder.tuple()) {
        instead = "Tuples have parts by index: write " + shown(*of) + "[0].";
    }
    scope.refuse(*part, shown(*of) + " has no part " + part->name, instead, Refusal::Class::name);
}

Value Names::function_inside(const SyntaxRef& tree) {
    if (tree->at(Field::other_parameter))
        scope.refuse(*tree, tree->name + " has other arguments than plain ones",
                     "Write its arguments one by one.");
    if (tree->at(Field::decorator))
        scope.refuse(*tree, tree->name + " has a decorator", "Leave it out.");
    const auto source = SourceWithin::inner(scope.source, tree);
    const auto initial = tree->all(Field::initial);
    const auto names = source->parameters();
    for (size_t i = 0; i < initial.size(); ++i)
        source->defaults.emplace_back(names[names.size() - initial.size() + i],
                                      expressions.value_or_function(initial[i]));
    return std::shared_ptr<const Other>(
        std::make_shared<InnerFunction>(source, scope.locals, scope.bound));
}

}  // namespace composit::knossos
