// The long short-term memory of lstm.py and its gradient, written by hand.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// What the derivatives of a unit's step need.
struct Unit {
    double x, hidden, cell, forget, write, read, change, tanh;
};

struct Network {
    const double *weight, *bias, *scale_in, *scale_out, *move_out, *first_hidden, *first_cell;
    const double* text;
    int64_t layers, d, n;

    // The sum of log probabilities; each step's units and probabilities go into the vectors.
    double run(std::vector<Unit>* units, std::vector<double>* outputs) const {
        std::vector<double> hidden(first_hidden, first_hidden + layers * d);
        std::vector<double> cell(first_cell, first_cell + layers * d), x(d), logits(d);
        double total = 0;
        for (int64_t i = 1; i < n; ++i) {
            for (int64_t j = 0; j < d; ++j) x[j] = text[(i - 1) * d + j] * scale_in[j];
            for (int64_t k = 0; k < layers; ++k) {
                const double *w = weight + k * 4 * d, *b = bias + k * 4 * d;
                for (int64_t j = 0; j < d; ++j) {
                    const double h = hidden[k * d + j], before = cell[k * d + j];
                    const double forget = sigmoid(x[j] * w[j] + b[j]);
                    const double write = sigmoid(h * w[d + j] + b[d + j]);
                    const double read = sigmoid(x[j] * w[2 * d + j] + b[2 * d + j]);
                    const double change = std::tanh(h * w[3 * d + j] + b[3 * d + j]);
                    const double c = before * forget + write * change, t = std::tanh(c);
                    if (units)
                        (*units)[((i - 1) * layers + k) * d + j] = {x[j],  h,    before, forget,
                                                                    write, read, change, t};
                    cell[k * d + j] = c;
                    x[j] = hidden[k * d + j] = read * t;
                }
            }
            double sum = 2;
            for (int64_t j = 0; j < d; ++j) {
                logits[j] = x[j] * scale_out[j] + move_out[j];
                const double e = std::exp(logits[j]);
                sum += e;
                if (outputs) (*outputs)[(i - 1) * d + j] = e;
            }
            const double log_sum = std::log(sum);
            for (int64_t j = 0; j < d; ++j) {
                total += text[i * d + j] * (logits[j] - log_sum);
                if (outputs) (*outputs)[(i - 1) * d + j] /= sum;
            }
        }
        return total;
    }
};

}  // namespace

extern "C" double lstm(const double* weight, const double* bias, const double* scale_in,
                       const double* scale_out, const double* move_out, const double* first_hidden,
                       const double* first_cell, const double* text, int64_t layers, int64_t d,
                       int64_t n) {
    const Network network{weight,     bias, scale_in, scale_out, move_out, first_hidden,
                          first_cell, text, layers,   d,         n};
    return -network.run(nullptr, nullptr) / static_cast<double>((n - 1) * d);
}

extern "C" void lstm_gradient(const double* weight, const double* bias, const double* scale_in,
                              const double* scale_out, const double* move_out,
                              const double* first_hidden, const double* first_cell,
                              const double* text, int64_t layers, int64_t d, int64_t n,
                              double* dweight, double* dbias, double* dscale_in, double* dscale_out,
                              double* dmove_out, double* dfirst_hidden, double* dfirst_cell,
                              double* dtext) {
    const Network network{weight,     bias, scale_in, scale_out, move_out, first_hidden,
                          first_cell, text, layers,   d,         n};
    std::vector<Unit> units((n - 1) * layers * d);
    std::vector<double> shares((n - 1) * d), dx(d);
    network.run(&units, &shares);
    std::fill_n(dweight, layers * 4 * d, 0.0);
    std::fill_n(dbias, layers * 4 * d, 0.0);
    std::fill_n(dscale_in, d, 0.0);
    std::fill_n(dscale_out, d, 0.0);
    std::fill_n(dmove_out, d, 0.0);
    // The gradients of the state are carried from step to step.
    double *dhidden = dfirst_hidden, *dcell = dfirst_cell;
    std::fill_n(dhidden, layers * d, 0.0);
    std::fill_n(dcell, layers * d, 0.0);
    std::fill_n(dtext, n * d, 0.0);
    const double scale = -1 / static_cast<double>((n - 1) * d);
    for (int64_t i = n - 1; i > 0; --i) {
        const double* wanted = text + i * d;
        double count = 0, log_sum = 0;
        for (int64_t j = 0; j < d; ++j) count += wanted[j];
        const Unit* top = &units[((i - 1) * layers + layers - 1) * d];
        // The logarithm of the sum, from any output and its share of it.
        log_sum =
            top[0].read * top[0].tanh * scale_out[0] + move_out[0] - std::log(shares[(i - 1) * d]);
        for (int64_t j = 0; j < d; ++j) {
            const double x = top[j].read * top[j].tanh, logit = x * scale_out[j] + move_out[j];
            const double g = scale * (wanted[j] - count * shares[(i - 1) * d + j]);
            dtext[i * d + j] += scale * (logit - log_sum);
            dscale_out[j] += g * x;
            dmove_out[j] += g;
            dx[j] = g * scale_out[j];
        }
        for (int64_t k = layers - 1; k >= 0; --k) {
            const double* w = weight + k * 4 * d;
            double *dw = dweight + k * 4 * d, *db = dbias + k * 4 * d;
            for (int64_t j = 0; j < d; ++j) {
                const Unit& u = units[((i - 1) * layers + k) * d + j];
                const double g = dx[j] + dhidden[k * d + j];
                const double dc = dcell[k * d + j] + g * u.read * (1 - u.tanh * u.tanh);
                const double dread = g * u.tanh * u.read * (1 - u.read);
                const double dforget = dc * u.cell * u.forget * (1 - u.forget);
                const double dwrite = dc * u.change * u.write * (1 - u.write);
                const double dchange = dc * u.write * (1 - u.change * u.change);
                dcell[k * d + j] = dc * u.forget;
                dw[j] += dforget * u.x;
                db[j] += dforget;
                dw[d + j] += dwrite * u.hidden;
                db[d + j] += dwrite;
                dw[2 * d + j] += dread * u.x;
                db[2 * d + j] += dread;
                dw[3 * d + j] += dchange * u.hidden;
                db[3 * d + j] += dchange;
                dx[j] = dforget * w[j] + dread * w[2 * d + j];
                dhidden[k * d + j] = dwrite * w[d + j] + dchange * w[3 * d + j];
            }
        }
        for (int64_t j = 0; j < d; ++j) {
            dscale_in[j] += dx[j] * text[(i - 1) * d + j];
            dtext[(i - 1) * d + j] += dx[j] * scale_in[j];
        }
    }
}
