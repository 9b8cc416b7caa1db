// Covariances by Matern, 5/2.
#include <cmath>
#include <cstdint>
#include <vector>

static double distance(const double* a, const double* b, int64_t d) {
    double squared = 0;
    for (int64_t k = 0; k < d; ++k) squared += (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(squared);
}

extern "C" double matern(const double* x, const double* y, int64_t n, int64_t d, double scale) {
    const double factor = std::sqrt(5.0) / scale;
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
        double own = 0;
        for (int64_t j = 0; j < i; ++j) {
            const double r = factor * distance(x + i * d, x + j * d, d);
            own += y[j] * (1 + r + r * r * (1.0 / 3)) * std::exp(-r);
        }
        total += y[i] * (2 * own + y[i]);
    }
    return total;
}

extern "C" double matern_gradient(const double* x, const double* y, int64_t n, int64_t d,
                                  double scale, double* dx, double* dy) {
    const double factor = std::sqrt(5.0) / scale;
    double dscale = 0;
    for (int64_t i = 0; i < n * d; ++i) dx[i] = 0;
    for (int64_t i = 0; i < n; ++i) dy[i] = 2 * y[i];
    for (int64_t i = 0; i < n; ++i) {
        double own = 0;
        for (int64_t j = 0; j < i; ++j) {
            const double r = factor * distance(x + i * d, x + j * d, d), e = std::exp(-r);
            const double value = (1 + r + r * r * (1.0 / 3)) * e;
            own += y[j] * value;
            dy[j] += 2 * y[i] * value;
            // dk / dr = -r (1 + r) exp(-r) / 3, and dr / dx = factor^2 (x_i - x_j) / r
            const double slope = -2 * y[i] * y[j] * (1 + r) * e * (1.0 / 3);
            dscale -= slope * r * r / scale;
            for (int64_t k = 0; k < d; ++k) {
                const double moved = slope * factor * factor * (x[i * d + k] - x[j * d + k]);
                dx[i * d + k] += moved;
                dx[j * d + k] -= moved;
            }
        }
        dy[i] += 2 * own;
    }
    return dscale;
}
