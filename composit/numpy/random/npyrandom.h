// What is called in NumPy's libnpyrandom.a (numpy/random/distributions.h, which needs Python.h).
#pragma once

#include "composit/numpy/random/bits.h"

#include <cstddef>

namespace composit::numpy::random {

// NumPy's binomial_t: what a binomial draw keeps for the next with the same parameters.
struct BinomialSetup {
    int is_set = 0;
    double p = 0;
    int64_t n = 0;
    double r = 0, q = 0, fm = 0;
    int64_t m = 0;
    double p1 = 0, xm = 0, xl = 0, xr = 0, c = 0, laml = 0, lamr = 0, p2 = 0, p3 = 0, p4 = 0;
};

extern "C" {

void random_standard_uniform_fill(Bits*, intptr_t, double*);
void random_standard_uniform_fill_f(Bits*, intptr_t, float*);
void random_standard_normal_fill(Bits*, intptr_t, double*);
void random_standard_normal_fill_f(Bits*, intptr_t, float*);
void random_standard_exponential_fill(Bits*, intptr_t, double*);
void random_standard_exponential_fill_f(Bits*, intptr_t, float*);
void random_standard_exponential_inv_fill(Bits*, intptr_t, double*);
void random_standard_exponential_inv_fill_f(Bits*, intptr_t, float*);

float random_standard_gamma_f(Bits*, float);
double random_beta(Bits*, double, double);
double random_chisquare(Bits*, double);
double random_exponential(Bits*, double);
double random_f(Bits*, double, double);
double random_gamma(Bits*, double, double);
double random_gumbel(Bits*, double, double);
double random_laplace(Bits*, double, double);
double random_logistic(Bits*, double, double);
double random_lognormal(Bits*, double, double);
double random_noncentral_chisquare(Bits*, double, double);
double random_noncentral_f(Bits*, double, double, double);
double random_normal(Bits*, double, double);
double random_pareto(Bits*, double);
double random_power(Bits*, double);
double random_rayleigh(Bits*, double);
double random_standard_cauchy(Bits*);
double random_standard_gamma(Bits*, double);
double random_standard_t(Bits*, double);
double random_triangular(Bits*, double, double, double);
double random_vonmises(Bits*, double, double);
double random_wald(Bits*, double, double);
double random_weibull(Bits*, double);

double random_loggam(double);
int64_t random_binomial(Bits*, double p, int64_t n, BinomialSetup*);
int64_t random_binomial_btpe(Bits*, int64_t n, double p, BinomialSetup*);
int64_t random_binomial_inversion(Bits*, int64_t n, double p, BinomialSetup*);
int64_t random_geometric(Bits*, double);
int64_t random_geometric_search(Bits*, double);
int64_t random_hypergeometric(Bits*, int64_t, int64_t, int64_t);
int64_t random_logseries(Bits*, double);
int64_t random_negative_binomial(Bits*, double, double);
int64_t random_poisson(Bits*, double);
int64_t random_positive_int(Bits*);
int64_t random_zipf(Bits*, double);

void random_multinomial(Bits*, int64_t n, int64_t* counts, double* p, intptr_t kinds,
                        BinomialSetup*);
int random_multivariate_hypergeometric_count(Bits*, int64_t total, size_t kinds, int64_t* colors,
                                             int64_t samples, size_t draws, int64_t* result);
void random_multivariate_hypergeometric_marginals(Bits*, int64_t total, size_t kinds,
                                                  int64_t* colors, int64_t samples, size_t draws,
                                                  int64_t* result);

// 0 to the greatest: by masks; and offset to offset + range, by masks or by Lemire's products.
uint64_t random_interval(Bits*, uint64_t greatest);
uint64_t random_bounded_uint64(Bits*, uint64_t offset, uint64_t range, uint64_t mask, bool masked);
uint32_t random_buffered_bounded_uint32(Bits*, uint32_t offset, uint32_t range, uint32_t mask,
                                        bool masked, int* left, uint32_t* buffer);
uint16_t random_buffered_bounded_uint16(Bits*, uint16_t offset, uint16_t range, uint16_t mask,
                                        bool masked, int* left, uint32_t* buffer);
uint8_t random_buffered_bounded_uint8(Bits*, uint8_t offset, uint8_t range, uint8_t mask,
                                      bool masked, int* left, uint32_t* buffer);
unsigned char random_buffered_bounded_bool(Bits*, unsigned char offset, unsigned char range,
                                           unsigned char mask, bool masked, int* left,
                                           uint32_t* buffer);
void random_bounded_uint64_fill(Bits*, uint64_t, uint64_t, intptr_t, bool masked, uint64_t*);
void random_bounded_uint32_fill(Bits*, uint32_t, uint32_t, intptr_t, bool masked, uint32_t*);
void random_bounded_uint16_fill(Bits*, uint16_t, uint16_t, intptr_t, bool masked, uint16_t*);
void random_bounded_uint8_fill(Bits*, uint8_t, uint8_t, intptr_t, bool masked, uint8_t*);
void random_bounded_bool_fill(Bits*, unsigned char, unsigned char, intptr_t, bool masked,
                              unsigned char*);

}  // extern "C"

}  // namespace composit::numpy::random
