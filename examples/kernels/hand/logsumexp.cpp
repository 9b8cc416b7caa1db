// The logarithm of a sum of exponentials and its gradient, written by hand.
#include <cmath>
#include <cstdint>

namespace {

double largest_of(const double* x, int64_t n) {
    double largest = x[0];
    for (int64_t i = 1; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
    return largest;
}

}  // namespace

extern "C" {

double logsumexp(const double* x, int64_t n) {
    const double largest = largest_of(x, n);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - largest);
    return largest + std::log(sum);
}

double logsumexp_gradient(const double* x, int64_t n, double* dx) {
    const double largest = largest_of(x, n);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += dx[i] = std::exp(x[i] - largest);
    for (int64_t i = 0; i < n; ++i) dx[i] /= sum;
    return largest + std::log(sum);
}
}
