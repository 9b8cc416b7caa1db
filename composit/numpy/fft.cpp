// The functions of numpy.fft: which axes, how long, how scaled.
#include "composit/numpy/fft.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/fft_transform.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace composit::numpy::fft {
namespace {

// What is done along one axis.
enum class Kind : uint8_t { complex, to_half, from_half };
struct Step {
    int64_t axis, n;
    int sign;
    Kind kind = Kind::complex;
};

// Conjugated before (hfft) or afterwards (ihfft).
enum class Conjugated : uint8_t { none, before, afterwards };

struct Call {
    std::string_view name;
    std::vector<Step> steps;
    bool is_forward = true;
    Norm norm = Norm::backward;
    Conjugated conjugated = Conjugated::none;
};

bool computes_in_single(DType dtype) {
    const DType real = ir::real_part_of(dtype);
    return real == DType::float32 || ir::is_short_float(real);
}

double scale_of(const Call& call) {
    double scale = 1;
    for (const Step& step : call.steps) {
        const auto n = static_cast<double>(step.n);
        if (call.norm == Norm::ortho) scale /= std::sqrt(n);
        if (call.norm == (call.is_forward ? Norm::forward : Norm::backward)) scale /= n;
    }
    return scale;
}

// The element of each of `length` numbers, of which those between the first and the middle one of n
// stand for two.
Tensor halves_of_pairs(int64_t length, int64_t n, DType dtype) {
    const Tensor k = ops::iota({length}, 0);
    const Tensor is_single =
        apply("logical_or", {apply("equal", {k, 0}), apply("equal", {k * int64_t{2}, n})});
    return apply("where", {is_single, scalar(dtype, 1), scalar(dtype, 2)});
}

// x: [part][…]
Tensor along(const Tensor& x, const Step& step) {
    std::vector<int64_t> order(static_cast<size_t>(x.rank()));
    std::iota(order.begin(), order.end(), int64_t{0});
    const auto from = order.begin() + 1 + static_cast<std::ptrdiff_t>(step.axis);
    std::rotate(order.begin() + 1, from, from + 1);
    Tensor moved = ops::transpose(x, order);
    Transform transform{step.n, step.sign, step.n};
    if (step.kind == Kind::to_half) transform.outputs = step.n / 2 + 1;
    if (step.kind == Kind::from_half) {
        transform.is_real_output = true;
        const int64_t length = std::min(moved.shape()[1], step.n / 2 + 1);
        Shape shape(moved.shape().size() - 1, 1);
        shape[0] = length;
        moved = ops::part(moved, 1, 0, length) *
                ops::reshape(halves_of_pairs(length, step.n, x.dtype()), shape);
    }
    const Tensor y = transformed(moved, transform);
    std::vector<int64_t> back(order.size());
    for (size_t d = 0; d < order.size(); ++d)
        back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    return ops::transpose(y, back);
}

// The ufunc that does a step in NumPy, in whose name errors of floating point are reported.
ir::Interned ufunc_of(const Step& step) {
    if (step.kind == Kind::from_half) return ir::intern("irfft");
    if (step.kind == Kind::to_half)
        return ir::intern(step.n % 2 == 0 ? "rfft_n_even" : "rfft_n_odd");
    return ir::intern(step.sign < 0 ? "fft" : "ifft");
}

Tensor with_part(const Tensor& x) {
    Shape shape = x.shape();
    shape.insert(shape.begin(), 1);
    return ops::reshape(x, shape);
}

Tensor part_of(const Tensor& x, int64_t which) {
    return ops::reshape(ops::part(x, 0, which, 1), {x.shape().begin() + 1, x.shape().end()});
}

Tensor computed(const Call& call, const Tensor& x) {
    const DType real_dtype = computes_in_single(x.dtype()) ? DType::float32 : DType::float64;
    Tensor y;
    if (ir::is_complex(x.dtype())) {
        const Tensor im = imag(x);
        y = ops::concatenate(
            {with_part(real(x)), with_part(call.conjugated == Conjugated::before ? -im : im)}, 0);
    } else {
        y = with_part(ops::astype(x, real_dtype));
    }
    for (const Step& step : call.steps) {
        const ir::ReportingScope reporting(ufunc_of(step));
        y = along(y, step);
    }
    const ir::ReportingScope reporting(ufunc_of(call.steps.back()));
    const double scale = scale_of(call);
    const auto scaled = [&](const Tensor& part) { return scale == 1 ? part : part * scale; };
    if (y.shape()[0] == 1) return scaled(part_of(y, 0));
    const Tensor im = scaled(part_of(y, 1));
    return apply("as_complex",
                 {scaled(part_of(y, 0)), call.conjugated == Conjugated::afterwards ? -im : im});
}

void check_lengths(const Call& call) {
    for (const Step& step : call.steps)
        user_check(step.n >= 1, call.name, ": Invalid number of FFT data points (", step.n,
                   ") specified. At least one is required.");
}

Tensor result_of(const Call& call, const Tensor& x) {
    check_lengths(call);
    const bool takes_real = std::any_of(call.steps.begin(), call.steps.end(), [](const Step& step) {
        return step.kind == Kind::to_half;
    });
    user_check<TypeError>(!takes_real || !ir::is_complex(x.dtype()), call.name, ": x has dtype ",
                          x.dtype(), ". A real one is required.");
    return one_node(call.name, {strong(x)},
                    [&](const Tensors& operands) { return computed(call, operands[0]); });
}

int64_t length_of(const Tensor& x, int64_t axis) { return x.shape()[static_cast<size_t>(axis)]; }

Tensor of_one_axis(Call call, const Tensor& x, Length n, int64_t axis, Step step) {
    step.axis = normalize_axis(call.name, axis, x.rank());
    const int64_t length = length_of(x, step.axis);
    step.n = n.value_or(step.kind == Kind::from_half ? 2 * (length - 1) : length);
    call.steps = {step};
    const bool is_half = step.kind == Kind::from_half && x.dtype() == DType::float16;
    return is_half ? ops::astype(result_of(call, x), DType::float16) : result_of(call, x);
}

struct Side {
    int64_t axis, n;
};

// The axes and lengths that are meant; the last is of a half where `is_from_half`.
std::vector<Side> sides_of(std::string_view function, const Tensor& x, const Lengths& s,
                           const Lengths& axes, bool is_from_half) {
    std::vector<int64_t> list;
    if (axes)
        list = *axes;
    else
        for (int64_t d = s ? -static_cast<int64_t>(s->size()) : -x.rank(); d < 0; ++d)
            list.push_back(d);
    user_check(!s || s->size() == list.size(), function,
               ": Shape and axes have different lengths: ", s.value_or(Shape()), " and ", list,
               ".");
    std::vector<Side> sides;
    for (size_t i = 0; i < list.size(); ++i) {
        const int64_t axis = normalize_axis(function, list[i], x.rank());
        int64_t n = s ? (*s)[i] : -1;
        if (n == -1) n = length_of(x, axis);
        if (!s && is_from_half && i + 1 == list.size()) n = 2 * (n - 1);
        sides.push_back({axis, n});
    }
    return sides;
}

Tensor of_axes(std::string_view name, const Tensor& x, const std::vector<Side>& sides,
               bool is_forward, Norm norm) {
    if (sides.empty()) return x;
    Call call{name, {}, is_forward, norm};
    for (size_t i = sides.size(); i-- > 0;)
        call.steps.push_back({sides[i].axis, sides[i].n, is_forward ? -1 : 1});
    return result_of(call, x);
}

Tensor of_real_axes(std::string_view name, const Tensor& x, const std::vector<Side>& sides,
                    bool is_forward, Norm norm) {
    user_check<IndexError>(!sides.empty(), name, ": no axes are given. At least one is required.");
    Call call{name, {}, is_forward, norm};
    for (size_t i = 0; i + 1 < sides.size(); ++i)
        call.steps.push_back({sides[i].axis, sides[i].n, is_forward ? -1 : 1});
    const Step half{sides.back().axis, sides.back().n, is_forward ? -1 : 1,
                    is_forward ? Kind::to_half : Kind::from_half};
    if (is_forward) {  // while it is real
        std::reverse(call.steps.begin(), call.steps.end());
        call.steps.insert(call.steps.begin(), half);
    } else {
        call.steps.push_back(half);
    }
    return result_of(call, x);
}

Tensor forward(std::string_view name, const Tensor& x, const Lengths& s, const Lengths& axes,
               Norm norm) {
    return of_axes(name, x, sides_of(name, x, s, axes, false), true, norm);
}

Tensor inverse(std::string_view name, const Tensor& x, const Lengths& s, const Lengths& axes,
               Norm norm) {
    return of_axes(name, x, sides_of(name, x, s, axes, false), false, norm);
}

Tensor real_forward(std::string_view name, const Tensor& x, const Lengths& s, const Lengths& axes,
                    Norm norm) {
    return of_real_axes(name, x, sides_of(name, x, s, axes, false), true, norm);
}

Tensor real_inverse(std::string_view name, const Tensor& x, const Lengths& s, const Lengths& axes,
                    Norm norm) {
    return of_real_axes(name, x, sides_of(name, x, s, axes, true), false, norm);
}

}  // namespace

Norm norm_named(std::string_view name) {
    if (name == "backward") return Norm::backward;
    if (name == "ortho") return Norm::ortho;
    user_check(name == "forward", "fft: Invalid norm value '", name,
               "'; should be \"backward\", \"ortho\" or \"forward\".");
    return Norm::forward;
}

Tensor fft(const Tensor& x, Length n, int64_t axis, Norm norm) {
    return of_one_axis({"fft", {}, true, norm}, x, n, axis, {0, 0, -1});
}

Tensor ifft(const Tensor& x, Length n, int64_t axis, Norm norm) {
    return of_one_axis({"ifft", {}, false, norm}, x, n, axis, {0, 0, 1});
}

Tensor rfft(const Tensor& x, Length n, int64_t axis, Norm norm) {
    return of_one_axis({"rfft", {}, true, norm}, x, n, axis, {0, 0, -1, Kind::to_half});
}

Tensor irfft(const Tensor& x, Length n, int64_t axis, Norm norm) {
    return of_one_axis({"irfft", {}, false, norm}, x, n, axis, {0, 0, 1, Kind::from_half});
}

// As irfft of the conjugate, and the conjugate of rfft, scaled as transforms the other way.
Tensor hfft(const Tensor& x, Length n, int64_t axis, Norm norm) {
    return of_one_axis({"hfft", {}, true, norm, Conjugated::before}, x, n, axis,
                       {0, 0, 1, Kind::from_half});
}

Tensor ihfft(const Tensor& x, Length n, int64_t axis, Norm norm) {
    return of_one_axis({"ihfft", {}, false, norm, Conjugated::afterwards}, x, n, axis,
                       {0, 0, -1, Kind::to_half});
}

Tensor fftn(const Tensor& x, const Lengths& s, const Lengths& axes, Norm norm) {
    return forward("fftn", x, s, axes, norm);
}
Tensor ifftn(const Tensor& x, const Lengths& s, const Lengths& axes, Norm norm) {
    return inverse("ifftn", x, s, axes, norm);
}
Tensor rfftn(const Tensor& x, const Lengths& s, const Lengths& axes, Norm norm) {
    return real_forward("rfftn", x, s, axes, norm);
}
Tensor irfftn(const Tensor& x, const Lengths& s, const Lengths& axes, Norm norm) {
    return real_inverse("irfftn", x, s, axes, norm);
}
Tensor fft2(const Tensor& x, const Lengths& s, const Lengths& axes, Norm norm) {
    return forward("fft2", x, s, axes, norm);
}
Tensor ifft2(const Tensor& x, const Lengths& s, const Lengths& axes, Norm norm) {
    return inverse("ifft2", x, s, axes, norm);
}
Tensor rfft2(const Tensor& x, const Lengths& s, const Lengths& axes, Norm norm) {
    return real_forward("rfft2", x, s, axes, norm);
}
Tensor irfft2(const Tensor& x, const Lengths& s, const Lengths& axes, Norm norm) {
    return real_inverse("irfft2", x, s, axes, norm);
}

}  // namespace composit::numpy::fft
