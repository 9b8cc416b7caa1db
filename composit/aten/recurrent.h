// Recurrent networks by PyTorch's modes and names of weights: over sequences of one length, and
// over packed ones.
//
//   recurrent("GRU", x, {{"weight_ih_l0", w}, {"weight_hh_l0", r}});  // {output, h}
#pragma once

#include "composit/aten/modules.h"
#include "composit/nn/recurrent.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::aten {

using ir::Tensor;
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// RuntimeError unless the last length of an input is the network's.
void check_input_size(int64_t length, int64_t required);
// ValueError for an input of another number of dimensions than 2 and 3; then as above; ValueError
// where the weights have another dtype than the input. `module` is the class that is named.
void check_recurrent_input(std::string_view module, const Shape& input, ir::DType dtype,
                           int64_t required, ir::DType of_weights);
// The shapes of the states of a batch: one, or two of an LSTM.
[[nodiscard]] std::vector<Shape> recurrent_states(const RecurrentSizes& sizes, int64_t batch);

// The output and the last states of a mode ("LSTM", "GRU", "RNN_TANH", "RNN_RELU"), from `states`,
// zeros where there are none.
[[nodiscard]] std::vector<Tensor> recurrent(std::string_view mode, const Tensor& x,
                                            const NamedTensors& weights,
                                            const std::vector<Tensor>& states = {},
                                            const nn::RecurrentOptions& options = {});

// The same over packed data (sequences.h), from states in the data's order. Between layers elements
// are dropped with probability `dropout`, by one key for each layer but the first, if there are
// keys.
[[nodiscard]] std::vector<Tensor> packed_recurrent(std::string_view mode, const Tensor& data,
                                                   const std::vector<int64_t>& batch_sizes,
                                                   const NamedTensors& weights,
                                                   const std::vector<Tensor>& states,
                                                   double dropout = 0,
                                                   const std::vector<Tensor>& keys = {});

}  // namespace composit::aten
