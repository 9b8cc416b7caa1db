// What names mean.
#include "composit/knossos/scope.h"

#include "composit/knossos/syntax_text.h"

#include <algorithm>

namespace composit::knossos {
namespace {

// What to write before a branch, so that a variable has a value behind it.
std::string first_value(const Structure* structure, std::optional<Kind> kind) {
    if (structure && structure->is_variable()) {
        std::string extents;
        for (size_t i = 0; i < structure->stored->shape.size(); ++i) extents += i ? ", n" : "n";
        const bool is_one = structure->stored->shape.size() == 1;
        return " = np.zeros(" + (is_one ? extents : "(" + extents + ")") + ")";
    }
    if (!kind && structure && structure->sort == Structure::Sort::number) kind = structure->kind;
    if (kind == Kind::floating) return " = 0.0";
    if (kind == Kind::integer) return " = 0";
    return kind == Kind::boolean ? " = False" : " = …";
}

NameSet appended_in_function(const Syntax& tree) {
    NameSet names;
    for (const SyntaxRef& each : tree.all(Field::body)) names.merge(mentioned(*each).appended);
    return names;
}

}  // namespace

bool InnerFunction::is_same(const FunctionValue& other) const {
    const auto* inner = dynamic_cast<const InnerFunction*>(&other);
    return inner && inner->source->tree == source->tree;
}

bool OuterFunction::is_same(const FunctionValue& other) const {
    const auto* outer = dynamic_cast<const OuterFunction*>(&other);
    return outer && outer->function->identity() == function->identity();
}

const FunctionValue* function_value(const Value& value) {
    const auto* other = value.as<std::shared_ptr<const Other>>();
    return other ? dynamic_cast<const FunctionValue*>(other->get()) : nullptr;
}

StructureRef function_structure(const Value& function) {
    Structure made{.sort = Structure::Sort::function};
    made.function = function;
    return std::make_shared<const Structure>(std::move(made));
}

Scope::Scope(Code& code, const Outside& outside, SourceRef source_, NameSet names)
    : code(code),
      outside(outside),
      source(std::move(source_)),
      locals(std::make_shared<const NameSet>(std::move(names))),
      appended(appended_in_function(*source->tree)),
      loops(std::make_shared<std::vector<LoopRef>>()) {}

void Scope::declare(StructureRef structure) {
    declared = std::move(structure);
    declared_kinds.reset();
    if (declared) declared_kinds = kinds_of_numbers(declared);
}

const StructureRef& Scope::defined_variable(const Syntax& part, const std::string& name) const {
    const auto found = structures.find(name);
    const Structure* structure = found == structures.end() ? nullptr : found->second.get();
    if (!structure || !is_defined(name))
        refuse(part, name + " may have no value here",
               "Give it one on every path that leads here, as " + name +
                   first_value(structure, code.kind_named(name)) + " before the branch or loop.",
               Refusal::Class::name);
    return found->second;
}

Value Scope::leaf_or_array(const StructureRef& structure, const std::string& name) const {
    return built(structure, [this](const std::string& part) { return code.leaf(part); }, name);
}

StructureRef Scope::structure_named(const std::string& name) const {
    const auto found = structures.find(name);
    return found == structures.end() ? nullptr : found->second;
}

bool Scope::is_read_behind_a_break(const std::string& name) const {
    return std::any_of(loops->begin(), loops->end(), [&](const LoopRef& loop) {
        const auto& stops = loop->defined_at_stops;
        return std::any_of(stops.begin(), stops.end(),
                           [&](const NameSet& names) { return names.contains(name); });
    });
}

ObjectRef Scope::meaning(const SyntaxRef& part) const {
    const ObjectRef found = meaning_or_none(part);
    if (!found)
        refuse(*part, "`" + shown(*part) + "` means nothing", "Is it spelled as it is defined?",
               Refusal::Class::name);
    return found;
}

ObjectRef Scope::meaning_or_none(const SyntaxRef& part) const {
    if (part->form == Form::name)
        return locals->contains(part->name) ? nullptr : source->meaning(part->name);
    if (part->form != Form::attribute) return nullptr;
    const ObjectRef holder = meaning_or_none(part->at(Field::value));
    return holder ? outside.part(*holder, part->name) : nullptr;
}

std::string Scope::name_of_called(const Syntax& call) const {
    if (call.form != Form::call) return "";
    const ObjectRef function = meaning_or_none(call.at(Field::function));
    return function ? outside.name_of(*function) : "";
}

bool Scope::is_local(const std::string& name) const {
    return locals->contains(name) ||
           std::any_of(bound.begin(), bound.end(),
                       [&](const Bound& names) { return names->contains(name); });
}

void Scope::check_module(const Syntax& attribute) const {
    const SyntaxRef& of = attribute.at(Field::value);
    const ObjectRef holder = meaning_or_none(of);
    if (holder && outside.is_module(*holder) && !outside.part(*holder, attribute.name))
        refuse(attribute, shown(*of) + " has no " + attribute.name,
               "Is it spelled as it is defined?", Refusal::Class::name);
}

Value Scope::from_outside(const Syntax& part, const Other& found) const {
    try {
        return outside.value_of(found, shown(part));
    } catch (const RefusedOutside& error) {
        refuse(part, error.what(), error.instead, error.kind);
    }
}

WithinFunction::WithinFunction(Scope& scope, SourceRef source, NamesRef names,
                               std::vector<Bound> bound)
    : scope_(scope),
      source_(std::exchange(scope.source, std::move(source))),
      locals_(std::exchange(scope.locals, std::move(names))),
      bound_(std::exchange(scope.bound, std::move(bound))),
      defined_(scope.defined),
      declared_(scope.declared),
      declared_kinds_(scope.declared_kinds),
      loops_(std::exchange(scope.loops, std::make_shared<std::vector<LoopRef>>())) {
    scope.is_in_library.push_back(scope.source->is_in_library);
}

WithinFunction::~WithinFunction() {
    scope_.is_in_library.pop_back();
    scope_.source = std::move(source_);
    scope_.locals = std::move(locals_);
    scope_.bound = std::move(bound_);
    scope_.defined = std::move(defined_);
    scope_.declared = std::move(declared_);
    scope_.declared_kinds = std::move(declared_kinds_);
    scope_.loops = std::move(loops_);
}

}  // namespace composit::knossos
