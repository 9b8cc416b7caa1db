// Functions of arrays that are made of others.
#include "composit/knossos/composed.h"

#include <algorithm>
#include <map>

namespace composit::knossos {
namespace {

// What a function takes: its parameters in order, of which the last ones are by name only, and what
// those are that are left out.
struct Signature {
    std::vector<std::pair<const char*, Value>> parameters;
    size_t by_position;
    size_t required = 1;
};

const std::map<std::string, Signature>& signatures() {
    static const Value none;
    static const Signature moments{{{"x", none}, {"axis", none}, {"ddof", 0}, {"keepdims", false}},
                                   2};
    static const Signature pair{{{"a", none}, {"b", none}}, 2, 2};
    static const Signature triangle{{{"m", none}, {"k", 0}}, 2};
    static const std::map<std::string, Signature> all{
        {"numpy.concatenate", {{{"arrays", none}, {"axis", 0}}, 2}},
        {"numpy.stack", {{{"arrays", none}, {"axis", 0}}, 2}},
        {"numpy.hstack", {{{"tup", none}}, 1}},
        {"numpy.vstack", {{{"tup", none}}, 1}},
        {"numpy.var", moments},
        {"numpy.std", moments},
        {"numpy.flip", {{{"m", none}, {"axis", none}}, 2}},
        {"numpy.roll", {{{"x", none}, {"shift", none}, {"axis", none}}, 3, 2}},
        {"numpy.inner", pair},
        {"numpy.vdot", pair},
        {"numpy.diag", {{{"v", none}, {"k", 0}}, 2}},
        {"numpy.diagonal", {{{"a", none}, {"offset", 0}}, 2}},
        {"numpy.tril", triangle},
        {"numpy.triu", triangle},
    };
    return all;
}

// The arguments in the order of the parameters; nothing where they do not fit.
std::optional<std::vector<Value>> bound(const Signature& signature,
                                        const std::vector<Value>& arguments, const Named& named) {
    if (arguments.size() > signature.by_position) return std::nullopt;
    std::vector<std::optional<Value>> given(arguments.begin(), arguments.end());
    given.resize(signature.parameters.size());
    for (const auto& [name, value] : named) {
        size_t place = 0;
        while (place < given.size() && name != signature.parameters[place].first) ++place;
        if (place == given.size() || given[place]) return std::nullopt;
        given[place] = value;
    }
    std::vector<Value> made;
    for (size_t i = 0; i < given.size(); ++i) {
        if (!given[i] && i < signature.required) return std::nullopt;
        made.push_back(given[i] ? *given[i] : signature.parameters[i].second);
    }
    return made;
}

std::vector<ArrayRef> parts_of(const Value& given) {
    std::vector<ArrayRef> parts;
    for (const Value& part : given.tuple()->parts) parts.push_back(part.array());
    const bool are_arrays = std::all_of(parts.begin(), parts.end(),
                                        [](const ArrayRef& each) { return each != nullptr; });
    if (parts.empty() || !are_arrays)
        throw Mismatch("what is joined is no list of arrays", "Write [a, b], of arrays.");
    for (const ArrayRef& part : parts)
        if (part->shape.size() != parts[0]->shape.size())
            throw Mismatch("arrays of several numbers of axes are joined",
                           "Equal numbers of axes are required.");
    return parts;
}

int64_t checked_offset(const Array& matrix, const Value& offset) {
    if (matrix.shape.size() != 2 || !offset.plain_integer())
        throw Mismatch("a diagonal of something else",
                       "A matrix and a literal integer are required.");
    return *offset.plain_integer();
}

}  // namespace

bool Composed::has(const std::string& function) { return signatures().contains(function); }

bool Composed::is_join(const std::string& function) {
    return function == "numpy.concatenate" || function == "numpy.stack" ||
           function == "numpy.hstack" || function == "numpy.vstack";
}

Value Composed::call(const std::string& function, const std::vector<Value>& arguments,
                     const Named& named) {
    const auto given = bound(signatures().at(function), arguments, named);
    const bool joins = is_join(function);
    const bool fits = given && !arguments.empty() &&
                      (joins ? arguments[0].tuple() != nullptr : arguments[0].array() != nullptr);
    if (!fits)
        throw Mismatch(
            last_name(function) + " of other arguments",
            joins ? "Several arrays in [ and ] are required, and a literal axis at most."
                  : "An array is required, and what else NumPy's function takes, if literal.");
    const ArrayRef first = (*given)[0].array();
    if (joins) {
        const std::vector<ArrayRef> parts = parts_of((*given)[0]);
        const int rank = parts[0]->rank();
        if (function == "numpy.concatenate") return joined(parts, (*given)[1], false);
        if (function == "numpy.stack") return joined(parts, (*given)[1], true);
        if (function == "numpy.hstack") return joined(parts, std::min(rank - 1, 1), false);
        return joined(parts, 0, rank == 1);
    }
    if (function == "numpy.var") return variance(*given);
    if (function == "numpy.std") return deviation(*given);
    if (function == "numpy.flip") return flipped(*given);
    if (function == "numpy.roll") return rolled(*given);
    if (function == "numpy.inner" || function == "numpy.vdot") return inner(*given);
    if (function == "numpy.diag") return diagonal_or_matrix(*given);
    if (function == "numpy.diagonal") return diagonal(first, (*given)[1]);
    const int64_t offset = checked_offset(*first, (*given)[1]);
    return where(function == "numpy.tril" ? "<=" : ">=", first, offset);
}

// The mean of squared distances from the mean, as NumPy computes it.
Value Composed::variance(const Given& given) {
    const auto freedom = given[2].plain_integer();
    if (!freedom) throw Mismatch("a ddof that is computed", "A literal integer is required.");
    ArrayRef x = given[0].array();
    const bool has_axis = !given[1].is_nothing();
    const int axis = has_axis ? reductions_.literal_axis(given[1], x->rank()) : 0;
    const auto reduced = [&](const ArrayRef& array) {
        return has_axis ? std::vector<Value>{array, axis} : std::vector<Value>{array};
    };
    const Operators& operators = code_.operators;
    x = elements_.read_often(x);
    const Value mean = reductions_.call("numpy.mean", reduced(x), has_axis);
    const ArrayRef squares = elements_.elementwise(
        [&operators](const std::vector<Value>& each) {
            return function_of(operators, "numpy.square",
                               {operators.binary("-", each[0], each[1])});
        },
        {x, mean});
    const Value total = reductions_.call("numpy.sum", reduced(squares), given[3]);
    Value count = has_axis ? x->shape[static_cast<size_t>(axis)] : reductions_.size_of(x->shape);
    if (*freedom != 0) {
        const Value left = operators.binary("-", count, *freedom);
        count = function_of(operators, "max", {left, 0});
    }
    if (!total.array()) return operators.binary("/", total, count);
    return elements_.elementwise(
        [&operators, count](const std::vector<Value>& each) {
            return operators.binary("/", each[0], count);
        },
        {total});
}

Value Composed::deviation(const Given& given) {
    const Value made = variance(given);
    if (made.array()) return elements_.of_function("numpy.sqrt", {made});
    return function_of(code_.operators, "numpy.sqrt", {made});
}

// The parts one after the other along an axis, which `is_new`, or along one of theirs.
ArrayRef Composed::joined(const std::vector<ArrayRef>& parts, const Value& wanted, bool is_new) {
    const std::vector<Value> first = parts[0]->shape;
    const int rank = parts[0]->rank() + (is_new ? 1 : 0);
    const size_t axis = static_cast<size_t>(reductions_.literal_axis(wanted, rank));
    for (size_t i = 1; i < parts.size(); ++i)
        for (size_t k = 0; k < first.size(); ++k)
            if (is_new || k != axis) integers_.require_same(first[k], parts[i]->shape[k]);
    std::vector<Value> starts{0};
    for (const ArrayRef& part : parts)
        starts.push_back(sum(starts.back(), is_new ? Value(1) : part->shape[axis]));
    std::vector<Value> shape = first;
    const Value whole = integers_.extent(starts.back());
    if (is_new)
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), whole);
    else
        shape[axis] = whole;
    Kind kind = Kind::boolean;
    for (const ArrayRef& part : parts) kind = std::max(kind, part->kind);
    StoredRef made = storage_.fresh_array("joined", kind, shape);
    for (size_t i = 0; i < parts.size(); ++i)
        storage_.nest(parts[i]->shape, [&](const Index& at) {
            Index place = at;
            if (is_new)
                place.insert(place.begin() + static_cast<std::ptrdiff_t>(axis), starts[i]);
            else
                place[axis] = integers_.along(at[axis], starts[i], 1);
            storage_.store(*made, place, parts[i]->at(at));
        });
    return made;
}

// Two extents together, with one constant.
Value Composed::sum(const Value& a, const Value& b) const {
    const Value &variable = a.is_number() ? b : a, &known = a.is_number() ? a : b;
    if (!known.is_number()) return integers_.plus(a, b);
    if (variable.is_number()) return integers_.plus(a, b);
    return integers_.moved(variable, *known.integer());
}

Value Composed::flipped(const Given& given) {
    const ArrayRef array = given[0].array();
    std::vector<Subscript> index(array->shape.size());
    const Subscript backwards = Subscript::slice({}, {}, -1);
    if (given[1].is_nothing())
        std::fill(index.begin(), index.end(), backwards);
    else
        index[static_cast<size_t>(reductions_.literal_axis(given[1], array->rank()))] = backwards;
    return slices_.indexed(array, index);
}

ArrayRef Composed::rolled(const Given& given) {
    const ArrayRef x = given[0].array();
    if (given[2].is_nothing() && x->rank() != 1)
        throw Mismatch("roll of several axes at once", "A literal axis is required.");
    const Value wanted = given[2].is_nothing() ? Value(0) : given[2];
    const size_t axis = static_cast<size_t>(reductions_.literal_axis(wanted, x->rank()));
    if (kind(given[1]) != Kind::integer)
        throw Mismatch("roll by what is no integer", "One integer is required.");
    const Value by = integers_.kept(given[1], "shift"), extent = x->shape[axis];
    const auto at = [this, x, axis, by, extent](const Index& indices) {
        const Operators& operators = code_.operators;
        Value source = operators.binary("%", operators.binary("-", indices[axis], by), extent);
        if (!source.is_number()) source = integers_.settled(source);
        Index place = indices;
        place[axis] = source;
        return x->at(place);
    };
    return array(x->kind, x->shape, at, {.reads = x->reads});
}

Value Composed::inner(const Given& given) {
    for (const Value& each : given)
        if (!each.array() || each.array()->shape.size() != 1)
            throw Mismatch("an inner product of others than vectors", "Write a @ b, or a loop.");
    return reductions_.product(given[0], given[1]);
}

// That of a matrix, or one beside it.
ArrayRef Composed::diagonal(const ArrayRef& matrix, const Value& given) {
    const int64_t offset = checked_offset(*matrix, given);
    const int64_t down = std::max<int64_t>(-offset, 0), right = std::max<int64_t>(offset, 0);
    const Value rows = integers_.extent(integers_.moved(matrix->shape[0], -down));
    const Value columns = integers_.extent(integers_.moved(matrix->shape[1], -right));
    Value extent = rows;
    if (!same(rows, columns)) extent = function_of(code_.operators, "min", {rows, columns});
    const auto at = [this, matrix, down, right](const Index& indices) {
        const Value row = integers_.along(indices[0], down, 1);
        return matrix->at({row, integers_.along(indices[0], right, 1)});
    };
    return array(matrix->kind, {integers_.extent(extent)}, at,
                 {.reads = matrix->reads, .parts_of = matrix->parts_of});
}

// np.diag: of a vector, the matrix that has it on its diagonal.
ArrayRef Composed::diagonal_or_matrix(const Given& given) {
    const ArrayRef v = given[0].array();
    if (v->shape.size() != 1) return diagonal(v, given[1]);
    const auto at = [v](const Index& indices) { return v->at({indices[0]}); };
    const ArrayRef matrix = array(v->kind, {v->shape[0], v->shape[0]}, at, {.reads = v->reads});
    if (given[1].plain_integer() != 0)
        throw Mismatch("a matrix with a vector beside its diagonal", "Write a loop.");
    return where("==", matrix, 0);
}

// A matrix whose elements are 0 but where the column compares so with the row and an offset.
ArrayRef Composed::where(const char* symbol, const ArrayRef& matrix, int64_t offset) {
    Value none = 0;
    if (matrix->kind == Kind::floating) none = 0.0;
    if (matrix->kind == Kind::boolean) none = false;
    const auto at = [this, symbol, matrix, offset, none](const Index& indices) -> Value {
        const Operators& operators = code_.operators;
        const Value holds =
            operators.compare(symbol, indices[1], integers_.along(indices[0], offset, 1));
        if (const auto* known = holds.as<bool>()) return *known ? matrix->at(indices) : none;
        return operators.select(holds, matrix->at(indices), none);
    };
    return array(matrix->kind, matrix->shape, at, {.reads = matrix->reads});
}

}  // namespace composit::knossos
