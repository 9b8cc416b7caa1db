// Covariances: a product of what is left of the variables without their means.
#include "composit/numpy/covariance.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy {
namespace {

// Variables as rows.
Tensor rows_of(const Tensor& x, bool transposes, DType dtype) {
    const Tensor matrix = atleast_2d(ops::astype(strong(x), dtype));
    return transposes ? transpose(matrix) : matrix;
}

void check_weights(std::string_view function, std::string_view name, const Tensor& weights,
                   int64_t count) {
    user_check<RuntimeError>(weights.rank() == 1, function, ": cannot handle multidimensional ",
                             name, ": shape ", weights.shape(), ". One dimension is required.");
    user_check<RuntimeError>(weights.size() == count, function,
                             ": incompatible numbers of samples and ", name, ": ", count, " and ",
                             weights.size(), ".");
    user_check(!is_violated(apply("logical_not", {any(apply("less", {weights, 0}))})), function,
               ": ", name, " cannot be negative.");
}

// The product of both kinds of weights; nothing where there are none.
Tensor weights_of(const Tensor& fweights, const Tensor& aweights) {
    if (!fweights) return aweights;
    return aweights ? fweights * aweights : fweights;
}

int64_t ddof_of(const Covariance& how) { return how.ddof.value_or(how.bias ? 0 : 1); }

// What the products are divided by: 0 where that is not positive.
Tensor freedom(const Tensor& weights, const Tensor& aweights, int64_t ddof) {
    const Tensor total = sum(weights);
    if (ddof == 0) return total;
    if (!aweights) return total - ddof;
    return total - ddof * sum(weights * aweights) / total;
}

Tensor as_double(const Tensor& x) { return x ? ops::astype(x, DType::float64) : Tensor(); }

Tensor covariance(const Tensor& x, const Tensor& y, const Covariance& how) {
    user_check(x.rank() <= 2, "cov: m has more than 2 dimensions: its shape is ", x.shape(), ".");
    user_check(!y || y.rank() <= 2, "cov: y has more than 2 dimensions: its shape is ",
               y ? y.shape() : Shape(), ".");
    const DType least = ir::promote(x.dtype(), DType::float64);
    const DType dtype = how.dtype.value_or(y ? ir::promote(y.dtype(), least) : least);
    const bool transposes = !how.rowvar && x.rank() != 1;
    const Tensor first = rows_of(x, transposes, dtype);
    if (first.shape()[0] == 0) return zeros({0, 0}, DType::float64);
    Tensors operands{first};
    if (y) operands.push_back(rows_of(y, !how.rowvar && atleast_2d(y).shape()[0] != 1, dtype));
    const int64_t count = first.shape()[1];
    const size_t variables = operands.size();
    if (how.fweights) {
        const Tensor f = as_double(strong(how.fweights));
        user_check<TypeError>(!is_violated(all(apply("equal", {f, apply("rint", {f})}))),
                              "cov: fweights must be integer.");
        check_weights("cov", "fweights", f, count);
        operands.push_back(f);
    }
    if (how.aweights) {
        operands.push_back(as_double(strong(how.aweights)));
        check_weights("cov", "aweights", operands.back(), count);
    }
    if (how.fweights || how.aweights) {
        const Tensor total = sum(weights_of(as_double(how.fweights), as_double(how.aweights)));
        user_check<ZeroDivisionError>(!is_violated(apply("not_equal", {total, 0})),
                                      "cov: Weights sum to zero, can't be normalized.");
    }
    const int64_t ddof = ddof_of(how);
    const bool has_f = static_cast<bool>(how.fweights), has_a = static_cast<bool>(how.aweights);
    return one_node("cov", operands, [&](const Tensors& of) {
        Tensor all = of[0];
        if (variables > 1) all = concatenate({of[0], of[1]}, 0);
        const Tensor a = has_a ? of.back() : Tensor();
        const Tensor w = weights_of(has_f ? of[variables] : Tensor(), a);
        const Tensor mean_of_each =
            w ? sum(all * w, 1) / sum(ops::astype(w, result_type({w, all}))) : mean(all, 1);
        const Tensor rest = ops::astype(all - expand_dims(mean_of_each, 1), dtype);
        Tensor other = w ? rest * w : rest;
        if (ir::is_complex(other.dtype())) other = apply("conjugate", {other});
        const Tensor products = dot(rest, transpose(other));
        if (!w) {
            const double left = static_cast<double>(std::max<int64_t>(count - ddof, 0));
            return squeeze(products * (1 / left));
        }
        const Tensor left = freedom(w, a, ddof);
        const Tensor zero = scalar(left.dtype(), 0);
        return squeeze(products * (1 / apply("where", {apply("greater", {left, 0}), left, zero})));
    });
}

}  // namespace

bool lacks_freedom(const Tensor& x, const Covariance& how) {
    if (how.fweights || how.aweights) {
        const Tensor a = as_double(how.aweights);
        const Tensor left = freedom(weights_of(as_double(how.fweights), a), a, ddof_of(how));
        return is_violated(apply("greater", {left, 0}));
    }
    const bool transposes = !how.rowvar && x.rank() != 1;
    const Shape shape = atleast_2d(x).shape();
    return shape[transposes ? 1 : 0] > 0 && shape[transposes ? 0 : 1] <= ddof_of(how);
}

Tensor cov(const Tensor& x, const Tensor& y, const Covariance& how) {
    return errors_as("cov", [&] { return covariance(x, y, how); });
}

Tensor corrcoef(const Tensor& x, const Tensor& y, bool rowvar, std::optional<DType> dtype) {
    return errors_as("corrcoef", [&] {
        Covariance how;
        how.rowvar = rowvar, how.dtype = dtype;
        const Tensor given = cov(x, y, how);
        return one_node("corrcoef", {given}, [](const Tensors& of) {
            const Tensor& c = of[0];
            if (c.rank() == 0) return c / c;
            const bool is_complex = ir::is_complex(c.dtype());
            const Tensor variances = diagonal(c);
            const Tensor deviation =
                apply("sqrt", {is_complex ? apply("real", {variances}) : variances});
            const Tensor scaled = c / expand_dims(deviation, 1) / expand_dims(deviation, 0);
            if (!is_complex) return clip(scaled, -1, 1);
            return apply("as_complex", {clip(apply("real", {scaled}), -1, 1),
                                        clip(apply("imag", {scaled}), -1, 1)});
        });
    });
}

}  // namespace composit::numpy
