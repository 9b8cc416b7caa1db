// Modes of recurrent networks, over nn's loops.
#include "composit/aten/recurrent.h"

#include "composit/aten/sequences.h"
#include "composit/aten/shapes.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/nn/layers.h"
#include "composit/numpy/manipulation.h"

#include <utility>

namespace composit::aten {
namespace {

enum class Kind { lstm, gru, tanh, relu };

Kind kind_of(std::string_view mode) {
    if (mode == "LSTM") return Kind::lstm;
    if (mode == "GRU") return Kind::gru;
    user_check(mode == "RNN_TANH" || mode == "RNN_RELU", "Unrecognized RNN mode: ", mode);
    return mode == "RNN_TANH" ? Kind::tanh : Kind::relu;
}

std::vector<Tensor> run_layers(Kind kind, const Tensor& x,
                               const std::vector<nn::RecurrentWeights>& layers,
                               const std::vector<Tensor>& states,
                               const nn::RecurrentOptions& options) {
    const auto state = [&](size_t i) { return i < states.size() ? states[i] : Tensor(); };
    if (kind == Kind::lstm) {
        nn::Recurrent made = nn::lstm(x, layers, state(0), state(1), options);
        return {std::move(made.output), std::move(made.h), std::move(made.c)};
    }
    nn::Recurrent made = kind == Kind::gru ? nn::gru(x, layers, state(0), options)
                                           : nn::rnn(x, layers, state(0),
                                                     kind == Kind::tanh ? "tanh" : "relu", options);
    return {std::move(made.output), std::move(made.h)};
}

nn::NamedRecurrentWeights layers_of(Kind kind, const NamedTensors& weights) {
    const char* const name = kind == Kind::lstm ? "lstm" : kind == Kind::gru ? "gru" : "rnn";
    return nn::recurrent_weights(name, weights);
}

}  // namespace

void check_input_size(int64_t length, int64_t required) {
    user_check<RuntimeError>(length == required,
                             "input.size(-1) must be equal to input_size. Expected ", required,
                             ", got ", length);
}

void check_recurrent_input(std::string_view module, const Shape& input, ir::DType dtype,
                           int64_t required, ir::DType of_weights, bool batch_first) {
    user_check(input.size() == 2 || input.size() == 3, module,
               ": Expected input to be 2D or 3D, got ", input.size(), "D instead");
    check_input_size(input.back(), required);
    user_check(dtype == of_weights, "RNN input dtype (torch.", dtype,
               ") does not match weight dtype (torch.", of_weights,
               "). Convert input: input.to(torch.", of_weights,
               "), or convert model: model.to(torch.", dtype, ")");
    user_check<RuntimeError>(input[input.size() == 3 && batch_first ? 1 : 0] > 0,
                             "Expected sequence length to be larger than 0 in RNN");
}

void check_packed_input(const Shape& data, ir::DType dtype, int64_t required,
                        ir::DType of_weights) {
    check_input_size(data.back(), required);
    user_check<RuntimeError>(
        dtype == of_weights, "mat1 and mat2 must have the same dtype, but got ",
        ir::scalar_type_name(dtype), " and ", ir::scalar_type_name(of_weights));
}

void check_cell_input(std::string_view module, const Shape& input, int64_t required, int64_t hidden,
                      const std::vector<Shape>& states) {
    const auto is_one = [](const Shape& shape) { return shape.size() == 1 || shape.size() == 2; };
    user_check(is_one(input), module, ": Expected input to be 1D or 2D, got ", input.size(),
               "D instead");
    for (size_t i = 0; i < states.size(); ++i) {
        const std::string name = states.size() > 1 ? text("hx[", i, "]") : "hidden";
        user_check(is_one(states[i]), module, ": Expected ", name, " to be 1D or 2D, got ",
                   states[i].size(), "D instead");
    }
    user_check<RuntimeError>(input.back() == required, "input has inconsistent input_size: got ",
                             input.back(), " expected ", required);
    const int64_t batch = input.size() == 2 ? input[0] : 1;
    for (size_t i = 0; i < states.size(); ++i) {
        // A state is taken as one of a batch where the input is none.
        Shape state = states[i];
        if (input.size() == 1) state.insert(state.begin(), 1);
        user_check<RuntimeError>(state[0] == batch, "Input batch size ", batch,
                                 " doesn't match hidden", i, " batch size ", state[0]);
        user_check<RuntimeError>(state.size() == 2 && state[1] == hidden, "hidden", i,
                                 " has inconsistent hidden_size: got ",
                                 state.size() > 1 ? state[1] : 1, ", expected ", hidden);
    }
}

std::vector<Shape> recurrent_states(const RecurrentSizes& sizes, int64_t batch) {
    const int64_t count = sizes.layers * (sizes.is_bidirectional ? 2 : 1);
    std::vector<Shape> shapes = {
        {count, batch, sizes.projection ? sizes.projection : sizes.hidden}};
    if (kind_of(sizes.mode) == Kind::lstm) shapes.push_back({count, batch, sizes.hidden});
    return shapes;
}

std::vector<Tensor> recurrent(std::string_view mode, const Tensor& x, const NamedTensors& weights,
                              const std::vector<Tensor>& states,
                              const nn::RecurrentOptions& given) {
    const Kind kind = kind_of(mode);
    const nn::NamedRecurrentWeights found = layers_of(kind, weights);
    nn::RecurrentOptions options = given;
    options.bidirectional = found.bidirectional;
    return run_layers(kind, x, found.layers, states, options);
}

std::vector<Tensor> packed_recurrent(std::string_view mode, const Tensor& given,
                                     const std::vector<int64_t>& batch_sizes,
                                     const NamedTensors& weights, const std::vector<Tensor>& states,
                                     double dropout, const std::vector<Tensor>& keys) {
    const Kind kind = kind_of(mode);
    const nn::NamedRecurrentWeights found = layers_of(kind, weights);
    const size_t sides = found.bidirectional ? 2 : 1, count = found.layers.size() / sides;
    user_check(states.size() == (kind == Kind::lstm ? 2U : 1U), mode, ": ", states.size(),
               " states. h, and c of an LSTM, are required.");
    Tensor data = given;
    std::vector<std::vector<Tensor>> ends(states.size());
    for (size_t layer = 0; layer < count; ++layer) {
        if (layer > 0 && layer <= keys.size()) data = nn::dropout(data, dropout, keys[layer - 1]);
        std::vector<Tensor> outputs;
        for (size_t side = 0; side < sides; ++side) {
            const size_t place = layer * sides + side;
            const std::vector<nn::RecurrentWeights> own = {found.layers[place]};
            std::vector<Tensor> start;
            for (const Tensor& state : states)
                start.push_back(aten::select(state, 0, static_cast<int64_t>(place)));
            const RecurrentStep step = [&](const Tensor& x, const std::vector<Tensor>& now) {
                std::vector<Tensor> first;
                for (const Tensor& state : now) first.push_back(aten::unsqueeze(state, 0));
                std::vector<Tensor> made = run_layers(kind, x, own, first, {});
                for (size_t i = 1; i < made.size(); ++i) made[i] = aten::select(made[i], 0, 0);
                return made;
            };
            const std::vector<Tensor> made = run_packed(data, batch_sizes, start, step, side == 1);
            outputs.push_back(made[0]);
            for (size_t i = 0; i < ends.size(); ++i) ends[i].push_back(made[i + 1]);
        }
        data = outputs.size() > 1 ? numpy::concatenate(outputs, -1) : outputs[0];
    }
    std::vector<Tensor> all = {data};
    for (const std::vector<Tensor>& end : ends) all.push_back(numpy::stack(end, 0));
    return all;
}

}  // namespace composit::aten
