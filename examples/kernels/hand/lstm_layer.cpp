// A layer of long short-term memory and its gradients, written by hand: products of rows in eight
// sums, which compilers make vectors of; the derivative keeps the gates of all steps.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

double product(const double* a, const double* b, int64_t n) {
    double sums[8] = {};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
    double total = 0;
    for (; i < n; ++i) total += a[i] * b[i];
    for (const double each : sums) total += each;
    return total;
}

void add_scaled(double factor, const double* x, double* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

// What one step keeps: forget, write, change, read, and the tangent of the cell, d numbers each.
struct Step {
    double* kept;
    int64_t d;
    double* gate(int64_t k) const { return kept + k * d; }
};

void step(const double* weight, const double* recurrent, const double* bias, const double* x,
          const double* hidden, const double* cell, double* next_hidden, double* next_cell,
          int64_t d, int64_t m, Step s) {
    for (int64_t k = 0; k < 4; ++k)
        for (int64_t j = 0; j < d; ++j) {
            const int64_t row = k * d + j;
            const double sum = product(weight + row * m, x, m) +
                               product(recurrent + row * d, hidden, d) + bias[row];
            s.gate(k)[j] = k == 2 ? std::tanh(sum) : 1 / (1 + std::exp(-sum));
        }
    for (int64_t j = 0; j < d; ++j) {
        next_cell[j] = s.gate(0)[j] * cell[j] + s.gate(1)[j] * s.gate(2)[j];
        s.gate(4)[j] = std::tanh(next_cell[j]);
        next_hidden[j] = s.gate(3)[j] * s.gate(4)[j];
    }
}

}  // namespace

extern "C" {

void lstm_layer(const double* weight, const double* recurrent, const double* bias,
                const double* first_hidden, const double* first_cell, const double* inputs,
                int64_t n, int64_t d, int64_t m, double* made) {
    std::vector<double> kept(5 * d), cell(first_cell, first_cell + d), next(d);
    const double* hidden = first_hidden;
    for (int64_t t = 0; t < n; ++t) {
        step(weight, recurrent, bias, inputs + t * m, hidden, cell.data(), made + t * d,
             next.data(), d, m, {kept.data(), d});
        std::swap(cell, next);
        hidden = made + t * d;
    }
}

void lstm_layer_gradient(const double* weight, const double* recurrent, const double* bias,
                         const double* first_hidden, const double* first_cell, const double* inputs,
                         int64_t n, int64_t d, int64_t m, const double* dmade, double* dweight,
                         double* drecurrent, double* dbias, double* dfirst_hidden,
                         double* dfirst_cell, double* dinputs) {
    std::vector<double> kept(5 * d * n), hidden((n + 1) * d), cell((n + 1) * d), sums(4 * d);
    std::copy_n(first_hidden, d, hidden.data());
    std::copy_n(first_cell, d, cell.data());
    for (int64_t t = 0; t < n; ++t)
        step(weight, recurrent, bias, inputs + t * m, &hidden[t * d], &cell[t * d],
             &hidden[(t + 1) * d], &cell[(t + 1) * d], d, m, {&kept[5 * d * t], d});
    std::fill_n(dweight, 4 * d * m, 0.0);
    std::fill_n(drecurrent, 4 * d * d, 0.0);
    std::fill_n(dbias, 4 * d, 0.0);
    std::fill_n(dfirst_hidden, d, 0.0);
    std::fill_n(dfirst_cell, d, 0.0);
    std::fill_n(dinputs, n * m, 0.0);
    for (int64_t t = n; t-- > 0;) {
        const Step s = {&kept[5 * d * t], d};
        for (int64_t j = 0; j < d; ++j) {
            const double forget = s.gate(0)[j], write = s.gate(1)[j], change = s.gate(2)[j],
                         read = s.gate(3)[j], tangent = s.gate(4)[j];
            const double dh = dmade[t * d + j] + dfirst_hidden[j];
            const double dc = dfirst_cell[j] + dh * read * (1 - tangent * tangent);
            sums[j] = dc * cell[t * d + j] * forget * (1 - forget);
            sums[d + j] = dc * change * write * (1 - write);
            sums[2 * d + j] = dc * write * (1 - change * change);
            sums[3 * d + j] = dh * tangent * read * (1 - read);
            dfirst_cell[j] = dc * forget;
            dfirst_hidden[j] = 0;
        }
        for (int64_t row = 0; row < 4 * d; ++row) {
            add_scaled(sums[row], inputs + t * m, dweight + row * m, m);
            add_scaled(sums[row], &hidden[t * d], drecurrent + row * d, d);
            add_scaled(sums[row], weight + row * m, dinputs + t * m, m);
            add_scaled(sums[row], recurrent + row * d, dfirst_hidden, d);
            dbias[row] += sums[row];
        }
    }
}
}
