// The distributions of NumPy's Generator: its own functions, and the parameters that they take.
#include "composit/base/error.h"
#include "composit/numpy/random/distribution.h"
#include "composit/numpy/random/npyrandom.h"
#include "composit/numpy/random/samplers.h"

#include <cmath>

namespace composit::numpy::random {
namespace {

using enum Range;
using Values = std::array<double, 3>;

constexpr double most_poisson = 9.2233720064847708e+18;

void check_uniform(std::string_view name, const Values& v) {
    user_check<OverflowError>(std::isfinite(v[1] - v[0]), name,
                              ": high - low range exceeds valid bounds: low is ", v[0],
                              ", high is ", v[1], ".");
    user_check(!std::signbit(v[1] - v[0]), name, ": high - low < 0: low is ", v[0], ", high is ",
               v[1], ".");
}

void check_hypergeometric(std::string_view name, const Values& v) {
    user_check(v[0] < 1e9 && v[1] < 1e9, name, ": both ngood and nbad must be less than ",
               "1000000000: ", v[0], " and ", v[1], ".");
    user_check(v[0] + v[1] >= v[2], name, ": ngood + nbad < nsample: ", v[0], ", ", v[1], " and ",
               v[2], ".");
}

void check_negative_binomial(std::string_view name, const Values& v) {
    user_check(!((1 - v[1]) / v[1] * (v[0] + 10 * std::sqrt(v[0])) > most_poisson), name,
               ": n too large or p too small: ", v[0], " and ", v[1], ".");
}

}  // namespace

double uniform_between(Bits* bits, double low, double high) {
    return low + (high - low) * bits->next_double(bits->state);
}

int64_t binomial_of(Bits* bits, int64_t n, double p) {
    thread_local BinomialSetup setup;
    return random_binomial(bits, p, n, &setup);
}

void check_triangular(std::string_view name, const Values& v) {
    user_check(!(v[0] > v[1]), name, ": left > mode: ", v[0], " and ", v[1], ".");
    user_check(!(v[1] > v[2]), name, ": mode > right: ", v[1], " and ", v[2], ".");
    user_check(v[0] != v[2], name, ": left == right: ", v[0], ".");
}

namespace modern {

const Distribution random{"random", random_standard_uniform_fill, {}};
const Distribution random_float32{"random", random_standard_uniform_fill_f, {}};
const Distribution standard_normal{"standard_normal", random_standard_normal_fill, {}};
const Distribution standard_normal_float32{"standard_normal", random_standard_normal_fill_f, {}};
const Distribution standard_exponential{
    "standard_exponential", random_standard_exponential_fill, {}};
const Distribution standard_exponential_float32{
    "standard_exponential", random_standard_exponential_fill_f, {}};
const Distribution standard_exponential_inv{
    "standard_exponential", random_standard_exponential_inv_fill, {}};
const Distribution standard_exponential_inv_float32{
    "standard_exponential", random_standard_exponential_inv_fill_f, {}};
const Distribution standard_gamma{
    "standard_gamma", random_standard_gamma, {{{"shape", not_negative}}}};
const Distribution standard_gamma_float32{
    "standard_gamma", random_standard_gamma_f, {{{"shape", not_negative}}}};
const Distribution beta{"beta", random_beta, {{{"a", positive}, {"b", positive}}}};
const Distribution chisquare{"chisquare", random_chisquare, {{{"df", positive}}}};
const Distribution exponential{"exponential", random_exponential, {{{"scale", not_negative}}}};
const Distribution f{"f", random_f, {{{"dfnum", positive}, {"dfden", positive}}}};
const Distribution gamma{
    "gamma", random_gamma, {{{"shape", not_negative}, {"scale", not_negative}}}};
const Distribution gumbel{"gumbel", random_gumbel, {{{"loc"}, {"scale", not_negative}}}};
const Distribution laplace{"laplace", random_laplace, {{{"loc"}, {"scale", not_negative}}}};
const Distribution logistic{"logistic", random_logistic, {{{"loc"}, {"scale", not_negative}}}};
const Distribution lognormal{"lognormal", random_lognormal, {{{"mean"}, {"sigma", not_negative}}}};
const Distribution noncentral_chisquare{"noncentral_chisquare",
                                        random_noncentral_chisquare,
                                        {{{"df", positive}, {"nonc", not_negative}}}};
const Distribution noncentral_f{
    "noncentral_f",
    random_noncentral_f,
    {{{"dfnum", positive}, {"dfden", positive}, {"nonc", not_negative}}}};
const Distribution normal{"normal", random_normal, {{{"loc"}, {"scale", not_negative}}}};
const Distribution pareto{"pareto", random_pareto, {{{"a", positive}}}};
const Distribution power{"power", random_power, {{{"a", positive}}}};
const Distribution rayleigh{"rayleigh", random_rayleigh, {{{"scale", not_negative}}}};
const Distribution standard_cauchy{"standard_cauchy", random_standard_cauchy, {}};
const Distribution standard_t{"standard_t", random_standard_t, {{{"df", positive}}}};
const Distribution triangular{
    "triangular", random_triangular, {{{"left"}, {"mode"}, {"right"}}}, check_triangular};
const Distribution uniform{"uniform", uniform_between, {{{"low"}, {"high"}}}, check_uniform};
const Distribution vonmises{"vonmises", random_vonmises, {{{"mu"}, {"kappa", not_negative}}}};
const Distribution wald{"wald", random_wald, {{{"mean", positive}, {"scale", positive}}}};
const Distribution weibull{"weibull", random_weibull, {{{"a", not_negative}}}};
const Distribution binomial{"binomial", binomial_of, {{{"n", not_negative}, {"p", probability}}}};
const Distribution geometric{"geometric", random_geometric, {{{"p", probability_above_0}}}};
const Distribution hypergeometric{
    "hypergeometric",
    random_hypergeometric,
    {{{"ngood", not_negative}, {"nbad", not_negative}, {"nsample", not_negative}}},
    check_hypergeometric};
const Distribution logseries{"logseries", random_logseries, {{{"p", probability_below_1}}}};
const Distribution negative_binomial{"negative_binomial",
                                     random_negative_binomial,
                                     {{{"n", positive_number}, {"p", probability_above_0}}},
                                     check_negative_binomial};
const Distribution poisson{"poisson", random_poisson, {{{"lam", Range::poisson}}}};
const Distribution zipf{"zipf", random_zipf, {{{"a", above_1}}}};

}  // namespace modern

}  // namespace composit::numpy::random
