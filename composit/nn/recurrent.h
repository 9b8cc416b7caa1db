// Recurrent layers, with PyTorch's weights, values and gradients: one loop per layer and direction.
//
//   const Recurrent made = lstm(x, {{weight_ih, weight_hh, bias_ih, bias_hh}});
//   made.output;  // (times, batch, hidden)
#pragma once

#include "composit/numpy/operand.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::nn {

using ir::Tensor;

// Of one layer in one direction: weight_ih (gates * hidden, inputs), weight_hh (gates * hidden,
// outputs), biases (gates * hidden,) or none; weight_hr (outputs, hidden) projects what an LSTM
// gives, or is empty. Gates: 4 in an LSTM (input, forget, cell, output), 3 in a GRU (reset, update,
// new), 1 in an RNN.
struct RecurrentWeights {
    Tensor weight_ih, weight_hh, bias_ih = {}, bias_hh = {}, weight_hr = {};
};

// Weights by PyTorch's names: weight_ih_l0, weight_hh_l0 and, where there are, bias_ih_l0,
// bias_hh_l0 and weight_hr_l0; l1, l2, … for further layers, names that end in _reverse for the
// other direction. ValueError for other names, and where a layer has no weight_ih or weight_hh.
struct NamedRecurrentWeights {
    std::vector<RecurrentWeights> layers;
    bool bidirectional = false;
};
[[nodiscard]] NamedRecurrentWeights recurrent_weights(
    std::string_view function, const std::vector<std::pair<std::string, Tensor>>& weights);

struct RecurrentOptions {
    bool bidirectional = false;  // weights: of each layer forwards, then backwards
    bool batch_first = false;    // x and the output are (batch, times, …)
    double dropout = 0;          // between layers, drawn by `key`
    Tensor key = {};
};

// output: (times, batch, directions * outputs), what the last layer gives at each time; h (layers *
// directions, batch, outputs) and, of an LSTM, c (…, hidden): the last states.
struct Recurrent {
    Tensor output, h, c;
};

// x: (times, batch, inputs), or (times, inputs) without a batch anywhere. The first states, of the
// shapes of the last ones, are zeros where they are not given. Weights of layer after layer.
// ValueError, with the shapes, where they do not fit together.
[[nodiscard]] Recurrent lstm(const Tensor& x, const std::vector<RecurrentWeights>& weights,
                             const Tensor& h = {}, const Tensor& c = {},
                             const RecurrentOptions& options = {});
[[nodiscard]] Recurrent gru(const Tensor& x, const std::vector<RecurrentWeights>& weights,
                            const Tensor& h = {}, const RecurrentOptions& options = {});
// nonlinearity: "tanh" or "relu".
[[nodiscard]] Recurrent rnn(const Tensor& x, const std::vector<RecurrentWeights>& weights,
                            const Tensor& h = {}, std::string_view nonlinearity = "tanh",
                            const RecurrentOptions& options = {});

// One step: x (…, inputs), states (…, hidden) -> the next states.
struct LstmState {
    Tensor h, c;
};
[[nodiscard]] LstmState lstm_cell(const Tensor& x, const LstmState& state,
                                  const RecurrentWeights& weights);
[[nodiscard]] Tensor gru_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& weights);
[[nodiscard]] Tensor rnn_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& weights,
                              std::string_view nonlinearity = "tanh");

}  // namespace composit::nn
