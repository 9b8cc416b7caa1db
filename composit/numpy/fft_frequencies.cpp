// The frequencies of Fourier transforms, and the order with zero in the middle.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/fft.h"
#include "composit/numpy/manipulation.h"

namespace composit::numpy::fft {
namespace {

// Between two frequencies.
double distance(std::string_view function, int64_t n, double d) {
    const double length = static_cast<double>(n) * d;
    user_check<ZeroDivisionError>(length != 0, function, ": n is ", n, ", d is ", d,
                                  ". Neither may be zero.");
    return 1 / length;
}

Tensor shifted(std::string_view function, const Tensor& x, const Axis& axes, int sign) {
    return errors_as(function, [&] {
        std::vector<int64_t> shifts(x.shape().size(), 0), all;
        for (int64_t axis = 0; axis < x.rank(); ++axis) all.push_back(axis);
        for (int64_t axis : axes.is_none() ? all : axes.axes()) {  // one that is named twice: twice
            const auto d = static_cast<size_t>(normalize_axis(function, axis, x.rank()));
            shifts[d] += sign * (x.shape()[d] / 2);
        }
        return all.empty() ? x : roll(x, shifts, all);
    });
}

}  // namespace

Tensor fftfreq(int64_t n, double d) {
    const double step = distance("fftfreq", n, d);
    user_check(n >= 0, "fftfreq: negative dimensions are not allowed: n is ", n, ".");
    std::vector<double> values;
    for (int64_t i = 0; i < n; ++i)
        values.push_back(static_cast<double>(i < (n + 1) / 2 ? i : i - n) * step);
    return array(values, {n}, text("fftfreq(", n, ", ", d, ")"));
}

Tensor rfftfreq(int64_t n, double d) {
    const double step = distance("rfftfreq", n, d);
    const int64_t count = n < 0 ? 0 : n / 2 + 1;
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i) * step);
    return array(values, {count}, text("rfftfreq(", n, ", ", d, ")"));
}

Tensor fftshift(const Tensor& x, const Axis& axes) { return shifted("fftshift", x, axes, 1); }
Tensor ifftshift(const Tensor& x, const Axis& axes) { return shifted("ifftshift", x, axes, -1); }

}  // namespace composit::numpy::fft
