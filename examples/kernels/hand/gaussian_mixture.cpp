// The Gaussian mixture model of gaussian_mixture.py and its gradient, written by hand.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

struct Parameters {
    int64_t k, d, columns;
    std::vector<double> diagonal, sums;

    Parameters(const double* factors, int64_t k, int64_t d)
        : k(k), d(d), columns(d * (d + 1) / 2), diagonal(k * d), sums(k) {
        for (int64_t j = 0; j < k; ++j)
            for (int64_t a = 0; a < d; ++a) {
                sums[j] += factors[j * columns + a];
                diagonal[j * d + a] = std::exp(factors[j * columns + a]);
            }
    }

    // centred = x - mean, moved = factor * centred; the square of the latter's length.
    double move(const double* __restrict factors, const double* __restrict x,
                const double* __restrict mean, int64_t j, double* __restrict centred,
                double* __restrict moved) const {
        for (int64_t a = 0; a < d; ++a) centred[a] = x[a] - mean[a];
        for (int64_t a = 0; a < d; ++a) moved[a] = diagonal[j * d + a] * centred[a];
        const double* column = factors + j * columns + d;
        for (int64_t a = 0; a < d; ++a) {
            const double own = centred[a];
            for (int64_t b = a + 1; b < d; ++b) moved[b] += column[b - a - 1] * own;
            column += d - a - 1;
        }
        double square = 0;
        for (int64_t a = 0; a < d; ++a) square += moved[a] * moved[a];
        return square;
    }
};

// The logarithm of a sum of exponentials; the terms become their shares of it.
double log_sum(double* terms, int64_t k) {
    const double largest = *std::max_element(terms, terms + k);
    double sum = 0;
    for (int64_t j = 0; j < k; ++j) sum += terms[j] = std::exp(terms[j] - largest);
    for (int64_t j = 0; j < k; ++j) terms[j] /= sum;
    return largest + std::log(sum);
}

}  // namespace

extern "C" double gaussian_mixture(const double* alphas, int64_t k, const double* means, int64_t d,
                                   const double* factors, const double* x, int64_t n, double gamma,
                                   int64_t m) {
    const Parameters p(factors, k, d);
    double prior = 0, total = 0;
    for (int64_t j = 0; j < k; ++j) {
        double squares = 0;
        for (int64_t a = 0; a < d; ++a) squares += p.diagonal[j * d + a] * p.diagonal[j * d + a];
        for (int64_t a = d; a < p.columns; ++a)
            squares += factors[j * p.columns + a] * factors[j * p.columns + a];
        prior += 0.5 * gamma * gamma * squares - static_cast<double>(m) * p.sums[j];
    }
    std::vector<double> terms(k), centred(d), moved(d);
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < k; ++j) {
            const double square =
                p.move(factors, x + i * d, means + j * d, j, centred.data(), moved.data());
            terms[j] = alphas[j] + p.sums[j] - 0.5 * square;
        }
        total += log_sum(terms.data(), k);
    }
    std::copy_n(alphas, k, terms.begin());
    return total - static_cast<double>(n) * log_sum(terms.data(), k) + prior;
}

extern "C" double gaussian_mixture_gradient(const double* alphas, int64_t k, const double* means,
                                            int64_t d, const double* factors, const double* x,
                                            int64_t n, double gamma, int64_t m, double* dalphas,
                                            double* dmeans, double* dfactors, double* dx) {
    const Parameters p(factors, k, d);
    const int64_t columns = p.columns;
    double squares = 0;
    for (int64_t j = 0; j < k; ++j) {
        double* own = dfactors + j * columns;
        for (int64_t a = 0; a < columns; ++a) {
            const double v = a < d ? p.diagonal[j * d + a] : factors[j * columns + a];
            squares += v * v;
            own[a] = gamma * gamma * v * (a < d ? v : 1) - (a < d ? static_cast<double>(m) : 0);
        }
    }
    std::vector<double> terms(alphas, alphas + k), centred(k * d), moved(k * d), g(d);
    log_sum(terms.data(), k);
    for (int64_t j = 0; j < k; ++j) dalphas[j] = -static_cast<double>(n) * terms[j];
    std::fill_n(dmeans, k * d, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < k; ++j) {
            const double square =
                p.move(factors, x + i * d, means + j * d, j, &centred[j * d], &moved[j * d]);
            terms[j] = alphas[j] + p.sums[j] - 0.5 * square;
        }
        log_sum(terms.data(), k);
        double* __restrict point = dx + i * d;
        std::fill_n(point, d, 0.0);
        for (int64_t j = 0; j < k; ++j) {
            const double share = terms[j];
            const double* __restrict c = &centred[j * d];
            double* __restrict received = &moved[j * d];  // by moved
            double* __restrict own = dfactors + j * columns;
            const double* column = factors + j * columns + d;
            double* below = own + d;
            dalphas[j] += share;
            for (int64_t a = 0; a < d; ++a) received[a] *= -share;
            for (int64_t a = 0; a < d; ++a)
                own[a] += share + received[a] * c[a] * p.diagonal[j * d + a];
            for (int64_t a = 0; a < d; ++a) {
                double sum = p.diagonal[j * d + a] * received[a];
                for (int64_t b = a + 1; b < d; ++b) {
                    sum += column[b - a - 1] * received[b];
                    below[b - a - 1] += received[b] * c[a];
                }
                column += d - a - 1;
                below += d - a - 1;
                g[a] = sum;
            }
            for (int64_t a = 0; a < d; ++a) dmeans[j * d + a] -= g[a];
            for (int64_t a = 0; a < d; ++a) point[a] += g[a];
        }
    }
    return gamma * squares;
}
