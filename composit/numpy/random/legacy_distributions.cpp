// The distributions of NumPy's RandomState: Marsaglia's polar method, Marsaglia and Tsang's gamma,
// inversions of distribution functions. Each expression rounds as NumPy's does, for its numbers.
#include "composit/base/error.h"
#include "composit/numpy/random/distribution.h"
#include "composit/numpy/random/npyrandom.h"
#include "composit/numpy/random/samplers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace composit::numpy::random {
namespace {

using enum Range;
using Values = std::array<double, 3>;
using std::numbers::pi;

double next(Bits* bits) { return bits->next_double(bits->state); }

double gauss(Source* s) {
    if (s->has_gauss) {
        s->has_gauss = false;
        return std::exchange(s->gauss, 0.0);
    }
    double x, y, square;
    do {
        x = 2.0 * next(s) - 1.0;
        y = 2.0 * next(s) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    s->gauss = factor * x;
    s->has_gauss = true;
    return factor * y;
}

double standard_exponential(Source* s) { return -std::log(1.0 - next(s)); }

// Ahrens and Dieter's rejection, for shapes below 1.
double small_gamma(Source* s, double shape) {
    for (;;) {
        const double u = next(s);
        const double e = standard_exponential(s);
        if (u <= 1.0 - shape) {
            const double x = std::pow(u, 1.0 / shape);
            if (x <= e) return x;
        } else {
            const double y = -std::log((1 - u) / shape);
            const double x = std::pow(1.0 - shape + shape * y, 1.0 / shape);
            if (x <= e + y) return x;
        }
    }
}

double standard_gamma(Source* s, double shape) {
    if (shape == 1.0) return standard_exponential(s);
    if (shape == 0.0) return 0.0;
    if (shape < 1.0) return small_gamma(s, shape);
    const double b = shape - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9 * b);
    for (;;) {
        double x, v;
        do {
            x = gauss(s);
            v = 1.0 + c * x;
        } while (v <= 0.0);
        v = v * v * v;
        const double u = next(s);
        if (u < 1.0 - 0.0331 * (x * x) * (x * x)) return b * v;
        if (std::log(u) < 0.5 * x * x + b * (1.0 - v + std::log(v))) return b * v;
    }
}

double normal(Source* s, double loc, double scale) { return loc + scale * gauss(s); }
double lognormal(Source* s, double mean, double sigma) { return std::exp(normal(s, mean, sigma)); }
double exponential(Source* s, double scale) { return scale * standard_exponential(s); }
double gamma_of(Source* s, double shape, double scale) { return scale * standard_gamma(s, shape); }
double chisquare(Source* s, double df) { return 2.0 * standard_gamma(s, df / 2.0); }
double pareto(Source* s, double a) { return std::exp(standard_exponential(s) / a) - 1; }
double power(Source* s, double a) {
    return std::pow(1 - std::exp(-standard_exponential(s)), 1.0 / a);
}
double weibull(Source* s, double a) {
    return a == 0.0 ? 0.0 : std::pow(standard_exponential(s), 1.0 / a);
}
double rayleigh(Bits* bits, double scale) {
    return scale * std::sqrt(-2.0 * std::log1p(-next(bits)));
}
double standard_cauchy(Source* s) {
    const double x = gauss(s);
    return x / gauss(s);
}

double standard_t(Source* s, double df) {
    const double x = gauss(s);
    const double y = standard_gamma(s, df / 2);
    return std::sqrt(df / 2) * x / std::sqrt(y);
}

double f_of(Source* s, double dfnum, double dfden) {
    const double x = chisquare(s, dfnum) * dfden;
    return x / (chisquare(s, dfden) * dfnum);
}

double noncentral_chisquare(Source* s, double df, double nonc) {
    if (nonc == 0) return chisquare(s, df);
    if (1 < df) {
        const double x = chisquare(s, df - 1);
        const double y = gauss(s) + std::sqrt(nonc);
        return x + y * y;
    }
    const int64_t i = random_poisson(s, nonc / 2.0);
    const double x = chisquare(s, df + static_cast<double>(2 * i));
    return std::isnan(nonc) ? nonc : x;
}

double noncentral_f(Source* s, double dfnum, double dfden, double nonc) {
    const double x = noncentral_chisquare(s, dfnum, nonc) * dfden;
    return x / (chisquare(s, dfden) * dfnum);
}

// Michael, Schucany and Haas.
double wald(Source* s, double mean, double scale) {
    const double half = mean / (2 * scale);
    const double z = gauss(s);
    const double y = mean * z * z;
    const double x = mean + half * (y - std::sqrt(4 * scale * y + y * y));
    return next(s) <= mean / (mean + x) ? x : mean * mean / x;
}

double beta_of(Source* s, double a, double b) {
    if (!(a <= 1.0 && b <= 1.0)) {
        const double x = standard_gamma(s, a);
        return x / (x + standard_gamma(s, b));
    }
    for (;;) {  // Jöhnk
        const double u = next(s), v = next(s);
        const double x = std::pow(u, 1.0 / a), y = std::pow(v, 1.0 / b);
        if (!(x + y <= 1.0)) continue;
        if (x + y > 0) return x / (x + y);
        double log_x = std::log(u) / a, log_y = std::log(v) / b;
        const double most = log_x > log_y ? log_x : log_y;
        log_x -= most;
        log_y -= most;
        return std::exp(log_x - std::log(std::exp(log_x) + std::exp(log_y)));
    }
}

// Best and Fisher.
double vonmises(Bits* bits, double mu, double kappa) {
    if (std::isnan(kappa)) return kappa;
    if (kappa < 1e-8) return pi * (2 * next(bits) - 1);
    double s;
    if (kappa < 1e-5) {
        s = 1.0 / kappa + kappa;
    } else {
        const double r = 1 + std::sqrt(1 + 4 * kappa * kappa);
        const double rho = (r - std::sqrt(2 * r)) / (2 * kappa);
        s = (1 + rho * rho) / (2 * rho);
    }
    double w;
    for (;;) {
        const double z = std::cos(pi * next(bits));
        w = (1 + s * z) / (s + z);
        const double y = kappa * (s - w);
        const double v = next(bits);
        if (y * (2 - y) - v >= 0 || std::log(y / v) + 1 - y >= 0) break;
    }
    double angle = std::acos(w);
    if (next(bits) < 0.5) angle = -angle;
    angle += mu;
    const double wrapped = std::fmod(std::fabs(angle) + pi, 2 * pi) - pi;
    return angle < 0 ? -wrapped : wrapped;
}

// ----- counts

int64_t negative_binomial(Source* s, double n, double p) {
    return random_poisson(s, gamma_of(s, n, (1 - p) / p));
}

// Unlike Generator's, it draws for no trials, too.
int64_t binomial(Bits* bits, int64_t n, double p) {
    thread_local BinomialSetup setup;
    if (p > 0.5) return n - binomial(bits, n, 1.0 - p);
    const bool is_rare = p * static_cast<double>(n) <= 30.0;
    return (is_rare ? random_binomial_inversion : random_binomial_btpe)(bits, n, p, &setup);
}

int64_t geometric(Bits* bits, double p) {
    if (p >= 0.333333333333333333333333) return random_geometric_search(bits, p);
    const double count = std::ceil(std::log1p(-next(bits)) / std::log(1 - p));
    return count < 9.2e18 ? static_cast<int64_t>(count) : std::numeric_limits<int64_t>::min();
}

// Devroye.
int64_t zipf(Bits* bits, double a) {
    const double power = a - 1.0, b = std::pow(2.0, power);
    for (;;) {
        const double u = 1.0 - next(bits), v = next(bits);
        const double x = std::floor(std::pow(u, -1.0 / power));
        if (x > 9223372036854775807.0 || x < 1.0) continue;
        const double t = std::pow(1.0 + 1.0 / x, power);
        if (v * x * (t - 1.0) / (b - 1.0) <= t / b)
            return x < 9223372036854775807.0 ? static_cast<int64_t>(x)
                                             : std::numeric_limits<int64_t>::min();
    }
}

// Kemp's LK.
int64_t logseries(Bits* bits, double p) {
    const double r = std::log(1.0 - p);
    for (;;) {
        const double v = next(bits);
        if (v >= p) return 1;
        const double q = 1.0 - std::exp(r * next(bits));
        if (v > q * q) return v >= q ? 1 : 2;
        const double result = std::floor(1 + std::log(v) / std::log(q));
        if (result >= 1 && v != 0.0) return static_cast<int64_t>(result);
    }
}

// Kachitvichyanukul and Schmeiser's HYP: the urn itself, for few samples.
int64_t drawn_from_urn(Bits* bits, int64_t good, int64_t bad, int64_t sample) {
    const int64_t others = bad + good - sample;
    const auto fewer = static_cast<double>(std::min(good, bad));
    double left = fewer;
    for (int64_t k = sample; left > 0.0 && k > 0; --k) {
        const double u = next(bits);
        left -= static_cast<double>(
            static_cast<int64_t>(std::floor(u + left / static_cast<double>(others + k))));
    }
    const auto taken = static_cast<int64_t>(fewer - left);
    return good > bad ? sample - taken : taken;
}

double log_factorials(int64_t a, int64_t b, int64_t c, int64_t d) {
    const auto term = [](int64_t x) { return random_loggam(static_cast<double>(x + 1)); };
    return term(a) + term(b) + term(c) + term(d);
}

// Stadlober's HRUA: ratio of uniforms.
int64_t by_ratio(Bits* bits, int64_t good, int64_t bad, int64_t sample) {
    constexpr double two_root_2_over_e = 1.7155277699214135,
                     three_minus_2_root_3_over_e = 0.8989161620588988;
    const int64_t least = std::min(good, bad), most = std::max(good, bad), all = good + bad;
    const int64_t m = std::min(sample, all - sample);
    const auto real = [](int64_t x) { return static_cast<double>(x); };
    const double share = real(least) / real(all);
    const double center = real(m) * share + 0.5;
    const double spread =
        std::sqrt(real(all - m) * real(sample) * share * (1.0 - share) / real(all - 1) + 0.5);
    const double width = two_root_2_over_e * spread + three_minus_2_root_3_over_e;
    const auto mode =
        static_cast<int64_t>(std::floor(real(m + 1) * real(least + 1) / real(all + 2)));
    const auto logarithm = [&](int64_t z) {
        return log_factorials(z, least - z, m - z, most - m + z);
    };
    const double greatest = logarithm(mode);
    const double end = std::min(real(std::min(m, least)) + 1.0, std::floor(center + 16 * spread));
    int64_t z;
    for (;;) {
        const double x = next(bits), y = next(bits);
        const double w = center + width * (y - 0.5) / x;
        if (w < 0.0 || w >= end) continue;
        z = static_cast<int64_t>(std::floor(w));
        const double t = greatest - logarithm(z);
        if (x * (4.0 - x) - 3.0 <= t) break;
        if (x * (x - t) >= 1) continue;
        if (2.0 * std::log(x) <= t) break;
    }
    if (good > bad) z = m - z;
    return m < sample ? good - z : z;
}

int64_t hypergeometric(Bits* bits, int64_t good, int64_t bad, int64_t sample) {
    if (sample > 10) return by_ratio(bits, good, bad, sample);
    return sample > 0 ? drawn_from_urn(bits, good, bad, sample) : 0;
}

void check_uniform(std::string_view name, const Values& v) {
    user_check<OverflowError>(std::isfinite(v[1] - v[0]), name,
                              ": high - low range exceeds valid bounds: low is ", v[0],
                              ", high is ", v[1], ".");
}

void check_hypergeometric(std::string_view name, const Values& v) {
    user_check(v[0] + v[1] >= v[2], name, ": ngood + nbad < nsample: ", v[0], ", ", v[1], " and ",
               v[2], ".");
}

}  // namespace

namespace legacy {

const Distribution random{"random", random_standard_uniform_fill, {}};
const Distribution tomaxint{"tomaxint", random_positive_int, {}};
const Distribution beta{"beta", beta_of, {{{"a", positive}, {"b", positive}}}};
const Distribution chisquare{"chisquare", random::chisquare, {{{"df", positive}}}};
const Distribution exponential{"exponential", random::exponential, {{{"scale", not_negative}}}};
const Distribution f{"f", f_of, {{{"dfnum", positive}, {"dfden", positive}}}};
const Distribution gamma{"gamma", gamma_of, {{{"shape", not_negative}, {"scale", not_negative}}}};
const Distribution gumbel{"gumbel", random_gumbel, {{{"loc"}, {"scale", not_negative}}}};
const Distribution laplace{"laplace", random_laplace, {{{"loc"}, {"scale", not_negative}}}};
const Distribution logistic{"logistic", random_logistic, {{{"loc"}, {"scale", not_negative}}}};
const Distribution lognormal{"lognormal", random::lognormal, {{{"mean"}, {"sigma", not_negative}}}};
const Distribution noncentral_chisquare{"noncentral_chisquare",
                                        random::noncentral_chisquare,
                                        {{{"df", positive}, {"nonc", not_negative}}}};
const Distribution noncentral_f{
    "noncentral_f",
    random::noncentral_f,
    {{{"dfnum", positive}, {"dfden", positive}, {"nonc", not_negative}}}};
const Distribution normal{"normal", random::normal, {{{"loc"}, {"scale", not_negative}}}};
const Distribution pareto{"pareto", random::pareto, {{{"a", positive}}}};
const Distribution power{"power", random::power, {{{"a", positive}}}};
const Distribution rayleigh{"rayleigh", random::rayleigh, {{{"scale", not_negative}}}};
const Distribution standard_cauchy{"standard_cauchy", random::standard_cauchy, {}};
const Distribution standard_exponential{"standard_exponential", random::standard_exponential, {}};
const Distribution standard_gamma{
    "standard_gamma", random::standard_gamma, {{{"shape", not_negative}}}};
const Distribution standard_normal{"standard_normal", gauss, {}};
const Distribution standard_t{"standard_t", random::standard_t, {{{"df", positive}}}};
const Distribution triangular{
    "triangular", random_triangular, {{{"left"}, {"mode"}, {"right"}}}, check_triangular};
const Distribution uniform{"uniform", uniform_between, {{{"low"}, {"high"}}}, check_uniform};
const Distribution vonmises{"vonmises", random::vonmises, {{{"mu"}, {"kappa", not_negative}}}};
const Distribution wald{"wald", random::wald, {{{"mean", positive}, {"scale", positive}}}};
const Distribution weibull{"weibull", random::weibull, {{{"a", not_negative}}}};
const Distribution binomial{
    "binomial", random::binomial, {{{"n", not_negative}, {"p", probability}}}};
const Distribution geometric{"geometric", random::geometric, {{{"p", probability_above_0}}}};
const Distribution hypergeometric{
    "hypergeometric",
    random::hypergeometric,
    {{{"ngood", not_negative}, {"nbad", not_negative}, {"nsample", at_least_1}}},
    check_hypergeometric};
const Distribution logseries{"logseries", random::logseries, {{{"p", probability_below_1}}}};
const Distribution negative_binomial{
    "negative_binomial", random::negative_binomial, {{{"n", positive}, {"p", probability}}}};
const Distribution poisson{"poisson", random_poisson, {{{"lam", Range::poisson}}}};
const Distribution zipf{"zipf", random::zipf, {{{"a", above_1}}}};

}  // namespace legacy

}  // namespace composit::numpy::random
