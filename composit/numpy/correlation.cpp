// Correlations as contractions of windows, with masked sums where one sequence sticks out.
#include "composit/numpy/correlation.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>

namespace composit::numpy {
namespace {

using ops::part;

// How many results there are before and after those where all of v meets a.
struct Ends {
    int64_t left, right;
};

Ends ends_of(std::string_view function, std::string_view mode, int64_t shorter) {
    if (mode == "valid") return {0, 0};
    if (mode == "full") return {shorter - 1, shorter - 1};
    user_check(mode == "same", function, ": mode must be one of 'valid', 'same', or 'full' (got '",
               mode, "').");
    return {shorter / 2, shorter - 1 - shorter / 2};
}

// The sums of v with windows of x in which only what `inside` marks counts.
Tensor partial_sums(const Tensor& x, const Tensor& v, const Tensor& inside) {
    const Tensor products = sliding_window_view(x, {v.size()}) * v;
    return sum(apply("where", {inside, products, scalar(v.dtype(), 0)}), 1, v.dtype());
}

// a is at least as long as v.
Tensor slid(const Tensor& a, const Tensor& v, const Ends& ends) {
    const int64_t length = a.size(), width = v.size();
    std::vector<Tensor> parts;
    const auto filler = [&](int64_t count) { return full({count}, scalar(a.dtype(), 0)); };
    // Row r of the left end begins left - r elements before a, of the right end r + 1 elements
    // after the last whole window.
    const auto rows = [](int64_t count) { return reshape(arange(count), {count, 1}); };
    if (ends.left > 0)
        parts.push_back(
            partial_sums(ops::concatenate({filler(ends.left), part(a, 0, 0, width - 1)}, 0), v,
                         arange(width) >= ends.left - rows(ends.left)));
    parts.push_back(ops::contract(sliding_window_view(a, {width}), v, {{}, {}, {1}, {0}}));
    if (ends.right > 0)
        parts.push_back(partial_sums(
            ops::concatenate({part(a, 0, length - width + 1, width - 1), filler(ends.right)}, 0), v,
            arange(width) < width - 1 - rows(ends.right)));
    return parts.size() == 1 ? parts[0] : ops::concatenate(parts, 0);
}

struct Pair {
    Tensor a, v;
    DType dtype;
};

// Both in the dtype that is computed in: bool is counted.
Pair operands_of(std::string_view function, const Tensor& a, const Tensor& v) {
    for (const Tensor& x : {a, v}) {
        user_check(x.rank() == 1, function, ": an operand has shape ", x.shape(),
                   ". One dimension is required.");
        user_check(x.size() > 0, function, ": an operand cannot be empty.");
        user_check<NotSupported>(!ir::is_complex(x.dtype()), function, ": ", x.dtype(),
                                 " is not supported yet. A real dtype is required.");
    }
    const DType dtype = result_type({strong(a), strong(v)});
    const DType inner = dtype == DType::boolean ? DType::int64 : dtype;
    return {ops::astype(a, inner), ops::astype(v, inner), dtype};
}

Tensor element(const Tensor& x, int64_t i) { return squeeze(part(x, x.rank() - 1, i, 1), -1); }

}  // namespace

Tensor correlate(const Tensor& a, const Tensor& v, std::string_view mode) {
    return errors_as("correlate", [&] {
        const Pair pair = operands_of("correlate", a, v);
        const bool is_shorter = pair.a.size() < pair.v.size();
        const Ends ends = ends_of("correlate", mode, std::min(pair.a.size(), pair.v.size()));
        const Tensor result =
            is_shorter ? flip(slid(pair.v, pair.a, ends)) : slid(pair.a, pair.v, ends);
        return ops::astype(result, pair.dtype);
    });
}

Tensor convolve(const Tensor& a, const Tensor& v, std::string_view mode) {
    return errors_as("convolve", [&] {
        const Pair pair = operands_of("convolve", atleast_1d(a), atleast_1d(v));
        const bool is_shorter = pair.a.size() < pair.v.size();
        const Ends ends = ends_of("convolve", mode, std::min(pair.a.size(), pair.v.size()));
        const Tensor result =
            is_shorter ? slid(pair.v, flip(pair.a), ends) : slid(pair.a, flip(pair.v), ends);
        return ops::astype(result, pair.dtype);
    });
}

Tensor cross(const Tensor& a, const Tensor& b, int64_t axisa, int64_t axisb, int64_t axisc) {
    user_check(a.rank() > 0 && b.rank() > 0,
               "cross: At least one array has zero dimension: shapes are ", a.shape(), " and ",
               b.shape(), ".");
    return errors_as("cross", [&] {
        const auto both = promoted({strong(a), strong(b)});
        const Tensor x = moveaxis(both[0], normalize_axis("cross", axisa, a.rank()), -1);
        const Tensor y = moveaxis(both[1], normalize_axis("cross", axisb, b.rank()), -1);
        const int64_t m = x.shape().back(), n = y.shape().back();
        user_check((m == 2 || m == 3) && (n == 2 || n == 3),
                   "cross: incompatible dimensions for cross product (dimension must be 2 or 3): ",
                   m, " and ", n, ".");
        const Tensor x0 = element(x, 0), x1 = element(x, 1);
        const Tensor y0 = element(y, 0), y1 = element(y, 1);
        const Tensor last = x0 * y1 - x1 * y0;
        if (m == 2 && n == 2) return last;
        const int64_t to = normalize_axis("cross", axisc, last.rank() + 1);
        Tensor first, second;
        if (m == 2) {
            first = x1 * element(y, 2);
            second = -(x0 * element(y, 2));
        } else if (n == 2) {
            first = -(element(x, 2) * y1);
            second = element(x, 2) * y0;
        } else {
            first = x1 * element(y, 2) - element(x, 2) * y1;
            second = element(x, 2) * y0 - x0 * element(y, 2);
        }
        return stack({first, second, last}, to);
    });
}

}  // namespace composit::numpy
