// The cost of k-means, its gradient and the diagonal of its Hessian, written by hand.
#include <algorithm>
#include <cstdint>
#include <limits>

namespace {

struct Nearest {
    int64_t centre;
    double distance;
};

Nearest nearest(const double* point, const double* centres, int64_t k, int64_t d) {
    Nearest found = {0, std::numeric_limits<double>::infinity()};
    for (int64_t j = 0; j < k; ++j) {
        double distance = 0;
        for (int64_t a = 0; a < d; ++a) {
            const double moved = point[a] - centres[j * d + a];
            distance += moved * moved;
        }
        if (distance < found.distance) found = {j, distance};
    }
    return found;
}

}  // namespace

extern "C" {

double kmeans_cost(const double* points, int64_t n, int64_t d, const double* centres, int64_t k) {
    double total = 0;
    for (int64_t i = 0; i < n; ++i) total += nearest(points + i * d, centres, k, d).distance;
    return total;
}

double kmeans_direction(const double* points, int64_t n, int64_t d, const double* centres,
                        int64_t k, double* gradient, double* diagonal) {
    std::fill_n(gradient, k * d, 0.0);
    std::fill_n(diagonal, k * d, 0.0);
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double* const point = points + i * d;
        const Nearest found = nearest(point, centres, k, d);
        total += found.distance;
        for (int64_t a = found.centre * d, b = 0; b < d; ++a, ++b) {
            gradient[a] -= 2 * (point[b] - centres[a]);
            diagonal[a] += 2;
        }
    }
    return total;
}
}
