// Heat in a plate, Fourier's transform and Lambert's W.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace {

void step(const double* u, const double* k, double* out, int64_t n, int64_t m) {
    for (int64_t i = 1; i < n - 1; ++i) {
        const double *above = u + (i - 1) * m, *here = above + m, *below = here + m;
        double* to = out + i * m;
        for (int64_t j = 1; j < m - 1; ++j)
            to[j] = here[j] +
                    k[i * m + j] * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
    }
}

}  // namespace

extern "C" void heat(const double* u, const double* k, int64_t n, int64_t m, int64_t steps,
                     double* out) {
    std::vector<double> one(u, u + n * m), other(one);
    for (int64_t t = 0; t < steps; ++t) {
        step(one.data(), k, other.data(), n, m);
        std::swap(one, other);
    }
    std::memcpy(out, one.data(), sizeof(double) * n * m);
}

// All states are kept.
extern "C" void heat_gradient(const double* u, const double* k, int64_t n, int64_t m, int64_t steps,
                              const double* received, double* du, double* dk) {
    const int64_t size = n * m;
    std::vector<double> states(size * (steps + 1));
    std::memcpy(states.data(), u, sizeof(double) * size);
    for (int64_t t = 0; t < steps; ++t) {
        double* next = states.data() + (t + 1) * size;
        const double* here = next - size;
        for (int64_t j = 0; j < m; ++j) {
            next[j] = here[j];
            next[size - m + j] = here[size - m + j];
        }
        for (int64_t i = 0; i < n; ++i) {
            next[i * m] = here[i * m];
            next[i * m + m - 1] = here[i * m + m - 1];
        }
        step(here, k, next, n, m);
    }
    std::vector<double> g(received, received + size), scaled(size), before(size);
    std::memset(dk, 0, sizeof(double) * size);
    for (int64_t t = steps - 1; t >= 0; --t) {
        const double* state = states.data() + t * size;
        for (int64_t i = 1; i < n - 1; ++i)
            for (int64_t j = 1; j < m - 1; ++j) {
                const int64_t at = i * m + j;
                scaled[at] = k[at] * g[at];
                dk[at] += g[at] * (state[at - m] + state[at + m] + state[at - 1] + state[at + 1] -
                                   4 * state[at]);
            }
        const double* s = scaled.data();
        for (int64_t i = 0; i < n; ++i) {
            const bool is_edge = i == 0 || i == n - 1;
            const double* own = s + i * m;
            double* to = before.data() + i * m;
            for (int64_t j = 0; j < m; ++j)
                to[j] = g[i * m + j] + (is_edge ? 0 : -4 * own[j]) + (i > 0 ? own[j - m] : 0) +
                        (i < n - 1 ? own[j + m] : 0);
            if (is_edge) continue;
            for (int64_t j = 0; j < m - 1; ++j) to[j] += own[j + 1];
            for (int64_t j = 1; j < m; ++j) to[j] += own[j - 1];
        }
        std::swap(g, before);
    }
    std::memcpy(du, g.data(), sizeof(double) * size);
}

// Radix 2, with the twiddles of the last stage in a table.
extern "C" void fourier(const double* re, const double* im, int64_t n, double* a, double* b) {
    std::vector<double> c(n / 2), s(n / 2);
    for (int64_t k = 0; k < n / 2; ++k) {
        c[k] = std::cos(-2 * M_PI * k / n);
        s[k] = std::sin(-2 * M_PI * k / n);
    }
    int64_t j = 0;
    for (int64_t i = 0; i < n; ++i) {
        a[j] = re[i];
        b[j] = im[i];
        int64_t bit = n / 2;
        for (; bit > 0 && j >= bit; bit /= 2) j -= bit;
        j += bit;
    }
    std::vector<double> own_c(n / 2), own_s(n / 2);
    for (int64_t half = 1; half < n; half *= 2) {
        for (int64_t k = 0; k < half; ++k) {
            own_c[k] = c[k * (n / 2 / half)];
            own_s[k] = s[k * (n / 2 / half)];
        }
        for (int64_t i = 0; i < n; i += 2 * half) {
            double *ai = a + i, *bi = b + i, *aj = ai + half, *bj = bi + half;
#pragma GCC ivdep
            for (int64_t k = 0; k < half; ++k) {
                const double x = own_c[k] * aj[k] - own_s[k] * bj[k];
                const double y = own_s[k] * aj[k] + own_c[k] * bj[k];
                aj[k] = ai[k] - x;
                bj[k] = bi[k] - y;
                ai[k] += x;
                bi[k] += y;
            }
        }
    }
}

// The transform is linear: its adjoint is the transform with the two parts exchanged.
extern "C" void fourier_gradient(const double* da, const double* db, int64_t n, double* dre,
                                 double* dim) {
    fourier(db, da, n, dim, dre);
}

namespace {

double lambert_of(double x) {
    double w = std::log(1 + x);
    for (int i = 0; i < 20; ++i) {
        const double e = std::exp(w), f = w * e - x;
        const double step = f / (e * (w + 1) - (w + 2) * f / (2 * w + 2));
        w -= step;
        if (std::fabs(step) < 1e-10 * (1 + std::fabs(w))) break;
    }
    return w;
}

}  // namespace

extern "C" void lambert(const double* x, int64_t n, double* w) {
    for (int64_t i = 0; i < n; ++i) w[i] = lambert_of(x[i]);
}

// dw / dx = w / (x (1 + w))
extern "C" void lambert_gradient(const double* x, const double* received, int64_t n, double* dx) {
    for (int64_t i = 0; i < n; ++i) {
        const double w = lambert_of(x[i]);
        dx[i] = received[i] * w / (x[i] * (1 + w));
    }
}
