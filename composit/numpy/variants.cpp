// Functions that are others with some arguments fixed.
#include "composit/numpy/variants.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ops/ops.h"

namespace composit::numpy {

Tensor around(const Operand& x, int64_t decimals) {
    return errors_as("around", [&] { return round(x, decimals); });
}

Tensor concat(const std::vector<Tensor>& parts, std::optional<int64_t> axis,
              std::optional<DType> dtype) {
    return errors_as("concat", [&] { return concatenate(parts, axis, dtype); });
}

Tensor fliplr(const Tensor& x) {
    user_check(x.rank() >= 2, "fliplr: shape ", x.shape(), " is given. 2 axes are required.");
    return errors_as("fliplr", [&] { return flip(x, 1); });
}

Tensor flipud(const Tensor& x) {
    return errors_as("flipud", [&] { return flip(x, 0); });
}

Unique unique_all(const Tensor& x) {
    return errors_as("unique_all", [&] { return unique(x, {}, false); });
}

UniqueCounts unique_counts(const Tensor& x) {
    return errors_as("unique_counts", [&]() -> UniqueCounts {
        const Unique found = unique(x, {}, false);
        return {found.values, found.counts};
    });
}

UniqueInverse unique_inverse(const Tensor& x) {
    return errors_as("unique_inverse", [&]() -> UniqueInverse {
        const Unique found = unique(x, {}, false);
        return {found.values, found.inverse};
    });
}

Tensor unique_values(const Tensor& x) {
    return errors_as("unique_values", [&] { return unique(x, {}, false).values; });
}

Histogram histogram2d(const Tensor& x, const Tensor& y, const std::vector<Bins>& bins,
                      const std::vector<Range>& ranges, bool density, const Tensor& weights) {
    user_check(x.rank() == 1 && x.shape() == y.shape(),
               "histogram2d: x and y must have the same length: x has shape ", x.shape(),
               ", y has shape ", y.shape(), ". One axis of equal lengths is required.");
    return errors_as("histogram2d", [&] {
        return histogramdd(transpose(stack({x, y})), bins, ranges, density, weights);
    });
}

DType promote_types(DType a, DType b) { return ir::promote(a, b); }

bool can_cast(DType from, DType to, std::string_view casting) {
    if (casting == "unsafe") return true;
    if (casting == "no" || casting == "equiv") return from == to;
    if (casting == "safe") return ir::can_cast_safely(from, to);
    user_check(casting == "same_kind", "can_cast: casting is '", casting,
               "'. One of 'no', 'equiv', 'safe', 'same_kind' and 'unsafe' is required.");
    return kind_rank(from) <= kind_rank(to);
}

bool isdtype(DType dtype, std::string_view kind) {
    const bool is_complex = ir::is_complex(dtype), is_whole = ir::is_integer(dtype);
    if (kind == "bool") return dtype == DType::boolean;
    if (kind == "signed integer") return ir::is_signed_integer(dtype);
    if (kind == "unsigned integer") return ir::is_unsigned_integer(dtype);
    if (kind == "integral") return is_whole;
    if (kind == "real floating") return ir::is_floating(dtype);
    if (kind == "complex floating") return is_complex;
    user_check(kind == "numeric", "isdtype: kind is '", kind,
               "'. One of 'bool', 'signed integer', 'unsigned integer', 'integral', 'real "
               "floating', 'complex floating' and 'numeric' is required.");
    return dtype != DType::boolean;
}

}  // namespace composit::numpy
