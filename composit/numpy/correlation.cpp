// Correlations as contractions of windows; where one sequence sticks out, of halves of halves.
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

// Pieces of at most so many elements are summed up element by element.
constexpr int64_t smallest_piece = 64;

// x with zeros behind it.
Tensor padded(const Tensor& x, int64_t length) {
    if (x.size() == length) return x;
    return ops::concatenate({x, full({length - x.size()}, scalar(x.dtype(), 0))}, 0);
}

// Row b, column t: the sum of rows[b, c] w[t - c] for c up to t.
Tensor triangles(const Tensor& rows, const Tensor& w) {
    const int64_t n = w.size();
    const Tensor before = full({n - 1}, scalar(w.dtype(), 0));
    const Tensor shifted = flip(sliding_window_view(ops::concatenate({before, w}, 0), {n}), 1);
    const Tensor inside = arange(n) <= reshape(arange(n), {n, 1});
    const Tensor products = expand_dims(rows, 1) * shifted;
    // Sums begin with +0, as those of contractions: one product of -0 gives 0.
    return sum(apply("where", {inside, products, scalar(w.dtype(), 0)}), 2, w.dtype()) + 0;
}

// a[0] w[r] + a[1] w[r - 1] + … + a[r] w[0] for every r; a and w are of one length. Results are
// halved again and again: what the second half of a piece gets of the first half of a is a product
// with one matrix, the same for all pieces. What zeros fill up reaches only what is cut off.
Tensor sliding_in(const Tensor& a, const Tensor& w) {
    const int64_t n = a.size();
    int64_t piece = n, count = 1;
    while (piece > smallest_piece) piece = (piece + 1) / 2, count *= 2;
    const Tensor x = padded(a, piece * count), y = padded(w, piece * count);
    Tensor result = triangles(reshape(x, {count, piece}), part(y, 0, 0, piece));
    for (; count > 1; piece *= 2, count /= 2) {
        const Tensor before = part(reshape(x, {count / 2, 2 * piece}), 1, 0, piece);
        const Tensor shifted = sliding_window_view(part(y, 0, 1, 2 * piece - 1), {piece});
        const Tensor more = ops::contract(flip(before, 1), shifted, {{}, {}, {1}, {1}});
        const Tensor pairs = reshape(result, {count / 2, 2 * piece});
        result =
            ops::concatenate({part(pairs, 1, 0, piece), part(pairs, 1, piece, piece) + more}, 1);
    }
    return part(ravel(result), 0, 0, n);
}

// a is at least as long as v.
Tensor slid(const Tensor& a, const Tensor& v, const Ends& ends) {
    const int64_t length = a.size(), width = v.size(), beyond = width - 1;
    std::vector<Tensor> parts;
    if (ends.left > 0) {
        const Tensor all = sliding_in(part(a, 0, 0, beyond), part(flip(v), 0, 0, beyond));
        parts.push_back(part(all, 0, beyond - ends.left, ends.left));
    }
    parts.push_back(ops::contract(sliding_window_view(a, {width}), v, {{}, {}, {1}, {0}}));
    if (ends.right > 0) {
        const Tensor all =
            sliding_in(flip(part(a, 0, length - beyond, beyond)), part(v, 0, 0, beyond));
        parts.push_back(part(flip(all), 0, 0, ends.right));
    }
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
    }
    user_check(a.size() > 0, function, ": a cannot be empty.");
    user_check(v.size() > 0, function, ": v cannot be empty.");
    const DType dtype = result_type({strong(a), strong(v)});
    const DType inner = dtype == DType::boolean ? DType::int64 : dtype;
    return {ops::astype(a, inner), ops::astype(v, inner), dtype};
}

Tensor element(const Tensor& x, int64_t i) { return squeeze(part(x, x.rank() - 1, i, 1), -1); }

}  // namespace

Tensor correlate(const Tensor& a, const Tensor& v, std::string_view mode) {
    const ir::LocationScope quiet(ir::current_location(), nullptr);  // as NumPy's loops are
    return errors_as("correlate", [&] {
        const bool is_complex = ir::is_complex(v.dtype());
        const Pair pair = operands_of("correlate", a, is_complex ? apply("conjugate", {v}) : v);
        const bool is_shorter = pair.a.size() < pair.v.size();
        const Ends ends = ends_of("correlate", mode, std::min(pair.a.size(), pair.v.size()));
        const Tensor result =
            is_shorter ? flip(slid(pair.v, pair.a, ends)) : slid(pair.a, pair.v, ends);
        return ops::astype(result, pair.dtype);
    });
}

Tensor convolve(const Tensor& a, const Tensor& v, std::string_view mode) {
    const ir::LocationScope quiet(ir::current_location(), nullptr);  // as NumPy's loops are
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
