// select, piecewise, choose, and elements picked by conditions that are known at the call.
#include "composit/numpy/selecting.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/execute/devices.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/index_arrays.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy {

Tensor select(const std::vector<Tensor>& conditions, const std::vector<Operand>& choices,
              const Operand& otherwise) {
    user_check(conditions.size() == choices.size(),
               "select: list of cases must be same length as list of conditions: ", choices.size(),
               " and ", conditions.size(), ".");
    user_check(!conditions.empty(), "select: select with an empty condition list is not possible.");
    for (size_t i = 0; i < conditions.size(); ++i)
        user_check<TypeError>(conditions[i].dtype() == DType::boolean, "select: invalid entry ", i,
                              " in condlist: should be boolean ndarray, not ",
                              conditions[i].dtype(), ".");
    return errors_as("select", [&] {
        std::vector<Tensor> values(choices.begin(), choices.end());
        values.push_back(otherwise);
        // A literal that the common dtype cannot hold wraps, as NumPy's does here.
        const DType dtype = result_type(values);
        for (Tensor& value : values) value = ops::astype(value, dtype);
        Tensor result = values.back();
        for (size_t i = conditions.size(); i-- > 0;)
            result = apply("where", {conditions[i], values[i], result});
        return result;
    });
}

Tensor piecewise(const Tensor& x, const std::vector<Tensor>& conditions,
                 const std::vector<Piece>& pieces) {
    const size_t n = conditions.size();
    user_check(pieces.size() == n || pieces.size() == n + 1, "piecewise: with ", n,
               " condition(s), either ", n, " or ", n + 1, " functions are expected, not ",
               pieces.size(), ".");
    const auto as_piecewise = [](const auto& build) { return errors_as("piecewise", build); };
    std::vector<Tensor> masks;
    Tensor any;
    as_piecewise([&] {
        for (const Tensor& condition : conditions) {
            masks.push_back(ops::astype(condition, DType::boolean));
            any = any ? apply("logical_or", {any, masks.back()}) : masks.back();
        }
        if (pieces.size() == n + 1)
            masks.push_back(any ? apply("logical_not", {any}) : ones(x.shape(), DType::boolean));
    });
    Tensor result = execute::made_beside(zeros_like(x), x);
    for (size_t i = 0; i < masks.size(); ++i) {
        Operand value;
        if (std::holds_alternative<Operand>(pieces[i])) {
            value = std::get<Operand>(pieces[i]);
        } else {
            const Tensor selected = as_piecewise([&] { return get_item(x, {masks[i]}); });
            if (selected.size() == 0) continue;
            value = std::get<1>(pieces[i])(selected);
        }
        result = as_piecewise([&] { return set_item(result, {masks[i]}, value); });
    }
    return result;
}

Tensor choose(const Tensor& a, const std::vector<Tensor>& choices, std::string_view mode) {
    user_check(!choices.empty(), "choose: 0-length sequence. At least one choice is required.");
    user_check<TypeError>(
        a.dtype() == DType::boolean || (ir::is_integer(a.dtype()) && a.dtype() != DType::uint64),
        "choose: Cannot cast array data from dtype('", a.dtype(),
        "') to dtype('int64') according to the rule 'safe'.");
    return errors_as("choose", [&] {
        const auto count = static_cast<int64_t>(choices.size());
        const Tensor which =
            checked_positions({"choose", "invalid entry in choice array"}, a, count, mode);
        std::vector<Tensor> all = promoted(choices);
        all.push_back(which);
        all = broadcast_arrays(all);
        const Tensor layer = expand_dims(all.back(), 0);
        all.pop_back();
        return squeeze(take_along_axis(stack(all), layer, 0), 0);
    });
}

Tensor extract(const Tensor& condition, const Tensor& x) {
    return errors_as("extract", [&] { return take(ravel(x), flatnonzero(condition), 0); });
}

Tensor compress(const Tensor& condition, const Tensor& x, std::optional<int64_t> axis) {
    user_check(condition.rank() == 1, "compress: condition must be a 1-d array, not ",
               condition.shape(), ".");
    return errors_as("compress", [&] { return take(x, nonzero(condition)[0], axis); });
}

Tensor trim_zeros(const Tensor& x, std::string_view trim, const Axis& axis) {
    std::string ends(trim);
    for (char& c : ends)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    user_check(ends == "fb" || ends == "bf" || ends == "f" || ends == "b",
               "trim_zeros: unexpected character(s) in `trim`: '", trim,
               "'. 'f', 'b' or both is required.");
    const bool at_front = ends.find('f') != std::string::npos;
    const bool at_back = ends.find('b') != std::string::npos;
    const std::vector<int64_t> axes = axis.of("trim_zeros", x.rank());
    if (axes.empty()) return x;
    return errors_as("trim_zeros", [&] {
        const std::vector<Tensor> places = nonzero(x);
        Index index(x.shape().size(), Slice{});
        for (int64_t d : axes) {
            const Array along = concrete("trim_zeros", "x", places[static_cast<size_t>(d)]);
            const int64_t* first = along.data_as<int64_t>();
            const int64_t* end = first + along.size();
            Slice slice{0, 0};  // nothing but zeros
            if (first != end) {
                slice = {};
                if (at_front) slice.start = *std::min_element(first, end);
                if (at_back) slice.stop = *std::max_element(first, end) + 1;
            }
            index[static_cast<size_t>(d)] = slice;
        }
        return get_item(x, index);
    });
}

Tensor apply_along_axis(const std::function<Tensor(const Tensor&)>& function, int64_t axis,
                        const Tensor& x) {
    const int64_t along = normalize_axis("apply_along_axis", axis, x.rank());
    const Tensor moved = moveaxis(x, along, -1);
    const Shape outer{moved.shape().begin(), moved.shape().end() - 1};
    const int64_t count = ir::element_count(outer);
    user_check(count > 0,
               "apply_along_axis: Cannot apply_along_axis when any iteration dimensions "
               "are 0: the shape is ",
               x.shape(), ".");
    std::vector<Tensor> results;
    for (const Tensor& row : split(reshape(moved, {count, moved.shape().back()}), count))
        results.push_back(function(reshape(row, {moved.shape().back()})));
    return errors_as("apply_along_axis", [&] {
        for (Tensor& result : results)
            result = broadcast_to(ops::astype(result, results[0].dtype()), results[0].shape());
        Shape shape = outer;
        const Shape own = results[0].shape();
        shape.insert(shape.end(), own.begin(), own.end());
        std::vector<int64_t> from, to;
        for (size_t d = 0; d < own.size(); ++d) {
            from.push_back(static_cast<int64_t>(outer.size() + d));
            to.push_back(along + static_cast<int64_t>(d));
        }
        return moveaxis(reshape(stack(results), shape), from, to);
    });
}

Tensor apply_over_axes(const std::function<Tensor(const Tensor&, int64_t)>& function,
                       const Tensor& x, const std::vector<int64_t>& axes) {
    Tensor result = x;
    for (int64_t axis : axes) {
        const int64_t along = axis < 0 ? axis + x.rank() : axis;
        const Tensor made = function(result, along);
        const bool is_shorter = made.rank() != result.rank();
        result = is_shorter ? errors_as("apply_over_axes", [&] { return expand_dims(made, along); })
                            : made;
        user_check(result.rank() == x.rank(),
                   "apply_over_axes: function is not returning an array of the correct shape: ",
                   made.shape(), " for axis ", axis, " of ", x.shape(), ".");
    }
    return result;
}

}  // namespace composit::numpy
