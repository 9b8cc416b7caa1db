// Element by element.
#include "composit/knossos/elements.h"

#include <algorithm>

namespace composit::knossos {
namespace {

// Whether an array has an element for each one of the common shape.
bool is_of_all(const std::vector<Value>& shape, const std::vector<Value>& common) {
    if (shape.size() != common.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i)
        if (shape[i].is(1) && !common[i].is(1)) return false;
    return true;
}

Value element_of(const Value& value, const Index& indices) {
    const ArrayRef array = value.array();
    if (!array) return value;
    const size_t missing = indices.size() - array->shape.size();
    Index own;
    for (size_t i = 0; i < array->shape.size(); ++i)
        own.push_back(array->shape[i].is(1) ? Value(0) : indices[missing + i]);
    return array->at(own);
}

bool is_read(const Statement& statement) {
    return statement.kind == Statement::Kind::load || statement.kind == Statement::Kind::expect;
}

}  // namespace

std::vector<Value> Elements::broadcast(const std::vector<Value>& values) {
    size_t rank = 0;
    for (const Value& value : values)
        if (const ArrayRef array = value.array()) rank = std::max(rank, array->shape.size());
    std::vector<Value> common(rank, Value(1));
    for (const Value& value : values) {
        const ArrayRef array = value.array();
        if (!array) continue;
        for (size_t i = 0; i < array->shape.size(); ++i) {
            Value& here = common[rank - array->shape.size() + i];
            const Value& extent = array->shape[i];
            if (extent.is(1)) continue;
            if (here.is(1))
                here = extent;
            else
                integers_.require_same(here, extent);
        }
    }
    return common;
}

ArrayRef Elements::elementwise(Function function, std::vector<Value> values) {
    for (const Value& value : values)
        if (const ArrayRef array = value.array(); array && array->lists > 0)
            throw Mismatch("an operator of a list, which means something else in Python",
                           "Write np.array([…]) around the comprehension.");
    const std::vector<Value> shape = broadcast(values);
    for (Value& value : values) {
        const ArrayRef array = value.array();
        if (!array)
            value = computed_once(value);
        else if (!is_of_all(array->shape, shape))
            value = read_often(array);
    }
    ArrayOrigin origin;
    origin.elsewhere.emplace();
    for (const Value& value : values) {
        const ArrayRef array = value.array();
        if (!array) continue;
        origin.reads.insert(array->reads.begin(), array->reads.end());
        if (is_of_all(array->shape, shape))
            origin.elsewhere->insert(array->elsewhere.begin(), array->elsewhere.end());
        else
            origin.elsewhere->insert(array->reads.begin(), array->reads.end());
    }
    auto at = [function = std::move(function),
               values = std::move(values)](const Index& indices) -> Value {
        std::vector<Value> numbers;
        for (const Value& value : values) numbers.push_back(element_of(value, indices));
        return function(numbers);
    };
    const Kind kind = code_.kind_by_trial([&] { return at(shape); });
    return array(kind, shape, std::move(at), std::move(origin));
}

ArrayRef Elements::of_function(const std::string& function, const std::vector<Value>& arguments) {
    return elementwise(
        [this, function](const std::vector<Value>& numbers) {
            return function_of(code_.operators, function, numbers);
        },
        arguments);
}

ArrayRef Elements::read_often(const ArrayRef& array) {
    if (std::dynamic_pointer_cast<Stored>(array)) return array;
    Value element;
    bool is_plain = true;
    {
        const Emitting trial(code_);
        element = array->at(Index(array->shape.size(), Value(0)));
        const auto& statements = trial.block()->statements;
        is_plain = std::all_of(statements.begin(), statements.end(), is_read);
    }
    if (is_plain && (element.is_number() || function_in(*element.expr()).empty())) return array;
    return storage_.stored(array, "operand");
}

// A number for all elements: one that a function computes becomes a variable.
Value Elements::computed_once(const Value& value) {
    if (!value.expr()) return value;
    const std::string name = function_in(*value.expr());
    return name.empty() ? value : Value(code_.held(value, name));
}

}  // namespace composit::knossos
