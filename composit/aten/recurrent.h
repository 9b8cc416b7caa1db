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
// where the weights have another dtype than the input, RuntimeError where there are no times.
// `module` is the class that is named.
void check_recurrent_input(std::string_view module, const Shape& input, ir::DType dtype,
                           int64_t required, ir::DType of_weights, bool batch_first);
// As check_input_size; RuntimeError where the weights have another dtype than packed data.
void check_packed_input(const Shape& data, ir::DType dtype, int64_t required, ir::DType of_weights);
// A step's input and states: ValueError for other numbers of dimensions than 1 and 2, RuntimeError
// for lengths that do not go together.
void check_cell_input(std::string_view module, const Shape& input, int64_t required, int64_t hidden,
                      const std::vector<Shape>& states);
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
