// Options: a portfolio by Black and Scholes, an American put by a tree.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752); }
double normal_pdf(double x) { return 0.39894228040143268 * std::exp(-0.5 * x * x); }

}  // namespace

extern "C" double portfolio(const double* strikes, const double* years, int64_t n, double spot,
                            double rate, double sigma) {
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double k = strikes[i], t = years[i], spread = sigma * std::sqrt(t);
        const double d1 = (std::log(spot / k) + (rate + 0.5 * sigma * sigma) * t) / spread;
        total += spot * normal_cdf(d1) - k * std::exp(-rate * t) * normal_cdf(d1 - spread);
    }
    return total;
}

// By the closed forms of the Greeks.
extern "C" void portfolio_gradient(const double* strikes, const double* years, int64_t n,
                                   double spot, double rate, double sigma, double* dstrikes,
                                   double* dyears, double* others) {
    double dspot = 0, drate = 0, dsigma = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double k = strikes[i], t = years[i], root = std::sqrt(t), spread = sigma * root;
        const double d1 = (std::log(spot / k) + (rate + 0.5 * sigma * sigma) * t) / spread;
        const double discount = std::exp(-rate * t);
        const double first = normal_cdf(d1), second = discount * normal_cdf(d1 - spread);
        const double density = spot * normal_pdf(d1);
        dspot += first;
        drate += k * t * second;
        dsigma += density * root;
        dstrikes[i] = -second;
        dyears[i] = density * sigma / (2 * root) + rate * k * second;
    }
    others[0] = dspot;
    others[1] = drate;
    others[2] = dsigma;
}

extern "C" double american_put(double spot, double strike, double rate, double sigma, double years,
                               int64_t steps) {
    const double dt = years / steps, up = std::exp(sigma * std::sqrt(dt)), down = 1 / up;
    const double p = (std::exp(rate * dt) - down) / (up - down), discount = std::exp(-rate * dt);
    std::vector<double> values(steps + 1), even(steps + 1), odd(steps + 1);
    // Prices of all levels: up^(2 j - i) is a power of up^2 from the lowest one.
    std::vector<double> power(2 * steps + 1);
    power[steps] = 1;
    for (int64_t k = 1; k <= steps; ++k) {
        power[steps + k] = std::exp(sigma * std::sqrt(dt) * k);
        power[steps - k] = 1 / power[steps + k];
    }
    for (int64_t j = 0; j <= steps; ++j) {
        even[j] = strike - spot * power[2 * j];
        if (j < steps) odd[j] = strike - spot * power[2 * j + 1];
        values[j] = std::max(even[j], 0.0);
    }
    const double a = discount * p, b = discount * (1 - p);
    for (int64_t i = steps - 1; i >= 0; --i) {
        const int64_t shift = steps - i;
        const double* exercise = (shift % 2 ? odd.data() : even.data()) + shift / 2;
        for (int64_t j = 0; j <= i; ++j)
            values[j] = std::max(a * values[j + 1] + b * values[j], exercise[j]);
    }
    return values[0];
}

extern "C" void american_put_gradient(double spot, double strike, double rate, double sigma,
                                      double years, int64_t steps, double* out) {
    const double dt = years / steps, root = std::sqrt(dt), up = std::exp(sigma * root);
    const double down = 1 / up, grown = std::exp(rate * dt), discount = 1 / grown;
    const double p = (grown - down) / (up - down);
    std::vector<double> power(2 * steps + 1), even(steps + 1), odd(steps + 1);
    power[steps] = 1;
    for (int64_t k = 1; k <= steps; ++k) {
        power[steps + k] = std::exp(sigma * root * k);
        power[steps - k] = 1 / power[steps + k];
    }
    for (int64_t j = 0; j <= steps; ++j) {
        even[j] = strike - spot * power[2 * j];
        if (j < steps) odd[j] = strike - spot * power[2 * j + 1];
    }
    const double a = discount * p, b = discount * (1 - p);
    // Level i begins at i (i + 1) / 2.
    std::vector<double> all((steps + 1) * (steps + 2) / 2);
    double* last = all.data() + steps * (steps + 1) / 2;
    for (int64_t j = 0; j <= steps; ++j) last[j] = std::max(even[j], 0.0);
    for (int64_t i = steps - 1; i >= 0; --i) {
        const int64_t shift = steps - i;
        const double* exercise = (shift % 2 ? odd.data() : even.data()) + shift / 2;
        double* own = all.data() + i * (i + 1) / 2;
        const double* next = own + i + 1;
        for (int64_t j = 0; j <= i; ++j)
            own[j] = std::max(a * next[j + 1] + b * next[j], exercise[j]);
    }
    std::vector<double> gradient(steps + 2), below(steps + 2), prices(2 * steps + 1);
    gradient[0] = 1;
    double da = 0, db = 0, dstrike = 0;
    for (int64_t i = 0; i < steps; ++i) {
        const int64_t shift = steps - i;
        const double* exercise = (shift % 2 ? odd.data() : even.data()) + shift / 2;
        const double* own = all.data() + i * (i + 1) / 2;
        const double* next = own + i + 1;
        double* price = prices.data() + shift;
        std::fill(below.begin(), below.begin() + i + 2, 0.0);
        for (int64_t j = 0; j <= i; ++j) {
            const double g = gradient[j];
            const bool holds = own[j] > exercise[j];
            const double held = holds ? g : 0;
            const double taken = g - held;
            dstrike += taken;
            price[2 * j] += taken;
            da += held * next[j + 1];
            db += held * next[j];
            below[j + 1] += a * held;
            below[j] += b * held;
        }
        std::swap(gradient, below);
    }
    for (int64_t j = 0; j <= steps; ++j)
        if (even[j] > 0) {
            dstrike += gradient[j];
            prices[2 * j] += gradient[j];
        }
    double dspot = 0, dlog_up = 0;  // prices are spot * up^(k - steps)
    for (int64_t k = 0; k <= 2 * steps; ++k) {
        dspot -= prices[k] * power[k];
        dlog_up -= prices[k] * power[k] * spot * (k - steps);
    }
    const double dp = discount * (da - db), ddiscount = p * da + (1 - p) * db;
    const double dgrown = dp / (up - down), ddown = -dp * (1 - p) / (up - down);
    const double dup = -dp * p / (up - down);
    dlog_up += dup * up - ddown * down;
    const double drate_dt = dgrown * grown - ddiscount * discount;
    out[0] = dspot;
    out[1] = dstrike;
    out[2] = drate_dt * dt;
    out[3] = dlog_up * root;
    out[4] = (drate_dt * rate + dlog_up * sigma * 0.5 / root) / steps;
}
