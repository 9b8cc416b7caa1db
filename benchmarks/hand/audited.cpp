// Kernels of the audit (tests/python/knossos/audited_sciences.py, audited_models.py) by hand.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" {

// Successive over-relaxation on a rows x columns grid; zero at the edges.
void poisson(const double* f, int64_t rows, int64_t columns, double h, double omega, int64_t sweeps,
             double* u) {
    std::fill(u, u + rows * columns, 0.0);
    const double quarter = 0.25 * omega, rest = 1 - omega, area = h * h;
    for (int64_t sweep = 0; sweep < sweeps; ++sweep)
        for (int64_t i = 1; i < rows - 1; ++i) {
            double* row = u + i * columns;
            for (int64_t j = 1; j < columns - 1; ++j)
                row[j] =
                    rest * row[j] + quarter * (row[j - columns] + row[j + columns] + row[j - 1] +
                                               row[j + 1] - area * f[i * columns + j]);
        }
}

// The best local alignment with affine gaps, a row at a time.
double gotoh(const int64_t* a, int64_t n, const int64_t* b, int64_t m, const double* scores,
             double opening, double extending) {
    std::vector<double> h(static_cast<size_t>(m) + 1, 0.0), f(static_cast<size_t>(m) + 1, -1e9);
    double best = 0;
    for (int64_t i = 1; i <= n; ++i) {
        double diagonal = 0, left = 0, e = -1e9;
        for (int64_t j = 1; j <= m; ++j) {
            const auto at = static_cast<size_t>(j);
            e = std::max(left - opening, e - extending);
            f[at] = std::max(h[at] - opening, f[at] - extending);
            left = std::max({0.0, diagonal + scores[a[i - 1] * 4 + b[j - 1]], e, f[at]});
            diagonal = h[at];
            h[at] = left;
            best = std::max(best, left);
        }
    }
    return best;
}

double garch(const double* r, int64_t n, double omega, double alpha, double beta) {
    double mean = 0, variance = 0, total = 0;
    for (int64_t i = 0; i < n; ++i) mean += r[i];
    mean /= static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) variance += (r[i] - mean) * (r[i] - mean);
    variance /= static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) {
        total += 0.5 * (std::log(2 * M_PI) + std::log(variance) + r[i] * r[i] / variance);
        variance = omega + alpha * r[i] * r[i] + beta * variance;
    }
    return total;
}

// With respect to the returns, then omega, alpha and beta.
void garch_gradient(const double* r, int64_t n, double omega, double alpha, double beta, double* dr,
                    double* rest) {
    std::vector<double> v(static_cast<size_t>(n) + 1);
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < n; ++i) mean += r[i];
    mean /= static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) variance += (r[i] - mean) * (r[i] - mean);
    v[0] = variance / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i)
        v[static_cast<size_t>(i) + 1] =
            omega + alpha * r[i] * r[i] + beta * v[static_cast<size_t>(i)];
    double dv = 0;
    rest[0] = rest[1] = rest[2] = 0;
    for (int64_t i = n - 1; i >= 0; --i) {
        const double here = v[static_cast<size_t>(i)], inverse = 1 / here;
        rest[0] += dv;
        rest[1] += dv * r[i] * r[i];
        rest[2] += dv * here;
        dr[i] = r[i] * (inverse + 2 * alpha * dv);
        dv = beta * dv + 0.5 * inverse * (1 - r[i] * r[i] * inverse);
    }
    for (int64_t i = 0; i < n; ++i) dr[i] += dv * 2 * (r[i] - mean) / static_cast<double>(n);
}

void kmeans_step(const double* points, int64_t n, int64_t d, const double* centers, int64_t k,
                 double* out) {
    std::vector<int64_t> counts(static_cast<size_t>(k), 0);
    std::fill(out, out + k * d, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        const double* p = points + i * d;
        int64_t nearest = 0;
        double least = 1e300;
        for (int64_t c = 0; c < k; ++c) {
            double distance = 0;
            for (int64_t j = 0; j < d; ++j)
                distance += (centers[c * d + j] - p[j]) * (centers[c * d + j] - p[j]);
            if (distance < least) least = distance, nearest = c;
        }
        for (int64_t j = 0; j < d; ++j) out[nearest * d + j] += p[j];
        ++counts[static_cast<size_t>(nearest)];
    }
    for (int64_t c = 0; c < k; ++c)
        for (int64_t j = 0; j < d; ++j) {
            const int64_t count = counts[static_cast<size_t>(c)];
            out[c * d + j] =
                count ? out[c * d + j] / static_cast<double>(count) : centers[c * d + j];
        }
}

void lu_solve(const double* a, int64_t n, const double* b, double* x) {
    std::vector<double> lu(a, a + n * n);
    std::copy(b, b + n, x);
    for (int64_t k = 0; k < n; ++k) {
        double* top = lu.data() + k * n;
        int64_t p = k;
        for (int64_t i = k + 1; i < n; ++i)
            if (std::fabs(lu[static_cast<size_t>(i * n + k)]) >
                std::fabs(lu[static_cast<size_t>(p * n + k)]))
                p = i;
        if (p != k) {
            std::swap_ranges(top, top + n, lu.data() + p * n);
            std::swap(x[k], x[p]);
        }
        const double inverse = 1 / top[k];
        for (int64_t i = k + 1; i < n; ++i) {
            double* row = lu.data() + i * n;
            const double factor = row[k] *= inverse;
            for (int64_t j = k + 1; j < n; ++j) row[j] -= factor * top[j];
            x[i] -= factor * x[k];
        }
    }
    for (int64_t i = n - 1; i >= 0; --i) {
        double sum = x[i];
        for (int64_t j = i + 1; j < n; ++j) sum -= lu[static_cast<size_t>(i * n + j)] * x[j];
        x[i] = sum / lu[static_cast<size_t>(i * n + i)];
    }
}

static double rate(double x, double y) {
    return std::fabs(x / y) < 1e-6 ? y * (1 - x / y / 2) : x / (std::exp(x / y) - 1);
}

double hodgkin_huxley(double current, double g_na, double g_k, double g_l, double dt,
                      int64_t steps) {
    double v = -65, m = 0.05, h = 0.6, n = 0.32;
    for (int64_t i = 0; i < steps; ++i) {
        const double am = 0.1 * rate(-(v + 40), 10), bm = 4 * std::exp(-(v + 65) / 18);
        const double ah = 0.07 * std::exp(-(v + 65) / 20), bh = 1 / (1 + std::exp(-(v + 35) / 10));
        const double an = 0.01 * rate(-(v + 55), 10), bn = 0.125 * std::exp(-(v + 65) / 80);
        m += dt * (am * (1 - m) - bm * m);
        h += dt * (ah * (1 - h) - bh * h);
        n += dt * (an * (1 - n) - bn * n);
        const double total =
            g_na * m * m * m * h * (v - 50) + g_k * n * n * n * n * (v + 77) + g_l * (v + 54.4);
        v += dt * (current - total);
    }
    return v;
}
}
