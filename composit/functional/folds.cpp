// Folds of elementwise functions: by pairs where the function is associative, else one by one, in a
// loop if there are many.
#include "composit/functional/folds.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/functional/loops.h"
#include "composit/ir/node.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>

namespace composit::folds {
namespace {

using numpy::get_item;
using numpy::Slice;
using ops::part;
using Axes = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

constexpr int64_t most_unrolled = 16;  // longer folds are loops

template <size_t count>
bool is_among(std::string_view name, const std::string_view (&names)[count]) {
    return std::ranges::find(names, name) != std::end(names);
}

// However it is bracketed, the result has the same bits (equal operands give the first).
bool is_associative(std::string_view name) {
    static constexpr std::string_view names[] = {
        "maximum",    "minimum",     "fmax",        "fmin",       "gcd",        "logical_and",
        "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"};
    return is_among(name, names);
}

// Without an identity, but NumPy reduces several axes at once.
bool is_reorderable(std::string_view name) {
    static constexpr std::string_view names[] = {"maximum", "minimum", "fmax", "fmin"};
    return is_among(name, names);
}

bool is_logical(std::string_view name) { return name == "logical_and" || name == "logical_or"; }
bool is_total(std::string_view name) { return name == "add" || name == "multiply"; }
bool is_extremum(std::string_view name) { return name == "maximum" || name == "minimum"; }

// What changes nothing; -1 stands for all bits. Empty where there is no such value.
Operand identity_of(std::string_view name) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    static const std::map<std::string_view, Operand> identities = {{"add", 0},
                                                                   {"multiply", 1},
                                                                   {"logical_and", true},
                                                                   {"logical_or", false},
                                                                   {"logical_xor", 0},
                                                                   {"bitwise_and", -1},
                                                                   {"bitwise_or", 0},
                                                                   {"bitwise_xor", 0},
                                                                   {"gcd", 0},
                                                                   {"hypot", 0},
                                                                   {"logaddexp", -infinity},
                                                                   {"logaddexp2", -infinity}};
    const auto found = identities.find(name);
    return found == identities.end() ? Operand() : found->second;
}

void check_binary(std::string_view method, const RowRef& row) {
    user_check(row->arity == 2, method, ": ", row->name, " takes ", row->arity,
               " operands: ", method, " only supported for binary functions.");
}

// Ascending; 0 and -1 are none of a number's.
Axes axes_of(std::string_view method, const Axis& axis, int rank) {
    Axes axes(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), int64_t{0});
    if (axis.is_none()) return axes;
    const Axes& given = axis.axes();
    if (given.size() == 1 && numpy::is_axis_of_a_number(given[0], rank)) return {};
    axes.clear();
    for (const int64_t each : given) {
        user_check<AxisError>(-rank <= each && each < rank, method, ": axis ", each,
                              " is out of bounds for array of dimension ", rank, ".");
        axes.push_back(each < 0 ? each + rank : each);
    }
    std::ranges::sort(axes);
    user_check(std::ranges::adjacent_find(axes) == axes.end(), method,
               ": duplicate value in 'axis': ", given, ".");
    return axes;
}

int64_t one_axis(std::string_view method, const Axis& axis, int rank) {
    const Axes axes = axes_of(method, axis, rank);
    user_check(axes.size() <= 1 && !(axis.is_none() && rank == 0), method, ": ", method,
               " does not allow multiple axes.");
    user_check<TypeError>(rank > 0, method, ": cannot ", method, " on a scalar.");
    return axes[0];
}

DType loop_dtype(const RowRef& row, const Tensor& x, std::optional<DType> dtype) {
    if (dtype) return *dtype;
    if (is_total(row->name)) {
        if (x.dtype() == DType::boolean || ir::is_signed_integer(x.dtype())) return DType::int64;
        return ir::is_unsigned_integer(x.dtype()) ? DType::uint64 : x.dtype();
    }
    return row->types(row->name, {x.dtype(), x.dtype()}).result;
}

// The axes as one, before the others.
Tensor at_front(const Tensor& x, const Axes& axes) {
    Axes order = axes;
    Shape shape = {1};
    for (const int64_t axis : axes) shape[0] *= x.shape()[static_cast<size_t>(axis)];
    for (int64_t d = 0; d < x.rank(); ++d) {
        if (std::ranges::find(axes, d) != axes.end()) continue;
        order.push_back(d);
        shape.push_back(x.shape()[static_cast<size_t>(d)]);
    }
    return numpy::reshape(numpy::transpose(x, order), shape);
}

int64_t length_of(const Tensor& x) { return x.shape()[0]; }
Tensor element(const Tensor& x, int64_t i) { return get_item(x, {i}); }
Tensor element(const Tensor& x, const Tensor& i) { return get_item(x, {i}); }

// f(f(start, x[0]), x[1]), …; without a start, from x[0].
Tensor folded(const RowRef& row, Tensor x, const Tensor& start) {
    if (is_associative(row->name)) {
        while (length_of(x) > 1) {
            const int64_t even = length_of(x) / 2 * 2;
            const Tensor rest = part(x, 0, even, length_of(x) - even);
            x = numpy::apply_row(row, get_item(x, {Slice{0, even, 2}}),
                                 get_item(x, {Slice{1, even, 2}}));
            if (length_of(rest) > 0) x = numpy::concatenate({x, rest});
        }
        return start ? numpy::apply_row(row, start, element(x, 0)) : element(x, 0);
    }
    const int64_t first = start ? 0 : 1, count = length_of(x);
    Tensor total = start ? start : element(x, 0);
    if (count - first > most_unrolled)
        return fori_loop(
            first, count,
            [&](const Tensor& i, const Tensor& so_far) {
                return numpy::apply_row(row, so_far, element(x, i));
            },
            total);
    for (int64_t i = first; i < count; ++i) total = numpy::apply_row(row, total, element(x, i));
    return total;
}

Tensor chosen(const Tensor& mask, const Tensor& x, const Operand& rest) {
    return numpy::apply("where", {mask, x, rest});
}

// The filler changes nothing: it is the identity, or what the fold begins with, which may be
// applied again and again to all functions that are associative and have no identity.
Tensor masked_fold(const RowRef& row, const Tensor& x, const Tensor& mask, const Tensor& begin,
                   const Operand& filler) {
    if (is_associative(row->name)) return folded(row, chosen(mask, x, filler), begin);
    return fori_loop(
        0, length_of(x),
        [&](const Tensor& i, const Tensor& total) {
            return chosen(element(mask, i), numpy::apply_row(row, total, element(x, i)), total);
        },
        begin);
}

// By composit's own reductions: add, multiply, maximum, minimum, logical_or, logical_and.
Tensor by_primitive(const RowRef& row, Tensor x, const Axes& axes, const Options& options) {
    const std::string& name = row->name;
    if (options.dtype && is_extremum(name)) x = numpy::astype(x, *options.dtype);
    if (is_total(name) && options.initial && !*options.initial)
        user_check(std::ranges::none_of(
                       axes, [&](int64_t d) { return !x.shape()[static_cast<size_t>(d)]; }),
                   "reduce: zero-size array to reduction operation ", name,
                   " which has no identity.");
    const Operand initial = options.initial.value_or(Operand());
    const Tensor where = options.where ? numpy::broadcast_to(options.where, x.shape()) : Tensor();
    const bool keepdims = options.keepdims;
    if (name == "add") return numpy::sum(x, axes, options.dtype, keepdims, initial, where);
    if (name == "multiply") return numpy::prod(x, axes, options.dtype, keepdims, initial, where);
    if (name == "maximum") return numpy::max(x, axes, keepdims, initial, where);
    if (name == "minimum") return numpy::min(x, axes, keepdims, initial, where);
    if (name == "logical_or") return numpy::any(x, axes, keepdims, where);
    return numpy::all(x, axes, keepdims, where);
}

// A value of any kind as a tensor of this shape and dtype; integers have to fit.
Tensor filled(const Shape& shape, const Operand& value, DType dtype) {
    numpy::check_integer_fits("reduce", value, dtype);
    return numpy::broadcast_to(numpy::astype(numpy::strong(value), dtype), shape);
}

Tensor running(const RowRef& row, Tensor x) {
    const int64_t count = length_of(x);
    if (is_associative(row->name)) {
        for (int64_t distance = 1; distance < count; distance *= 2)
            x = numpy::concatenate({part(x, 0, 0, distance),
                                    numpy::apply_row(row, part(x, 0, 0, count - distance),
                                                     part(x, 0, distance, count - distance))});
        return x;
    }
    if (count > most_unrolled)
        return fori_loop(1, count,
                         [&](const Tensor& i, const Tensors& state) {
                             const Tensor total = numpy::apply_row(row, state[0], element(x, i));
                             return Tensors{total, numpy::set_item(state[1], {i}, total)};
                         },
                         {element(x, 0), x})[1];
    if (count == 0) return x;
    Tensors totals = {part(x, 0, 0, 1)};
    for (int64_t i = 1; i < count; ++i)
        totals.push_back(numpy::apply_row(row, totals.back(), part(x, 0, i, 1)));
    return numpy::concatenate(totals);
}

// Positions of `places` in turns, so that in each turn no place comes twice, and equal ones are
// met in their order.
std::vector<std::vector<int64_t>> turns_of(const int64_t* places, int64_t count) {
    std::map<int64_t, size_t> met;
    std::vector<std::vector<int64_t>> turns;
    for (int64_t i = 0; i < count; ++i) {
        const size_t turn = met[places[i]]++;
        if (turn == turns.size()) turns.emplace_back();
        turns[turn].push_back(i);
    }
    return turns;
}

Tensor reduction_of(const RowRef& row, const Tensor& given, const Axis& axis,
                    const Options& options) {
    check_binary("reduce", row);
    const std::string& name = row->name;
    const Tensor x = numpy::strong(given);
    const Axes axes = axes_of("reduce", axis, x.rank());
    if (is_total(name) || is_extremum(name) || (is_logical(name) && !options.initial))
        return by_primitive(row, x, axes, options);
    const ir::ReportingScope scope(ir::intern("reduce"));
    const DType loop = loop_dtype(row, x, options.dtype);
    Operand identity = identity_of(name);
    user_check(axes.size() <= 1 || identity || is_reorderable(name),
               "reduce: reduction operation '", name,
               "' is not reorderable, so at most one axis may be specified.");
    if (identity) identity = numpy::astype(numpy::strong(identity), loop);
    const Operand start = options.initial ? *options.initial : identity;
    const Tensor mask = options.where ? numpy::broadcast_to(options.where, x.shape()) : Tensor();
    user_check(!mask || start, "reduce: reduction operation '", name,
               "' does not have an identity, so to use a where mask one has to specify 'initial'.");
    const Tensor items = at_front(numpy::astype(x, loop), axes);
    const bool is_empty = length_of(items) == 0;
    user_check(!is_empty || start, "reduce: zero-size array to reduction operation ", name,
               " which has no identity.");
    const Shape kept(items.shape().begin() + 1, items.shape().end());
    Tensor begin;
    // NumPy begins with the first element where no value was given and none is masked out.
    if (start && (options.initial || mask || is_empty)) begin = filled(kept, start, loop);
    Tensor result = is_empty ? begin
                    : mask   ? masked_fold(row, items, at_front(mask, axes), begin,
                                           identity ? identity : Operand(begin))
                             : folded(row, items, begin);
    result = numpy::astype(result, loop);
    if (!options.keepdims) return result;
    Shape shape = x.shape();
    for (const int64_t d : axes) shape[static_cast<size_t>(d)] = 1;
    return numpy::reshape(result, shape);
}

Tensor accumulation_of(const RowRef& row, const Tensor& given, const Axis& axis,
                       std::optional<DType> dtype) {
    check_binary("accumulate", row);
    const Tensor x = numpy::strong(given);
    const int64_t along = one_axis("accumulate", axis, x.rank());
    if (row->name == "add") return numpy::cumsum(x, along, dtype);
    if (row->name == "multiply") return numpy::cumprod(x, along, dtype);
    const ir::ReportingScope scope(ir::intern("accumulate"));
    const DType loop = loop_dtype(row, x, dtype);
    const Tensor items = at_front(numpy::astype(x, loop), {along});
    return numpy::moveaxis(numpy::astype(running(row, items), loop), 0, along);
}

Tensor reduction_by_parts_of(const RowRef& row, const Tensor& given, const Tensor& indices,
                             const Axis& axis, std::optional<DType> dtype) {
    check_binary("reduceat", row);
    const Tensor x = numpy::strong(given);
    const int64_t along = one_axis("reduceat", axis, x.rank());
    user_check(indices.rank() == 1, "reduceat: indices: object too deep for desired array.");
    user_check<TypeError>(
        indices.size() == 0 || ir::is_integer(indices.dtype()) || indices.dtype() == DType::boolean,
        "reduceat: ", row->name, ".reduceat: indices are ", indices.dtype(),
        ". Integers are required.");
    const ir::Array values =
        numpy::concrete("reduceat", "indices", numpy::astype(indices, DType::int64));
    const int64_t* const places = values.data_as<int64_t>();
    const int64_t count = values.size(), length = x.shape()[static_cast<size_t>(along)];
    for (int64_t i = 0; i < count; ++i)
        user_check<IndexError>(0 <= places[i] && places[i] < length, "reduceat: index ", places[i],
                               " out-of-bounds in ", row->name, ".reduceat [0, ", length, ").");
    const ir::ReportingScope scope(ir::intern("reduceat"));
    const Tensor items = numpy::moveaxis(x, along, 0);
    const DType loop = loop_dtype(row, x, dtype);
    Tensors parts;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t end = i + 1 < count ? places[i + 1] : length;
        const int64_t many = std::max<int64_t>(1, end - places[i]);
        const Tensor one = reduction_of(row, part(items, 0, places[i], many), 0,
                                        {.dtype = loop, .keepdims = true});
        parts.push_back(numpy::astype(one, loop));
    }
    const Tensor result =
        parts.empty() ? numpy::astype(part(items, 0, 0, 0), loop) : numpy::concatenate(parts);
    return numpy::moveaxis(result, 0, along);
}

Tensor changed_at(const RowRef& row, const Tensor& given, const numpy::Index& index,
                  const std::vector<Tensor>& operands) {
    user_check(static_cast<int>(operands.size()) == row->arity - 1, "at: ",
               operands.empty() ? "second operand needed for ufunc."
                                : "second operand provided when ufunc is unary.");
    const Tensor x = numpy::strong(given);
    const Tensor chosen = get_item(numpy::reshape(numpy::arange(x.size()), x.shape()), index);
    const ir::Array places = numpy::concrete("at", "indices", numpy::ravel(chosen));
    Tensors others;
    for (const Tensor& each : operands)
        others.push_back(numpy::ravel(numpy::broadcast_to(numpy::strong(each), chosen.shape())));
    Tensor flat = numpy::ravel(x);
    const int64_t* const first = places.data_as<int64_t>();
    for (const std::vector<int64_t>& turn : turns_of(first, places.size())) {
        Axes where;
        for (const int64_t i : turn) where.push_back(first[i]);
        const Tensor at_places = numpy::array(where);
        Tensors arguments = {get_item(flat, {at_places})};
        for (const Tensor& each : others)
            arguments.push_back(static_cast<int64_t>(turn.size()) == each.size()
                                    ? each
                                    : get_item(each, {numpy::array(turn)}));
        const Tensor changed = numpy::apply_row(row, std::move(arguments));
        flat = numpy::set_item(flat, {at_places}, numpy::astype(changed, x.dtype()));
    }
    return numpy::reshape(flat, x.shape());
}

}  // namespace

Tensor reduce(const RowRef& row, const Tensor& x, const Axis& axis, const Options& options) {
    return errors_as("reduce", [&] { return reduction_of(row, x, axis, options); });
}

Tensor accumulate(const RowRef& row, const Tensor& x, const Axis& axis,
                  std::optional<DType> dtype) {
    return errors_as("accumulate", [&] { return accumulation_of(row, x, axis, dtype); });
}

Tensor reduceat(const RowRef& row, const Tensor& x, const Tensor& indices, const Axis& axis,
                std::optional<DType> dtype) {
    return errors_as("reduceat",
                     [&] { return reduction_by_parts_of(row, x, indices, axis, dtype); });
}

Tensor at(const RowRef& row, const Tensor& x, const numpy::Index& index,
          const std::vector<Tensor>& operands) {
    return errors_as("at", [&] { return changed_at(row, x, index, operands); });
}

}  // namespace composit::folds
