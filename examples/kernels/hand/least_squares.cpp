// Squared distances of a polynomial to the sign function, and their gradient, written by hand.
#include <algorithm>
#include <cstdint>

namespace {

double residual_at(double t, const double* x, int64_t m) {
    double value = 0;
    for (int64_t j = m; j-- > 0;) value = value * t + x[j];
    return (t > 0) - (t < 0) - value;
}

}  // namespace

extern "C" {

double polynomial(const double* x, int64_t m, int64_t n) {
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double residual = residual_at(2.0 * i / (n - 1) - 1.0, x, m);
        total += residual * residual;
    }
    return 0.5 * total;
}

double polynomial_gradient(const double* x, int64_t m, int64_t n, double* dx) {
    std::fill_n(dx, m, 0.0);
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double t = 2.0 * i / (n - 1) - 1.0, residual = residual_at(t, x, m);
        total += residual * residual;
        double power = residual;
        for (int64_t j = 0; j < m; ++j, power *= t) dx[j] -= power;
    }
    return 0.5 * total;
}
}
