// put, place and their like out of scatters, gathers and selections.
#include "composit/numpy/writing.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/execute/devices.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy {
namespace {

// The values in x's dtype, flattened.
Tensor flat_values(std::string_view function, const Tensor& x, const Operand& values) {
    check_integer_fits(function, values, x.dtype());
    return ravel(ops::astype(execute::part_beside(values, x), x.dtype()));
}

// The first `count` elements of the values, said again and again; they must not be empty.
Tensor cycled(const Tensor& values, int64_t count) {
    const int64_t times = (count + values.size() - 1) / values.size();
    const Tensor whole = times > 1 ? tile(values, {times}) : values;
    return whole.size() == count ? whole : split(whole, std::vector<int64_t>{count})[0];
}

Tensor flat_mask(std::string_view function, const Tensor& x, const Tensor& mask) {
    user_check(mask.size() == x.size(), function,
               ": mask and data must be the same size: ", mask.shape(), " and ", x.shape(), ".");
    return ravel(ops::astype(mask, DType::boolean));
}

// NumPy's rules of casting between the dtypes that composit has.
bool can_cast(DType from, DType to, std::string_view casting) {
    if (casting == "unsafe" || from == to) return true;
    if (casting == "no" || casting == "equiv") return false;
    // Promotion that leaves `to` as it is loses nothing.
    if (ir::promote(from, to) == to) return true;
    return casting == "same_kind" && kind_rank(from) <= kind_rank(to);
}

void check_safe(std::string_view function, const Tensor& x, const Tensor& given) {
    user_check<TypeError>(
        given.type().weak || given.size() == 0 || can_cast(given.dtype(), x.dtype(), "safe"),
        function, ": Cannot cast array data from dtype('", given.dtype(), "') to dtype('",
        x.dtype(), "') according to the rule 'safe'.");
}

}  // namespace

Tensor put_along_axis(const Tensor& x, const Tensor& indices, const Operand& values,
                      std::optional<int64_t> axis) {
    user_check<IndexError>(ir::is_integer(indices.dtype()),
                           "put_along_axis: `indices` must be an integer array, not ",
                           indices.dtype(), ".");
    if (!axis) {
        user_check(indices.rank() == 1,
                   "put_along_axis: when axis=None, `indices` must have a "
                   "single dimension, not ",
                   indices.rank(), ".");
        return errors_as("put_along_axis", [&] {
            return reshape(put_along_axis(ravel(x), indices, values, 0), x.shape());
        });
    }
    user_check(x.rank() == indices.rank(),
               "put_along_axis: `indices` and `arr` must have the same "
               "number of dimensions: ",
               indices.shape(), " and ", x.shape(), ".");
    const int64_t along = normalize_axis("put_along_axis", *axis, x.rank());
    return errors_as("put_along_axis", [&] {
        Index index;
        for (int64_t d = 0; d < x.rank(); ++d) {
            Shape own(x.shape().size(), 1);
            own[static_cast<size_t>(d)] = x.shape()[static_cast<size_t>(d)];
            index.emplace_back(d == along ? indices : ops::iota(own, d));
        }
        return set_item(x, index, values);
    });
}

Tensor fill_diagonal(const Tensor& x, const Operand& values, bool wrap) {
    user_check(x.rank() >= 2, "fill_diagonal: array must be at least 2-d, not ", x.shape(), ".");
    const Shape& shape = x.shape();
    int64_t step = 1, end = x.size();
    if (x.rank() == 2) {
        step = shape[1] + 1;
        // A last block of fewer rows than columns has no diagonal of its own beyond this one.
        if (!wrap) end = std::min(end, shape[1] * shape[1]);
    } else {
        int64_t stride = 1;
        for (size_t d = 0; d + 1 < shape.size(); ++d) {
            user_check(shape[d] == shape.back(),
                       "fill_diagonal: All dimensions of input must be "
                       "of equal length, not ",
                       shape, ".");
            stride *= shape[d];
            step += stride;
        }
    }
    return errors_as("fill_diagonal", [&] {
        const Tensor flat = flat_values("fill_diagonal", x, values);
        const int64_t count = (end + step - 1) / step;
        if (count == 0 || flat.size() == 0) return strong(x);
        return reshape(set_item(ravel(x), {Slice{0, end, step}}, cycled(flat, count)), shape);
    });
}

Tensor put(const Tensor& x, const Tensor& indices, const Operand& values, std::string_view mode) {
    user_check(mode == "raise" || mode == "wrap" || mode == "clip", "put: clipmode '", mode,
               "' not understood. Available: raise, wrap, clip.");
    const bool is_empty = indices.size() == 0;
    user_check<TypeError>(is_empty || indices.dtype() == DType::boolean ||
                              (ir::is_integer(indices.dtype()) && indices.dtype() != DType::uint64),
                          "put: Cannot cast array data from dtype('", indices.dtype(),
                          "') to dtype('int64') according to the rule 'safe'.");
    return errors_as("put", [&] {
        const Tensor flat = flat_values("put", x, values);
        if (is_empty || flat.size() == 0) return strong(x);
        user_check<IndexError>(x.size() > 0, "put: cannot put into an empty array.");
        Tensor places = ravel(ops::astype(execute::part_beside(indices, x), DType::int64));
        if (mode == "wrap") places = apply("remainder", {places, x.size()});
        if (mode == "clip")
            places = apply("minimum", {apply("maximum", {places, 0}), x.size() - 1});
        const Tensor written = set_item(ravel(x), {places}, cycled(flat, places.size()));
        return reshape(written, x.shape());
    });
}

Tensor place(const Tensor& x, const Tensor& mask, const Operand& values) {
    const Tensor where = flat_mask("place", x, mask);
    check_safe("place", x, values);
    return errors_as("place", [&] {
        const Tensor flat = flat_values("place", x, values);
        if (flat.size() == 0) {
            const Array any_set = concrete("place", "mask", any(where));
            user_check(!*any_set.data_as<bool>(), "place: Cannot insert from an empty array!");
            return strong(x);
        }
        if (x.size() == 0) return strong(x);
        // How many come before: the number of the value.
        const Tensor number = apply("subtract", {cumsum(where, 0), 1});
        const Tensor chosen = take(flat, apply("remainder", {number, flat.size()}), 0);
        return reshape(apply("where", {where, chosen, ravel(strong(x))}), x.shape());
    });
}

Tensor putmask(const Tensor& x, const Tensor& mask, const Operand& values) {
    const Tensor where = flat_mask("putmask", x, mask);
    check_safe("putmask", x, values);
    return errors_as("putmask", [&] {
        const Tensor flat = flat_values("putmask", x, values);
        if (flat.size() == 0 || x.size() == 0) return strong(x);
        const Tensor all = cycled(flat, x.size());
        return reshape(apply("where", {where, all, ravel(strong(x))}), x.shape());
    });
}

Tensor copyto(const Tensor& x, const Operand& source, std::string_view casting,
              const Operand& where) {
    const bool is_known = casting == "no" || casting == "equiv" || casting == "safe" ||
                          casting == "same_kind" || casting == "unsafe";
    user_check(is_known,
               "copyto: casting must be one of 'no', 'equiv', 'safe', 'same_kind', or "
               "'unsafe', not '",
               casting, "'.");
    const Tensor& given = source.tensor();
    // Python's numbers count by their kind.
    const bool fits = given.type().weak && kind_rank(given.dtype()) <= kind_rank(x.dtype());
    user_check<TypeError>(fits || can_cast(given.dtype(), x.dtype(), casting),
                          "copyto: Cannot cast array data from dtype('", given.dtype(),
                          "') to dtype('", x.dtype(), "') according to the rule '", casting, "'.");
    return errors_as("copyto", [&] {
        check_integer_fits("copyto", source, x.dtype());
        const Tensor whole = set_item(x, {Ellipsis{}}, source);
        if (!where) return whole;
        const Tensor mask = ops::astype(where, DType::boolean);
        return apply("where", {broadcast_to(mask, x.shape()), whole, strong(x)});
    });
}

}  // namespace composit::numpy
