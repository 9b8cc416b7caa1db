// Arguments as parameters.
#include "composit/knossos/parameters.h"

#include <algorithm>

namespace composit::knossos {
namespace {

using Sort = Structure::Sort;

bool fits(const Value& value, Kind kind) {
    const bool is_integer = value.plain_integer() || value.as<Large>();
    if (kind == Kind::floating) return is_integer || value.as<double>();
    return kind == Kind::integer ? is_integer : value.as<bool>() != nullptr;
}

}  // namespace

void Parameters::add(const Syntax& function) {
    check_head(function);
    const auto arguments = function.all(Field::parameter);
    const auto structures = scope.source->structures();
    for (size_t i = 0; i < std::min(arguments.size(), structures.size()); ++i) {
        const std::string& name = arguments[i]->name;
        check_default(*arguments[i], *structures[i]);
        scope.structures[name] = add_parts(name, structures[i]);
        scope.defined->insert(name);
    }
    code.parameter_count = code.count_of_variables();
}

void Parameters::check_head(const Syntax& function) const {
    for (const char* what :
         {"*args", "**kwargs", "arguments by name only", "arguments by position only"})
        for (const SyntaxRef& each : function.all(Field::other_parameter))
            if (each->letters == what)
                scope.refuse(function, std::string("it has ") + what,
                             "Plain annotated arguments are required.");
    if (!function.at(Field::parameter))
        scope.refuse(function, "it has no arguments", "At least one number is required.");
}

void Parameters::check_default(const Syntax& parameter, const Structure& structure) const {
    for (const auto& [name, value] : scope.source->defaults) {
        if (name != parameter.name) continue;
        const bool is_number = structure.sort == Sort::number;
        if (is_number && fits(value, structure.kind)) return;
        scope.refuse(parameter, "the default of " + name + " is " + text_of(value),
                     is_number ? "A number of type " + std::string(knossos::name(structure.kind)) +
                                     " is required."
                               : "Numbers alone have defaults.",
                     Refusal::Class::type);
    }
}

StructureRef Parameters::add_parts(const std::string& name, const StructureRef& structure) {
    if (structure->sort == Sort::tensor) {
        const StructureRef made = variable_structure(add_array(name, *structure));
        scope.structures[name] = made;
        return made;
    }
    if (structure->sort == Sort::parts) {
        Structure made = *structure;
        for (auto& [key, part] : made.parts) part = add_parts(name + "." + key, part);
        return std::make_shared<const Structure>(std::move(made));
    }
    code.head.push_back(code.add_variable(name, structure->kind));
    scope.defined->insert(name);
    return structure;
}

const std::string& Parameters::symbol(const std::string& extent, std::vector<int>& added) {
    const auto known = scope.symbols.find(extent);
    if (known != scope.symbols.end()) return known->second;
    const auto arguments = scope.source->parameters();
    std::string name = extent;
    while (std::find(arguments.begin(), arguments.end(), name) != arguments.end() ||
           code.assigned.contains(name) || code.has(name))
        name += "_";
    added.push_back(code.add_variable(name, Kind::integer));
    return scope.symbols[extent] = name;
}

StoredRef Parameters::add_array(const std::string& wanted, const Structure& structure) {
    std::vector<Value> shape;
    std::vector<int> added;  // named extents are parameters, too
    for (const auto& extent : structure.extents)
        if (const auto* name = std::get_if<std::string>(&extent))
            shape.emplace_back(code.leaf(symbol(*name, added)));
        else
            shape.push_back(std::get<Value>(extent));
    StoredRef stored = storage.add_array(wanted, structure.kind, std::move(shape), Role::input);
    code.head.push_back(-1 - stored->number);
    code.head.insert(code.head.end(), added.begin(), added.end());
    return stored;
}

}  // namespace composit::knossos
