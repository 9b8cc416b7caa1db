// What calls mean.
#include "composit/knossos/calls.h"

#include "composit/base/text.h"
#include "composit/ir/procedure/stand_ins.h"
#include "composit/knossos/syntax_text.h"

#include <algorithm>
#include <set>

namespace composit::knossos {
namespace {

bool is_any_array(const std::vector<Value>& values) {
    return std::any_of(values.begin(), values.end(),
                       [](const Value& each) { return each.array() != nullptr; });
}

bool are_numbers(const std::vector<Value>& values) {
    return std::all_of(values.begin(), values.end(),
                       [](const Value& each) { return each.is_number(); });
}

// NumPy's functions that go through tuples and lists as through arrays.
bool is_of_whole_arrays(const std::string& function) {
    static const std::set<std::string> all = {"numpy.dot",     "numpy.inner",  "numpy.vdot",
                                              "numpy.outer",   "numpy.matmul", "numpy.cumsum",
                                              "numpy.cumprod", "numpy.diff",   "numpy.linalg.norm"};
    return all.contains(function);
}

std::string field_names(const Record& record) {
    std::string all;
    for (const auto& [name, value] : record.fields) all += (all.empty() ? "" : ", ") + name;
    return all;
}

}  // namespace

Value Calls::of_call(const SyntaxRef& call) {
    const SyntaxRef& function = call->at(Field::function);
    if (function->form == Form::attribute && !scope.meaning_or_none(function))
        return method_call(call, function);
    const bool is_name = function->form == Form::name || function->form == Form::attribute;
    const bool is_local = function->form == Form::name && scope.is_local(function->name);
    if (is_name && !is_local) return call_of(call, scope.meaning(function));
    const Value called = expressions.value(function);
    if (const auto* inner = dynamic_cast<const InnerFunction*>(function_value(called)))
        return inner_call(call, *inner);
    if (const auto* outer = dynamic_cast<const OuterFunction*>(function_value(called)))
        return call_of(call, outer->function);
    scope.refuse(
        *call,
        "`" + shown(*call) + "` calls `" + shown(*function) + "`, " + with_article(kind_of(called)),
        "Functions are called.", Refusal::Class::type);
}

Value Calls::inner_call(const SyntaxRef& call, const InnerFunction& called) {
    auto given = arguments.by_position(*call);
    const Named named = arguments.by_name(*call);
    given = arguments.in_order(*call, *called.source, std::move(given), named);
    return inlining.inlined(call, called.source, given, &called);
}

Value Calls::call_of(SyntaxRef call, const ObjectRef& called) {
    const Callee function = scope.outside.callee(called);
    if (function.takes_extents) call = with_shape(call);
    call = with_dtype_by_name(call, function.name);
    if (const SyntaxRef loops = loops_of(*call, function.name)) {
        const InnerFunction inner(SourceWithin::inner(scope.source, loops), scope.locals,
                                  scope.bound);
        return inlining.inlined(call, inner.source, {}, &inner);
    }
    call = with_neutral_elements(call, function.name);
    if (auto made = special_call(*call, function.name)) return std::move(*made);
    return call_with(call, function, arguments.by_position(*call));
}

std::optional<Value> Calls::special_call(const Syntax& call, const std::string& name) {
    if (name == "numpy.einsum") return einsum(call);
    if (name == "knossos.require") {
        require(call);
        return Value();
    }
    const auto given = call.all(Field::argument);
    if (name == "float" && given.size() == 1 && given[0]->form == Form::constant)
        return float_of(given[0]);
    return std::nullopt;
}

Value Calls::call_with(const SyntaxRef& call, const Callee& function, std::vector<Value> given) {
    const std::string& name = function.name;
    if (name == "knossos.same_extents") {
        arrays.integers.require_same(given.at(0), given.at(1));
        return {};
    }
    if (name == "knossos.held" || name == "knossos.stand_in")
        return with_derivative_of(name == "knossos.held", given);
    if (function.library && are_numbers(given))
        return scope.outside.of_numbers(*function.object, given);
    if (function.library) return library_call(call, function, std::move(given));
    const Record* first = given.empty() ? nullptr : given[0].record();
    if (name == "dataclasses.replace" && first)
        return replaced(*call, *first, arguments.by_name(*call));
    if (function.is_record) return record(*call, function, given);
    if (!function.instead.empty())
        scope.refuse(*call, shown(*call->at(Field::function)) + " cannot be called in kernels",
                     function.instead);
    return other_call(call, function, std::move(given));
}

Value Calls::other_call(const SyntaxRef& call, const Callee& function, std::vector<Value> given) {
    const bool is_own = function.name == "stop_gradient";
    if (is_of_whole_arrays(function.name))
        for (Value& each : given)
            if (each.tuple()) each = *arrays.call("numpy.array", {each}, {});
    const bool is_of_arrays =
        is_any_array(given) && (function.is_of_numpy || is_own || !function.is_text);
    if (ArrayFunctions::makes_arrays(function.name) || is_of_arrays) {
        if (auto made = array_call(*call, function, given)) return std::move(*made);
        scope.refuse(*call, shown(*call->at(Field::function)) + " of arrays is not part of kernels",
                     "Write a loop over the elements.");
    }
    if (function.is_text && !is_own && !function.is_of_numpy)
        return text_call(call, function, std::move(given));
    if (call->at(Field::keyword)) throw Mismatch("arguments by name", "Give them by position.");
    if (auto made = call_function(arrays.operators, function.name, std::move(given)))
        return std::move(*made);
    scope.refuse(*call, shown(*call->at(Field::function)) + " cannot be called in kernels",
                 "Functions of math, numpy's and composit.numpy's of numbers, other kernels, and "
                 "plain functions can.");
}

std::optional<Value> Calls::array_call(const Syntax& call, const Callee& function,
                                       const std::vector<Value>& given) {
    return methods.call(function, given, arguments.by_name(call));
}

Value Calls::text_call(const SyntaxRef& call, const Callee& function, std::vector<Value> given) {
    const Named named = arguments.by_name(*call);
    const Outside& outside = scope.outside;
    const bool has_functions = std::any_of(given.begin(), given.end(), [](const Value& each) {
        return function_value(each) != nullptr;
    });
    const Other& object = *function.object;
    if (outside.becomes_part(object) || (has_functions && !function.is_kernel)) {
        const SourceRef source = outside.source_of(object);
        given = arguments.in_order(*call, *source, std::move(given), named);
        return inlining.inlined(call, source, given);
    }
    return kernel_call(call, *outside.kernel(object), std::move(given), named);
}

Value Calls::library_call(const SyntaxRef& call, const Callee& function, std::vector<Value> given) {
    const LibraryText& text_of_function = *function.library;
    const auto& axes = text_of_function.axes;
    const std::string name = shown(*call->at(Field::function));
    if (call->at(Field::keyword) || given.size() != axes.size())
        throw Mismatch(name + " of other arguments",
                       text(axes.size(), " by position are required."));
    for (size_t i = 0; i < given.size(); ++i)
        if (const Tuple* tuple = given[i].tuple(); axes[i] == 1 && tuple && !tuple->parts.empty())
            given[i] = arrays.makers.call("numpy.array", {given[i]}, {});
    for (size_t i = 0; i < given.size(); ++i)
        if (axes[i]) check_axes(name, given[i], *axes[i]);
    ObjectRef used = text_of_function.text;
    if (text_of_function.for_derivatives) {
        found.has_texts_for_derivatives = true;
        if (found.for_derivatives) used = text_of_function.for_derivatives;
    }
    const auto source = SourceWithin::of_library(scope.outside.source_of(*used), *scope.source,
                                                 *call, name.substr(name.rfind('.') + 1));
    const Value made = inlining.inlined(call, source, given);
    if (text_of_function.gives_list) made.array()->lists = 1;
    return made;
}

void Calls::check_axes(const std::string& name, const Value& argument, int wanted) const {
    const ArrayRef array = argument.array();
    const bool is_number =
        !array && !argument.tuple() && !argument.record() && !function_value(argument);
    const int axes = array ? array->rank() : is_number ? 0 : -1;
    if (axes == wanted) return;
    const char* required = wanted == 0   ? "A number is"
                           : wanted == 1 ? "An array of one axis is"
                                         : "A matrix is";
    throw Mismatch(name + " of " + (axes > 0 ? array->outline() : kind_of(argument)),
                   std::string(required) + " required; of larger ones, write a loop.");
}

Value Calls::with_derivative_of(bool is_held, const std::vector<Value>& given) {
    const Operators& operators = arrays.operators;
    const auto of_numbers = [&operators, is_held](const std::vector<Value>& numbers) -> Value {
        if (numbers[0].is_number() || kind(numbers[0]) != Kind::floating) return numbers[0];
        const Expr first = operators.cast(numbers[0], Kind::floating);
        if (is_held) return ir::procedure::held(first);
        return ir::procedure::stand_in(first, operators.cast(numbers.at(1), Kind::floating));
    };
    if (is_any_array(given)) return arrays.elements.elementwise(of_numbers, given);
    return of_numbers(given);
}

void Calls::require(const Syntax& call) {
    const auto given = call.all(Field::argument);
    const Value holds = arrays.operators.truth(expressions.value(given[0]));
    arrays.code.expect(arrays.operators.cast(holds, Kind::boolean), "LinAlgError",
                       given[1]->letters + "%s. Another one is required.");
}

Value Calls::float_of(const SyntaxRef& constant) const {
    if (const auto known = known_float(constant->number)) return *known;
    const auto number = constant->outer ? scope.outside.float_of(*constant->outer) : std::nullopt;
    if (!number) scope.refuse(*constant, constant->text + " is no number", "A number is required.");
    return *number;
}

Value Calls::einsum(const Syntax& call) {
    const auto given = call.all(Field::argument);
    if (given.empty() || given[0]->form != Form::constant || !given[0]->is_text)
        throw Mismatch("einsum whose first argument is no text",
                       "Subscripts that are literal are required, as \"ij,jk->ik\", and an array "
                       "for each.");
    if (const SyntaxRef& named = call.at(Field::keyword))
        throw Mismatch(
            "the argument " + (named->name.empty() ? "None" : named->name) + " of einsum",
            "Leave it out.");
    std::vector<Value> of;
    for (size_t i = 1; i < given.size(); ++i) of.push_back(expressions.value(given[i]));
    return arrays.einsum.call(given[0]->letters, of);
}

Value Calls::converted(const Syntax& call, const ArrayRef& array) {
    const auto given = call.all(Field::argument);
    SyntaxRef wanted = given.size() == 1 ? given[0] : nullptr;
    bool has_others = given.size() > 1;
    for (const SyntaxRef& each : call.all(Field::keyword))
        if (each->name == "dtype" && !wanted)
            wanted = each->at(Field::value);
        else if (each->name != "copy")
            has_others = true;
    if (!wanted || has_others)
        throw Mismatch("astype of other arguments", "Give it int, float or bool.");
    return arrays.in_kind(array, arguments.kind_of_dtype(wanted));
}

Value Calls::method_call(const SyntaxRef& call, const SyntaxRef& attribute) {
    scope.check_module(*attribute);
    const SyntaxRef& of = attribute->at(Field::value);
    const std::string& name = attribute->name;
    const Value holder = expressions.value(of);
    if (const ArrayRef array = holder.array()) {
        if (name == "astype") return converted(*call, array);
        auto given = arguments.by_position(*call);
        return methods.method(array, name, std::move(given), arguments.by_name(*call));
    }
    const Record* record = holder.record();
    if (record && name == "_replace" && !call->at(Field::argument))
        return replaced(*call, *record, arguments.by_name(*call));
    if (changes_length(name)) {
        const std::string list = shown(*of);
        scope.refuse(
            *call, "`" + shown(*call) + "` changes how many elements " + list + " has",
            "Write " + list + " = np.zeros(n) before the loop, and " + list + "[i] = … in it.");
    }
    scope.refuse(*call,
                 "`" + shown(*call) + "` calls a method of " +
                     (record ? record->made_by->name() : with_article(kind_of(holder))),
                 "Call a function of the value, defined outside or in math.");
}

Value Calls::replaced(const Syntax& call, const Record& record, const Named& given) const {
    Record made = record;
    for (const auto& [name, value] : given) {
        const auto field =
            std::find_if(made.fields.begin(), made.fields.end(),
                         [&name = name](const auto& each) { return each.first == name; });
        if (field == made.fields.end())
            scope.refuse(call, record.made_by->name() + " has the fields " + field_names(record),
                         "Give others of them by name.", Refusal::Class::type);
        field->second = value;
    }
    return std::make_shared<const Record>(std::move(made));
}

Value Calls::record(const Syntax& call, const Callee& made_by, const std::vector<Value>& given) {
    const Named named = arguments.by_name(call);
    try {
        return scope.outside.record(*made_by.object, given, named, shown(call));
    } catch (const RefusedOutside& error) {
        scope.refuse(call, error.what(), error.instead, error.kind);
    }
}

Value Calls::kernel_call(const SyntaxRef& call, const CalledKernel& kernel,
                         std::vector<Value> given, const Named& named) {
    const SourceRef source = kernel.source();
    const std::string name = kernel.name();
    if (!source && !named.empty())
        scope.refuse(*call, name + " is derived, and given arguments by name",
                     "Give them by position.", Refusal::Class::type);
    if (source) given = arguments.in_order(*call, *source, std::move(given), named);
    const bool is_plain = source && !kernel.has_derivative();
    // One that calls itself to a known depth is no procedure of its own.
    if (is_plain && inlining.calls_itself(source)) return inlining.inlined(call, source, given);
    const bool is_of_arrays = kernel.is_of_arrays();
    if (is_of_arrays && kernel.has_derivative())
        scope.refuse(*call, name + " has arrays and a derivative that was given",
                     "Such a kernel is not yet part of another: call it from Python.");
    if (is_of_arrays && !source)
        scope.refuse(*call, name + " is made of a kernel with arrays",
                     "Its derivatives and maps are not parts of others: call them from Python.");
    if (is_plain && (is_of_arrays || inlining.becomes_statements(*source)))
        return inlining.inlined(call, source, given);
    const auto structures = kernel.parameters();
    if (!source) {  // a derivative, which takes the numbers of tuples and records
        std::vector<Value> numbers;
        for (const Value& each : given)
            for (const auto& [path, leaf] : leaves_with_names(each)) numbers.push_back(leaf);
        given = std::move(numbers);
    }
    if (structures.size() != given.size())
        scope.refuse(*call, text(name, " of ", given.size(), " arguments"),
                     text("It has ", structures.size(), "."), Refusal::Class::type);
    std::vector<Expr> operands;
    for (size_t i = 0; i < given.size(); ++i) {
        const auto leaves = leaves_with_names(given[i]);
        const auto wanted = kinds_of_numbers(structures[i]);
        if (leaves.size() != wanted.size())
            scope.refuse(*call, text("an argument of ", name, " has ", leaves.size(), " numbers"),
                         text("It has ", wanted.size(), "."), Refusal::Class::type);
        for (size_t k = 0; k < leaves.size(); ++k)
            operands.push_back(operand(*call, name, leaves[k].second, wanted[k]));
    }
    return kernel.inside(std::move(operands), arrays.operators.dtype);
}

Expr Calls::operand(const Syntax& call, const std::string& of, const Value& leaf,
                    Kind wanted) const {
    const auto own = kind(leaf);
    if (wanted != Kind::floating && own != wanted && own != Kind::boolean)
        scope.refuse(call, of + " of a " + kind_of(leaf),
                     "A value of type " + std::string(name(wanted)) + " is required.",
                     Refusal::Class::type);
    return arrays.operators.cast(leaf, wanted);
}

}  // namespace composit::knossos
