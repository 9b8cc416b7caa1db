// Arithmetic of coefficients.
#include "composit/numpy/polynomials.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/comparisons.h"
#include "composit/numpy/correlation.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/selecting.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>

namespace composit::numpy {
namespace {

using ops::part;

int64_t length_of(std::string_view function, const Tensor& p) {
    user_check<TypeError>(p.rank() > 0, function,
                          ": a polynomial has no dimension. Coefficients are required.");
    return p.shape()[0];
}

// n, n - 1, …, 1
Tensor powers(int64_t n) { return arange(n, int64_t{0}, int64_t{-1}); }

// The sum or difference, with zeros before the shorter one.
Tensor combined_with(std::string_view row, const Tensor& a, const Tensor& b) {
    Tensor x = atleast_1d(strong(a)), y = atleast_1d(strong(b));
    const int64_t missing = y.shape()[0] - x.shape()[0];
    if (missing > 0) x = concatenate({zeros({missing}, x.dtype()), x});
    if (missing < 0) y = concatenate({zeros({-missing}, y.dtype()), y});
    return apply(row, {x, y});
}

// Without leading zeros, but one element.
Tensor trimmed(const Tensor& p) {
    const Tensor x = atleast_1d(strong(p));
    user_check(x.rank() == 1, "polymul: Polynomial must be 1d only, not of shape ", x.shape(), ".");
    const Tensor rest = trim_zeros(x, "f");
    return rest.size() == 0 ? zeros({1}, x.dtype()) : rest;
}

Tensor inexact(const Tensor& x) { return atleast_1d(strong(x)) + 0.0; }

}  // namespace

Tensor polyval(const Tensor& p, const Tensor& x) {
    const int64_t count = length_of("polyval", p);
    return one_node("polyval", {strong(p), strong(x)}, [&](const Tensors& of) {
        Tensor y = ops::zeros_like(of[1]);
        for (int64_t i = 0; i < count; ++i) y = y * of[1] + squeeze(part(of[0], 0, i, 1), 0);
        return y;
    });
}

Tensor polyadd(const Tensor& a, const Tensor& b) {
    return errors_as("polyadd", [&] { return combined_with("add", a, b); });
}

Tensor polysub(const Tensor& a, const Tensor& b) {
    return errors_as("polysub", [&] { return combined_with("subtract", a, b); });
}

Tensor polymul(const Tensor& a, const Tensor& b) {
    return errors_as("polymul", [&] { return convolve(trimmed(a), trimmed(b)); });
}

std::vector<Tensor> polydiv(const Tensor& a, const Tensor& b) {
    return errors_as("polydiv", [&]() -> std::vector<Tensor> {
        const Tensor u = inexact(a), v = inexact(b);
        user_check(u.rank() == 1 && v.rank() == 1,
                   "polydiv: Polynomials must be 1d only, not of "
                   "shapes ",
                   u.shape(), " and ", v.shape(), ".");
        user_check<IndexError>(u.size() > 0 && v.size() > 0,
                               "polydiv: a polynomial has no elements. One is required.");
        const DType dtype = result_type({u, v});
        const int64_t width = v.size(), steps = u.size() - width + 1;
        const Tensor scale = 1.0 / part(v, 0, 0, 1);
        Tensor rest = ops::astype(u, dtype);
        std::vector<Tensor> quotient, before;
        for (int64_t k = 0; k < steps; ++k) {
            const Tensor factor = scale * part(rest, 0, 0, 1);
            quotient.push_back(ops::astype(factor, dtype));
            const Tensor window = ops::astype(part(rest, 0, 0, width) - factor * v, dtype);
            before.push_back(part(window, 0, 0, 1));
            rest = concatenate(
                {part(window, 0, 1, width - 1), part(rest, 0, width, rest.size() - width)});
        }
        before.push_back(rest);
        const Tensor remainder = concatenate(before);
        const Array is_small = concrete("polydiv", "the remainder", isclose(remainder, 0, 1e-14));
        int64_t first = 0;
        while (first + 1 < remainder.size() && is_small.data_as<bool>()[first]) ++first;
        return {quotient.empty() ? zeros({1}, dtype) : concatenate(quotient),
                part(remainder, 0, first, remainder.size() - first)};
    });
}

Tensor polyder(const Tensor& p, int64_t order) {
    user_check(order >= 0, "polyder: Order of derivative must be positive (see polyint), not ",
               order, ".");
    return errors_as("polyder", [&] {
        Tensor y = strong(p);
        (void)length_of("polyder", y);
        for (int64_t i = 0; i < order; ++i) {
            const int64_t left = std::max<int64_t>(y.shape()[0] - 1, 0);
            y = part(y, 0, 0, left) * powers(left);
        }
        return y;
    });
}

Tensor polyint(const Tensor& p, int64_t order, const Tensor& constants) {
    user_check(order >= 0, "polyint: Order of integral must be positive (see polyder), not ", order,
               ".");
    return errors_as("polyint", [&] {
        Tensor k = constants ? atleast_1d(strong(constants)) : zeros({order}, DType::float64);
        if (k.shape()[0] == 1 && order > 1) k = part(k, 0, 0, 1) * ones({order}, DType::float64);
        user_check(k.shape()[0] >= order,
                   "polyint: k must be a scalar or a rank-1 array of length 1 "
                   "or >m: its length is ",
                   k.shape()[0], ", m is ", order, ".");
        Tensor y = strong(p);
        for (int64_t i = 0; i < order; ++i)
            y = concatenate({y / powers(length_of("polyint", y)), part(k, 0, i, 1)});
        return y;
    });
}

}  // namespace composit::numpy
