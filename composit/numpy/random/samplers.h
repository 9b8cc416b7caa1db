// Samplers and checks that NumPy's two families of distributions share.
#pragma once

#include "composit/numpy/random/distribution.h"

namespace composit::numpy::random {

double uniform_between(Bits* bits, double low, double high);
// What is kept from one draw to the next changes the time, not the numbers.
int64_t binomial_of(Bits* bits, int64_t n, double p);
void check_triangular(std::string_view name, const std::array<double, 3>& values);

}  // namespace composit::numpy::random
