// Calls that become statements.
#include "composit/knossos/inlining.h"

#include "composit/base/text.h"
#include "composit/ir/procedure/returns_in_loops.h"

#include <algorithm>

namespace composit::knossos {
namespace {

constexpr int most_calls = 500;

[[noreturn]] void refuse_end(const Source& source, const Syntax& part) {
    source.refuse(part, "its end can be reached without a return",
                  "Every path has to return a number.");
}

NameSet all_names(const Syntax& tree) {
    NameSet names;
    for (const Syntax* each : parts_by_level(tree))
        if (each->form == Form::name) names.insert(each->name);
    return names;
}

std::map<size_t, int64_t> literal_integers(const std::vector<Value>& arguments) {
    std::map<size_t, int64_t> known;
    for (size_t i = 0; i < arguments.size(); ++i)
        if (const auto integer = arguments[i].plain_integer()) known[i] = *integer;
    return known;
}

}  // namespace

Body statements_of(const Syntax& function) {
    Body body = function.all(Field::body);
    const bool has_documentation =
        body[0]->form == Form::expression && body[0]->at(Field::value)->form == Form::constant;
    if (has_documentation) body.erase(body.begin());
    return body;
}

bool Inlining::calls_itself(const SourceRef& source) const {
    std::set<const void*> seen;
    std::vector<SourceRef> pending{source};
    while (!pending.empty()) {
        const SourceRef here = pending.back();
        pending.pop_back();
        for (const Syntax* each : parts_by_level(*here->tree)) {
            const SyntaxRef& name = each->form == Form::call ? each->at(Field::function) : nullptr;
            if (!name || name->form != Form::name) continue;
            const ObjectRef meant = here->meaning(name->name);
            if (!meant) continue;
            const ObjectRef function = scope.outside.plain_function(meant);
            if (function->identity() == source->function) return true;
            if (!seen.insert(function->identity()).second) continue;
            if (const SourceRef text = scope.outside.text_behind(*function))
                pending.push_back(text);
        }
    }
    return false;
}

bool Inlining::becomes_statements(const Source& source) const {
    const Syntax& tree = *source.tree;
    if (found.has_arrays && holds(tree, {Form::raise})) return true;
    if (found.has_arrays &&
        holds(tree, {Form::branch, Form::choice, Form::loop, Form::repeat, Form::both}))
        return false;
    const SyntaxRef& result = tree.at(Field::result);
    if (!result || kinds_of_numbers(source.structure_of(*result, source.name)).size() < 2)
        return false;
    for (const Syntax* each : parts_by_level(tree)) {
        const bool is_loop = each->form == Form::loop || each->form == Form::repeat;
        if (is_loop && holds(*each, {Form::leave})) return false;
    }
    return true;
}

Value Inlining::inlined(const SyntaxRef& call, SourceRef source,
                        const std::vector<Value>& arguments, const InnerFunction* inner) {
    const size_t count = source->parameters().size();
    if (count != arguments.size())
        scope.refuse(*call, text(source->name, " of ", arguments.size(), " arguments"),
                     text("It has ", count, "."), Refusal::Class::type);
    const Known known = literal_integers(arguments);
    check_depth(*call, *source, known);
    ++stack.count_of_calls;
    const auto names = renamed_here(*source);
    const SyntaxRef text_of_function = source->tree;
    if (scope.is_library())  // which calls another of its functions
        source = SourceWithin::of_library(source, *scope.source, *call, source->tree->name);
    const SyntaxRef tree = renamed(*source->tree, names);
    if (!mentions.appended_in(text_of_function->all(Field::body)).empty())
        scope.appended.merge(mentions.appended_in(tree->all(Field::body)));
    NameSet own;
    for (const auto& [name, here] : names) own.insert(here);
    arrays.code.assigned.insert(own.begin(), own.end());
    std::vector<Bound> around;
    if (inner) {
        around = inner->names == scope.locals ? scope.bound : inner->bound;
        own.insert(inner->names->begin(), inner->names->end());
    }
    const int line = arrays.code.line;
    const auto out = std::make_shared<Block>();
    FrameRef frame;
    {
        const WithinFunction within(scope, source, std::make_shared<const NameSet>(std::move(own)),
                                    around);
        Values values = bound(*call, *tree, arguments);
        scope.bound = around;
        scope.bound.push_back(std::make_shared<const Values>(std::move(values)));
        scope.declare(returns.declared_by(*tree, true));
        frame = frame_of(call, *source, tree, known, inner != nullptr, out);
        run(call, tree, frame);
    }
    arrays.code.line = line;
    // Its own arrays have no names outside.
    for (int i = frame->first_array; i < arrays.code.count_of_arrays(); ++i)
        arrays.sharing.fresh.insert(i);
    const std::string& name = source->is_in_library ? source->called : source->tree->name;
    const auto joined_call = std::make_shared<ir::procedure::InlinedCall>(
        ir::procedure::InlinedCall{name, source->is_in_library, {}});
    for (Statement& each : out->statements) ir::procedure::join_call(each, joined_call);
    return value_of(*source, frame);
}

FrameRef Inlining::frame_of(const SyntaxRef& call, const Source& source, const SyntaxRef& tree,
                            const Known& known, bool is_inner, const BlockRef& block) {
    return std::make_shared<Frame>(
        Frame{.function = source.function,
              .place = call->place,
              .number = stack.count_of_calls,
              .known = known,
              .nesting = scope.nesting,
              .first_variable = arrays.code.count_of_variables(),
              .first_array = arrays.code.count_of_arrays(),
              .is_for_effect = call.get() == stack.called_for_effect,
              .names_around = is_inner ? mentioned(*source.tree).names : NameSet(),
              .has_raises = holds(*tree, {Form::raise}),
              .block = block});
}

void Inlining::run(const SyntaxRef& call, const SyntaxRef& tree, const FrameRef& frame) {
    const Emitting emitting(arrays.code, frame->block);
    stack.frames.push_back(frame);
    statements.run(statements_of(*tree));
    const bool is_joined = frame->joined || frame->has_raises;
    if (frame->is_for_effect && scope.defined && is_joined) returns.leave_call(*call, tuple_of({}));
    stack.frames.pop_back();
}

Inlining::Values Inlining::bound(const Syntax& call, const Syntax& tree,
                                 const std::vector<Value>& arguments) {
    Code& code = arrays.code;
    const auto parameters = tree.all(Field::parameter);
    NameSet names;
    for (const SyntaxRef& each : parameters) names.insert(each->name);
    for (const auto& [name, count] : counts_of_names(tree, true))
        // An argument that is assigned has two values.
        code.count_of_assignments[name] = count + (names.contains(name) ? 1 : 0);
    const auto reads = counts_of_names(tree, false);
    const NameSet rebound = rebound_in(tree);
    Values values;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const std::string& name = parameters[i]->name;
        Value value = argument_for(call, *parameters[i], arguments[i]);
        const bool is_assigned =
            !function_value(value) &&
            (value.array() ? rebound.contains(name) : code.times_assigned(name) > 1);
        if (is_assigned) {
            assignments.assign(name_at(name, call.place), value);
            continue;
        }
        const auto times = reads.find(name);
        const bool is_read_again = times != reads.end() && times->second > 1;
        if (is_read_again && !found.has_arrays && !function_value(value))
            value = sequences.as_before(value, {}, name);
        values[name] = std::move(value);
    }
    return values;
}

Value Inlining::argument_for(const Syntax& call, const Syntax& parameter, const Value& value) {
    if (function_value(value)) return value;
    const SyntaxRef& annotation = parameter.at(Field::annotation);
    const Source& source = *scope.source;
    if (!annotation || source.is_open(*annotation)) return as_argument(value);
    return fitting_argument(call, *source.structure_of(*annotation, source.name), value);
}

void Inlining::check_depth(const Syntax& call, const Source& source, const Known& known) const {
    for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
        if ((*frame)->function != source.function) continue;
        const bool is_smaller = std::any_of(known.begin(), known.end(), [&](const auto& each) {
            const auto before = (*frame)->known.find(each.first);
            return before != (*frame)->known.end() && each.second < before->second;
        });
        if (!is_smaller)
            scope.refuse(call, "it calls itself, to a depth that depends on values",
                         "An argument that is a literal integer at first and smaller in each "
                         "call, or a loop, is required.");
        break;
    }
    if (stack.count_of_calls >= most_calls)
        scope.refuse(call, text("more than ", most_calls, " calls become part of it"),
                     "Write a loop.");
}

std::map<std::string, std::string> Inlining::renamed_here(const Source& source) {
    const Code& code = arrays.code;
    NameSet taken = code.assigned;
    for (const auto& [name, number] : code.numbers) taken.insert(name);
    for (const auto& [name, structure] : scope.structures) taken.insert(name);
    taken.insert(scope.locals->begin(), scope.locals->end());
    for (const auto& array : code.arrays) taken.insert(array.name);
    std::vector<std::string> own = source.parameters();
    NameSet within = all_names(*source.tree);
    within.insert(own.begin(), own.end());
    NameSet assigned = mentions.assigned_in(source.tree->all(Field::body));
    for (const std::string& name : own) assigned.erase(name);
    own.insert(own.end(), assigned.begin(), assigned.end());
    std::map<std::string, std::string> names;
    for (const std::string& name : own) {
        std::string here = name;
        for (int k = 2; taken.contains(here) || (here != name && within.contains(here)); ++k)
            here = text(name, "_", k);
        names[name] = here;
        taken.insert(here);
    }
    return names;
}

Value Inlining::fitting_argument(const Syntax& call, const Structure& structure,
                                 const Value& value) {
    const ArrayRef array = value.array();
    if (structure.sort == Structure::Sort::tensor) {
        if (!array || array->shape.size() != structure.extents.size())
            scope.refuse(call,
                         text(with_article(kind_of(value)), " stands for an array of ",
                              structure.extents.size(), " axes"),
                         "Such an array is required.", Refusal::Class::type);
        return as_argument(value);
    }
    if (array)
        scope.refuse(call, "an array stands for " + structure.outline(),
                     "As the annotation says is required.", Refusal::Class::type);
    if (structure.sort != Structure::Sort::number) return value;
    if (structure.kind == Kind::floating) {
        const auto number = known_float(value);
        return number ? Value(*number) : Value(arrays.operators.cast(value, Kind::floating));
    }
    const auto own = kind(value);
    if (own != structure.kind && own != Kind::boolean) {
        const std::string wanted(name(structure.kind));
        scope.refuse(call, with_article(kind_of(value)) + " stands for " + wanted,
                     "A value of type " + wanted + " is required.", Refusal::Class::type);
    }
    return value;
}

Value Inlining::as_argument(const Value& value) {
    if (value.record()) return value;
    const auto stored = [&](const Value& leaf, const std::string&) -> Value {
        const ArrayRef array = leaf.array();
        return array ? Value(arrays.storage.stored(array, "argument")) : leaf;
    };
    return with_leaves(value, stored, true);
}

Value Inlining::value_of(const Source& source, const FrameRef& frame) {
    Code& code = arrays.code;
    const std::vector<Statement>& out = frame->block->statements;
    if (!frame->joined) {
        code.add(out);
        if (!frame->has_value && frame->is_for_effect) return {};
        if (!frame->has_value) refuse_end(source, *source.tree);
        return frame->value;
    }
    std::vector<int> results;
    std::vector<DType> dtypes;
    for (const Expr& each : frame->joined->variables()) {
        results.push_back(each.index());
        dtypes.push_back(each.dtype());
    }
    raising.check(frame->number, dtypes);
    if (!ir::procedure::always_leaves(out))
        refuse_end(source, *source.tree->all(Field::body).back());
    ir::procedure::Procedure around;
    around.variables = code.variables;
    const auto made = ir::procedure::assigning_results(out, around, results);
    if (around.variables.size() > code.variables.size())
        code.hidden_variable(ir::procedure::flag_of_returns, Kind::boolean);
    code.add(made);
    arrays.sharing.parts = joined(frame->states);
    return frame->joined->value();
}

}  // namespace composit::knossos
