// Series in time: warping, a hidden Markov model, a filter, Kalman's smoother.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

extern "C" double warping(const double* x, const double* y, int64_t n, int64_t m) {
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> row(m + 1, infinity);
    row[0] = 0;
    for (int64_t i = 0; i < n; ++i) {
        double before = row[0], left = infinity;
        row[0] = infinity;
        for (int64_t j = 0; j < m; ++j) {
            const double d = x[i] - y[j], above = row[j + 1];
            left = d * d + std::min(std::min(before, above), left);
            before = above;
            row[j + 1] = left;
        }
    }
    return row[m];
}

// One way back: each cell has one that it came from.
extern "C" void warping_gradient(const double* x, const double* y, int64_t n, int64_t m, double* dx,
                                 double* dy) {
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> cost((n + 1) * (m + 1), infinity);
    cost[0] = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double* above = cost.data() + i * (m + 1);
        double* own = cost.data() + (i + 1) * (m + 1);
        double left = infinity;
        for (int64_t j = 0; j < m; ++j) {
            const double d = x[i] - y[j];
            left = d * d + std::min(std::min(above[j], above[j + 1]), left);
            own[j + 1] = left;
        }
    }
    std::fill(dx, dx + n, 0.0);
    std::fill(dy, dy + m, 0.0);
    for (int64_t i = n - 1, j = m - 1; i >= 0 && j >= 0;) {
        const double d = 2 * (x[i] - y[j]);
        dx[i] += d;
        dy[j] -= d;
        const double up = cost[i * (m + 1) + j + 1], left = cost[(i + 1) * (m + 1) + j];
        const double both = cost[i * (m + 1) + j];
        if (up <= left && up <= both) {
            --i;
        } else if (left <= both) {
            --j;
        } else {
            --i;
            --j;
        }
    }
}

extern "C" double markov(const double* start, const double* trans, const double* emit,
                         const int64_t* seen, int64_t s, int64_t v, int64_t t) {
    std::vector<double> alpha(s), next(s);
    for (int64_t i = 0; i < s; ++i) alpha[i] = start[i] * emit[i * v + seen[0]];
    double total = 0;
    for (int64_t k = 1; k < t; ++k) {
        double scale = 0;
        for (int64_t i = 0; i < s; ++i) scale += alpha[i];
        total += std::log(scale);
        std::fill(next.begin(), next.end(), 0.0);
        for (int64_t i = 0; i < s; ++i) {
            const double own = alpha[i] / scale;
            for (int64_t j = 0; j < s; ++j) next[j] += own * trans[i * s + j];
        }
        for (int64_t j = 0; j < s; ++j) alpha[j] = next[j] * emit[j * v + seen[k]];
    }
    double scale = 0;
    for (int64_t i = 0; i < s; ++i) scale += alpha[i];
    return total + std::log(scale);
}

// By the forward and backward probabilities.
extern "C" void markov_gradient(const double* start, const double* trans, const double* emit,
                                const int64_t* seen, int64_t s, int64_t v, int64_t t,
                                double* dstart, double* dtrans, double* demit) {
    std::vector<double> forward(t * s), moved(t * s), scales(t), beta(s), back(s);
    for (int64_t k = 0; k < t; ++k) {
        double* own = forward.data() + k * s;
        double* from = moved.data() + k * s;
        if (k == 0)
            for (int64_t i = 0; i < s; ++i) from[i] = start[i];
        else
            for (int64_t i = 0; i < s; ++i) {
                const double before = own[i - s];
                for (int64_t j = 0; j < s; ++j) from[j] += before * trans[i * s + j];
            }
        double scale = 0;
        for (int64_t j = 0; j < s; ++j) scale += own[j] = from[j] * emit[j * v + seen[k]];
        for (int64_t j = 0; j < s; ++j) own[j] /= scale;
        scales[k] = scale;
    }
    std::fill(dtrans, dtrans + s * s, 0.0);
    std::fill(demit, demit + s * v, 0.0);
    std::fill(beta.begin(), beta.end(), 1.0);
    for (int64_t k = t - 1; k >= 0; --k) {
        const double* from = moved.data() + k * s;
        for (int64_t j = 0; j < s; ++j) {
            const double g = beta[j] / scales[k];
            demit[j * v + seen[k]] += g * from[j];
            back[j] = g * emit[j * v + seen[k]];
        }
        if (k == 0) break;
        const double* before = forward.data() + (k - 1) * s;
        for (int64_t i = 0; i < s; ++i) {
            double sum = 0;
            for (int64_t j = 0; j < s; ++j) {
                sum += trans[i * s + j] * back[j];
                dtrans[i * s + j] += before[i] * back[j];
            }
            beta[i] = sum;
        }
    }
    for (int64_t i = 0; i < s; ++i) dstart[i] = back[i];
}

extern "C" void biquad(const double* x, int64_t n, double b0, double b1, double b2, double a1,
                       double a2, double* y) {
    double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double v = (b0 * x[i] + b1 * x1 + b2 * x2 - a2 * y2) - a1 * y1;
        x2 = x1;
        x1 = x[i];
        y2 = y1;
        y[i] = y1 = v;
    }
}

// The filter of the gradient runs from the end; the coefficients' are correlations.
extern "C" void biquad_gradient(const double* x, int64_t n, double b0, double b1, double b2,
                                double a1, double a2, const double* received, double* dx,
                                double* others) {
    std::vector<double> y(n), g(n + 2);
    biquad(x, n, b0, b1, b2, a1, a2, y.data());
    double g1 = 0, g2 = 0;
    for (int64_t i = n - 1; i >= 0; --i) {
        const double own = (received[i] - a2 * g2) - a1 * g1;
        g2 = g1;
        g[i] = g1 = own;
    }
    double c0 = 0, c1 = 0, c2 = 0, d1 = 0, d2 = 0;
    for (int64_t i = 0; i < n; ++i) dx[i] = b0 * g[i] + b1 * g[i + 1] + b2 * g[i + 2];
    for (int64_t i = 0; i < n; ++i) {
        c0 += g[i] * x[i];
        c1 += g[i + 1] * x[i];
        c2 += g[i + 2] * x[i];
        d1 -= g[i + 1] * y[i];
        d2 -= g[i + 2] * y[i];
    }
    const double all[] = {c0, c1, c2, d1, d2};
    std::copy(all, all + 5, others);
}

extern "C" void smoothed(const double* z, int64_t n, double q, double r, double* y) {
    std::vector<double> weight(n);
    double mean = z[0], variance = r;
    y[0] = mean;
    weight[0] = variance / (variance + q);
    for (int64_t k = 1; k < n; ++k) {
        const double ahead = variance + q, gain = ahead / (ahead + r);
        mean += gain * (z[k] - mean);
        variance = gain * r;
        y[k] = mean;
        weight[k] = variance / (variance + q);
    }
    for (int64_t k = n - 2; k >= 0; --k) y[k] += weight[k] * (y[k + 1] - y[k]);
}

extern "C" void smoothed_gradient(const double* z, int64_t n, double q, double r,
                                  const double* received, double* dz, double* others) {
    std::vector<double> x(n), p(n), gains(n), y(n), dx(n), dp(n);
    double mean = z[0], variance = r;
    x[0] = mean;
    p[0] = variance;
    for (int64_t k = 1; k < n; ++k) {
        const double ahead = variance + q, gain = ahead / (ahead + r);
        mean += gain * (z[k] - mean);
        variance = gain * r;
        x[k] = mean;
        p[k] = variance;
        gains[k] = gain;
    }
    y[n - 1] = mean;
    for (int64_t k = n - 2; k >= 0; --k) y[k] = x[k] + p[k] / (p[k] + q) * (y[k + 1] - x[k]);
    double g = 0, dq = 0, dr = 0;
    for (int64_t k = 0; k < n - 1; ++k) {
        g += received[k];
        const double over = 1 / (p[k] + q), weight = p[k] * over;
        const double dweight = g * (y[k + 1] - x[k]) * over * over;
        dp[k] = dweight * q;
        dq -= dweight * p[k];
        dx[k] = g * (1 - weight);
        g *= weight;
    }
    dx[n - 1] = g + received[n - 1];
    double dmean = dx[n - 1], dvariance = dp[n - 1];
    for (int64_t k = n - 1; k > 0; --k) {
        const double gain = gains[k], ahead = p[k - 1] + q, over = 1 / (ahead + r);
        const double dgain = dmean * (z[k] - x[k - 1]) + dvariance * r;
        dz[k] = gain * dmean;
        dr += dvariance * gain - dgain * ahead * over * over;
        const double dahead = dgain * r * over * over;
        dq += dahead;
        dvariance = dahead + dp[k - 1];
        dmean = (1 - gain) * dmean + dx[k - 1];
    }
    dz[0] = dmean;
    dr += dvariance;
    others[0] = dq;
    others[1] = dr;
}
