// Windows as functions of rows of equally spaced numbers.
#include "composit/aten/windows.h"

#include "composit/aten/creation.h"
#include "composit/aten/rows.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/numpy/windows.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numbers>
#include <string_view>

namespace composit::aten {
namespace {

// start, start + step, …: M numbers, as far from their middle on one side as on the other.
Tensor spaced(double start, double step, int64_t M) {
    return ir::constant(
        linspace(start, start + static_cast<double>(M - 1) * step, M, DType::float64));
}

// `build` for two numbers and more; one is 1.
template <class Build>
Tensor window(std::string_view name, int64_t M, DType dtype, const Build& build) {
    user_check<ValueError>(M >= 0, name, " requires non-negative window length, got M=", M);
    return M < 2 ? numpy::ones({M}, dtype) : ops::astype(build(), dtype);
}

// As many parts as a window has from its first number to its last, or to the one after.
double parts_of(int64_t M, bool sym) { return static_cast<double>(sym ? M - 1 : M); }

// Its middle: of M + 1 numbers if it is periodic.
double middle_of(int64_t M, bool sym) { return parts_of(M, sym || M < 2) / 2; }

}  // namespace

Tensor bartlett_window(int64_t M, bool sym, DType dtype) {
    return window("bartlett", M, dtype,
                  [&] { return 1.0 - rows::abs(spaced(-1, 2 / parts_of(M, sym), M)); });
}

Tensor general_cosine_window(int64_t M, const std::vector<double>& a, bool sym, DType dtype) {
    return window("general_cosine", M, dtype, [&] {
        user_check<ValueError>(!a.empty(), "Coefficients cannot be empty");
        const Tensor x = spaced(0, 2 * std::numbers::pi / parts_of(M, sym), M);
        Tensor total = numpy::full({M}, a[0], DType::float64);
        for (size_t i = 1; i < a.size(); ++i)
            total = total +
                    (i % 2 == 0 ? a[i] : -a[i]) * numpy::apply("cos", {static_cast<double>(i) * x});
        return total;
    });
}

Tensor general_hamming_window(int64_t M, double alpha, bool sym, DType dtype) {
    return general_cosine_window(M, {alpha, 1 - alpha}, sym, dtype);
}

Tensor hann_window(int64_t M, bool sym, DType dtype) {
    return general_hamming_window(M, 0.5, sym, dtype);
}

Tensor blackman_window(int64_t M, bool sym, DType dtype) {
    return general_cosine_window(M, {0.42, 0.5, 0.08}, sym, dtype);
}

Tensor nuttall_window(int64_t M, bool sym, DType dtype) {
    return general_cosine_window(M, {0.3635819, 0.4891775, 0.1365995, 0.0106411}, sym, dtype);
}

Tensor cosine_window(int64_t M, bool sym, DType dtype) {
    return window("cosine", M, dtype, [&] {
        const double part = std::numbers::pi / static_cast<double>(sym ? M : M + 1);
        return numpy::apply("sin", {spaced(part / 2, part, M)});
    });
}

Tensor exponential_window(int64_t M, std::optional<double> center, double tau, bool sym,
                          DType dtype) {
    user_check<ValueError>(M >= 0, "exponential requires non-negative window length, got M=", M);
    user_check<ValueError>(tau > 0, "Tau must be positive, got: ", number_text(tau), " instead.");
    user_check<ValueError>(!sym || !center, "Center must be None for symmetric windows");
    if (M == 0) return numpy::ones({0}, dtype);
    const double middle = center.value_or(middle_of(M, sym));
    return ops::astype(rows::exp(-rows::abs(spaced(-middle / tau, 1 / tau, M))), dtype);
}

Tensor gaussian_window(int64_t M, double std, bool sym, DType dtype) {
    user_check<ValueError>(M < 0 || std > 0,
                           "Standard deviation must be positive, got: ", number_text(std),
                           " instead.");
    return window("gaussian", M, dtype, [&] {
        const double step = 1 / (std * std::numbers::sqrt2);
        return rows::exp(-rows::square(spaced(-middle_of(M, sym) * step, step, M)));
    });
}

Tensor kaiser_window(int64_t M, double beta, bool sym, DType dtype) {
    user_check<ValueError>(M < 0 || beta >= 0,
                           "beta must be non-negative, got: ", number_text(beta), " instead.");
    return window("kaiser", M, dtype, [&] {
        const Tensor x = spaced(-1, 2 / parts_of(M, sym), M);
        // Rounding may lead beyond the end.
        const Tensor inside = rows::maximum(1.0 - x * x, 0.0);
        return numpy::i0(beta * rows::sqrt(inside)) /
               numpy::i0(numpy::scalar(DType::float64, beta));
    });
}

}  // namespace composit::aten
