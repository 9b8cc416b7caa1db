// Which part knows a function of arrays.
#include "composit/knossos/array_functions.h"

#include "composit/base/text.h"

#include <algorithm>

namespace composit::knossos {
namespace {

std::vector<ArrayRef> arrays_of(const std::string& function, const std::vector<Value>& given,
                                size_t count) {
    std::vector<ArrayRef> arrays;
    for (const Value& each : given)
        if (const ArrayRef array = each.array()) arrays.push_back(array);
    if (given.size() != count || arrays.size() != count)
        throw Mismatch(text(last_name(function), " of something else than ", count, " arrays"),
                       "Arrays are required.");
    return arrays;
}

// An array of the same elements, which is no list and shares them with no other.
ArrayRef plain(const ArrayRef& given) {
    return array(given->kind, given->shape, given->at, {.reads = given->reads});
}

ArrayRef transposed(const ArrayRef& given) {
    std::vector<Value> shape(given->shape.rbegin(), given->shape.rend());
    const auto at = [given](const Index& indices) {
        return given->at(Index(indices.rbegin(), indices.rend()));
    };
    return array(given->kind, std::move(shape), at,
                 {.reads = given->reads, .parts_of = given->parts_of});
}

// What an array like another one is filled with; nothing for other functions.
std::optional<double> filled_like(const std::string& function) {
    if (function == "numpy.zeros_like" || function == "numpy.empty_like") return 0.0;
    return function == "numpy.ones_like" ? std::optional(1.0) : std::nullopt;
}

ArrayRef outer(const Operators& operators, const std::vector<ArrayRef>& given) {
    const ArrayRef a = given[0], b = given[1];
    if (a->shape.size() != 1 || b->shape.size() != 1)
        throw Mismatch("an outer product of arrays of several axes", "Write a loop.");
    const bool is_float = a->kind == Kind::floating || b->kind == Kind::floating;
    const auto at = [&operators, a, b](const Index& indices) {
        const Value factor = a->at({indices[0]});
        return operators.binary("*", factor, b->at({indices[1]}));
    };
    return array(is_float ? Kind::floating : Kind::integer, {a->shape[0], b->shape[0]}, at,
                 {.reads = reads_of(given)});
}

}  // namespace

ArrayFunctions::ArrayFunctions(DType dtype, Found& found, std::set<std::string> assigned,
                               std::map<std::string, int> count_of_assignments, KnownFunction known)
    : operators(dtype, found.has_arrays, std::move(known)),
      code(operators, std::move(assigned), std::move(count_of_assignments)),
      integers(code),
      sharing(code, found),
      storage(code, integers, sharing, found),
      elements(code, integers, storage),
      slices(code, integers),
      makers(code, integers, sharing, storage, elements),
      reductions(code, integers, storage, elements),
      accumulations(code, storage, elements, slices, reductions),
      composed(code, integers, storage, elements, slices, reductions),
      einsum(code, integers, elements, reductions) {}

bool ArrayFunctions::makes_arrays(const std::string& function) {
    return Makers::has(function) || Composed::is_join(function);
}

Value ArrayFunctions::attribute(const ArrayRef& array, const std::string& name) {
    if (name == "shape") return tuple_of(array->shape);
    if (name == "ndim") return array->rank();
    if (name == "size") return reductions.size_of(array->shape);
    if (name == "T") return transposed(array);
    throw Mismatch("arrays have no attribute " + name + " here", "shape, ndim, size and T are.");
}

ArrayRef ArrayFunctions::binary(const std::string& symbol, const Value& a, const Value& b) {
    return elements.elementwise(
        [this, symbol](const std::vector<Value>& x) {
            return operators.of_elements(symbol, x[0], x[1]);
        },
        {a, b});
}

ArrayRef ArrayFunctions::unary(const std::string& symbol, const Value& value) {
    return elements.elementwise(
        [this, symbol](const std::vector<Value>& x) { return operators.of_element(symbol, x[0]); },
        {value});
}

ArrayRef ArrayFunctions::compare(const std::string& symbol, const Value& a, const Value& b) {
    return elements.elementwise(
        [this, symbol](const std::vector<Value>& x) {
            return operators.compare(symbol, x[0], x[1]);
        },
        {a, b});
}

ArrayRef ArrayFunctions::in_kind(const ArrayRef& array, Kind kind) {
    if (kind == array->kind) return plain(array);
    return elements.of_function(std::string(name(kind)), {array});
}

std::optional<Value> ArrayFunctions::call(std::string function, std::vector<Value> given,
                                          Named named) {
    if (Composed::has(function)) return composed.call(function, given, named);
    if (Accumulations::has(function)) return accumulations.call(function, given, std::move(named));
    if (function == "any" || function == "all") {
        const ArrayRef array = arrays_of(function, given, 1)[0];
        if (array->shape.size() != 1)
            throw Mismatch(function + " of several axes", "Write np." + function + ".");
        function = "numpy." + function;
        given = {plain(array)};
    }
    if (Makers::has(function)) return makers.call(function, std::move(given), std::move(named));
    if (const auto axis = taken(named, "axis"); axis && !axis->is_nothing()) given.push_back(*axis);
    const auto filled = filled_like(function);
    const auto dtype = filled ? taken(named, "dtype") : std::nullopt;
    const bool is_reduction = Reductions::has(function) || Reductions::is_of_truths(function);
    const auto keepdims = is_reduction ? taken(named, "keepdims") : std::nullopt;
    if (!named.empty())
        throw Mismatch("the argument " + named[0].first + " of " + last_name(function),
                       named[0].first == "where"
                           ? "Write np.where(condition, x, other) for the array."
                           : "Leave it out.");
    if (filled) {
        const ArrayRef array = arrays_of(function, given, 1)[0];
        const Kind* kind = dtype ? dtype->as<Kind>() : nullptr;
        return makers.constant(array->shape, kind ? *kind : array->kind, *filled);
    }
    if (is_reduction || function == "sum" || function == "max" || function == "min")
        return reductions.call(function, given, keepdims.value_or(false));
    return called(function, given);
}

std::optional<Value> ArrayFunctions::called(const std::string& function,
                                            const std::vector<Value>& given) {
    if (function == "numpy.copy") return plain(arrays_of(function, given, 1)[0]);
    if (function == "numpy.transpose") return transposed(arrays_of(function, given, 1)[0]);
    if (function == "numpy.dot" || function == "numpy.matmul") {
        const auto both = arrays_of(function, given, 2);
        return reductions.product(both[0], both[1]);
    }
    if (function == "numpy.outer") return outer(operators, arrays_of(function, given, 2));
    if (function == "len") return first_extent(*arrays_of(function, given, 1)[0]);
    if (function == "abs") return elements.of_function("numpy.absolute", given);
    if (function == "numpy.clip") {
        check_count("clip", given.size(), {3});
        return elements.of_function(function, given);
    }
    if (function == "stop_gradient") {
        const ArrayRef made = elements.of_function(function, given);
        made->parts_of = given[0].array()->parts_of;
        return made;
    }
    if (is_elementwise(function)) return elements.of_function(function, given);
    return std::nullopt;
}

}  // namespace composit::knossos
