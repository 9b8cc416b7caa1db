// Recurrent layers: one scan over time for each direction.
#include "composit/functional/scan.h"
#include "composit/nn/activations.h"
#include "composit/nn/operations.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/operators.h"

#include <functional>

namespace composit::onnx {
namespace recurrent {
namespace {

using numpy::apply;
using Activation = std::function<Tensor(const Tensor&)>;

Activation activation_of(const Call& call, const std::string& name, double alpha, double beta) {
    if (name == "Sigmoid") return [](const Tensor& x) { return nn::sigmoid(x); };
    if (name == "Tanh") return [](const Tensor& x) { return nn::tanh(x); };
    if (name == "Relu") return [](const Tensor& x) { return nn::relu(x); };
    if (name == "Affine") return [=](const Tensor& x) { return alpha * x + beta; };
    if (name == "LeakyRelu") return [=](const Tensor& x) { return nn::leaky_relu(x, alpha); };
    if (name == "ThresholdedRelu")
        return [=](const Tensor& x) { return nn::threshold(x, alpha, 0); };
    if (name == "ScaledTanh") return [=](const Tensor& x) { return alpha * nn::tanh(beta * x); };
    if (name == "HardSigmoid")
        return [=](const Tensor& x) { return numpy::clip(alpha * x + beta, 0.0, 1.0); };
    if (name == "Elu") return [=](const Tensor& x) { return nn::elu(x, alpha); };
    if (name == "Softsign") return [](const Tensor& x) { return nn::softsign(x); };
    if (name == "Softplus") return [](const Tensor& x) { return apply("softplus", {x}); };
    call.check<NotSupported>(false, "activation '", name,
                             "'. One of Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, "
                             "ScaledTanh, HardSigmoid, Elu, Softsign and Softplus is required.");
    return {};
}

// What an activation takes where the node gives no numbers.
double missing_alpha(const std::string& name) {
    if (name == "LeakyRelu") return 0.01;
    if (name == "HardSigmoid") return 0.2f;
    return 1;
}
double missing_beta(const std::string& name) { return name == "HardSigmoid" ? 0.5 : 1; }

// The activations of all directions. Numbers of the lists belong to those that take them, in order.
std::vector<Activation> activations_of(const Call& call, size_t directions,
                                       const std::vector<std::string>& usual) {
    std::vector<std::string> names = call.texts("activations");
    if (names.empty())
        for (size_t i = 0; i < directions; ++i)
            names.insert(names.end(), usual.begin(), usual.end());
    call.check(names.size() == directions * usual.size(), "there are ", names.size(),
               " activations. ", directions * usual.size(), " are required.");
    const std::vector<double> alphas = call.numbers("activation_alpha");
    const std::vector<double> betas = call.numbers("activation_beta");
    std::vector<Activation> all;
    for (size_t i = 0; i < names.size(); ++i)
        all.push_back(activation_of(call, names[i],
                                    i < alphas.size() ? alphas[i] : missing_alpha(names[i]),
                                    i < betas.size() ? betas[i] : missing_beta(names[i])));
    return all;
}

// The node's operands with time first, and what they have in common.
struct Layer {
    Tensor x;  // (times, batch, inputs)
    Tensor lengths;
    int64_t times = 0, batch = 0, hidden = 0, directions = 0;
    bool is_batch_first = false;
    std::string direction;
    double clip = 0;
};

Layer layer_of(const Call& call, int64_t gates) {
    Layer layer;
    layer.is_batch_first = call.integer("layout", 0) == 1;
    const Tensor& x = call.tensor(0);
    call.check(x.rank() == 3, "an input of shape ", x.shape(), ". Three axes are required.");
    layer.x = layer.is_batch_first ? numpy::swapaxes(x, 0, 1) : x;
    layer.times = layer.x.shape()[0];
    layer.batch = layer.x.shape()[1];
    layer.direction = call.text("direction", "forward");
    layer.directions = layer.direction == "bidirectional" ? 2 : 1;
    const Shape &w = call.tensor(1).shape(), &r = call.tensor(2).shape();
    layer.hidden = call.integer("hidden_size", r.empty() ? 0 : r.back());
    call.check(w == Shape{layer.directions, gates * layer.hidden, layer.x.shape()[2]} &&
                   r == Shape{layer.directions, gates * layer.hidden, layer.hidden},
               "weights of shape ", w, " and ", r, " for an input of shape ", x.shape(), " and ",
               layer.hidden, " hidden numbers. (", layer.directions, ", ", gates * layer.hidden,
               ", …) of the inputs and of the hidden numbers are required.");
    if (call.has(4)) {
        const std::vector<int64_t> lengths = call.known_integers(4);
        for (const int64_t length : lengths)
            if (length != layer.times) layer.lengths = numpy::astype(call.tensor(4), DType::int64);
    }
    layer.clip = call.number("clip", 0);
    return layer;
}

Tensor of_direction(const Tensor& x, int64_t direction) {
    return x ? numpy::get_item(x, {direction}) : x;
}

// x and its rows in the order of time of a direction; sequences that are shorter come first in it.
Tensor in_order(const Layer& layer, const Tensor& rows, bool is_reverse) {
    if (!is_reverse) return rows;
    if (!layer.lengths) return numpy::flip(rows, 0);
    const Tensor steps = numpy::reshape(numpy::arange(layer.times), {-1, 1});
    const Tensor from = apply("where", {steps < layer.lengths, layer.lengths - 1 - steps, steps});
    return numpy::get_item(rows, {from, numpy::arange(layer.batch)});
}

// The next states of the gates' sums of inputs (batch, gates * hidden) and the states.
using Step = std::function<Tensors(const Tensor& sums, const Tensors& states)>;

struct Run {
    Tensor output;  // (times, batch, hidden)
    Tensors states;
};
Run run(const Layer& layer, const Tensor& sums, const Tensors& first, const Step& step,
        bool is_reverse) {
    const Tensor ordered = in_order(layer, sums, is_reverse);
    const ScanBody body = [&](const Tensors& states, const Tensors& row) {
        Tensors next = step(row[0], states);
        Tensor output = next[0];
        if (layer.lengths) {
            // Behind its end a sequence keeps its states and gives zeros.
            const Tensor is_inside = numpy::reshape(row[1] < layer.lengths, {-1, 1});
            for (size_t i = 0; i < next.size(); ++i)
                next[i] = apply("where", {is_inside, next[i], states[i]});
            output = apply("where", {is_inside, output, 0.0});
        }
        return Scanned{next, {output}};
    };
    Tensors xs{ordered};
    if (layer.lengths) xs.push_back(numpy::arange(layer.times));
    const Scanned made = scan(body, first, xs);
    return {in_order(layer, made.ys[0], is_reverse), made.carry};
}

Tensor clipped(const Layer& layer, const Tensor& x) {
    return layer.clip > 0 ? numpy::clip(x, -layer.clip, layer.clip) : x;
}

// Sums of all times over the inputs, with the biases of inputs.
Tensor input_sums(const Layer& layer, const Tensor& weights, const Tensor& bias) {
    const Tensor sums = numpy::matmul(layer.x, numpy::transpose(weights));
    return bias ? sums + bias : sums;
}

Tensor first_state(const Call& call, const Layer& layer, size_t input, int64_t direction) {
    if (!call.has(input)) return numpy::zeros({layer.batch, layer.hidden}, layer.x.dtype());
    const Tensor& given = call.tensor(input);
    return of_direction(layer.is_batch_first ? numpy::swapaxes(given, 0, 1) : given, direction);
}

// The part of gate number i.
Tensor gate(const Layer& layer, const Tensor& sums, int64_t i) {
    return numpy::get_item(
        sums, {numpy::Ellipsis{}, numpy::Slice{i * layer.hidden, (i + 1) * layer.hidden}});
}

struct Biases {
    Tensor input, recurrent;
};
Biases biases_of(const Call& call, const Layer& layer, int64_t gates, int64_t direction) {
    if (!call.has(3)) return {};
    const Tensor both = of_direction(call.tensor(3), direction);
    const int64_t size = gates * layer.hidden;
    call.check(both.shape() == Shape{2 * size}, "biases of shape ", call.tensor(3).shape(),
               ". (directions, ", 2 * size, ") is required.");
    return {numpy::get_item(both, {numpy::Slice{0, size}}),
            numpy::get_item(both, {numpy::Slice{size, 2 * size}})};
}

// What a node gives: outputs of all times, and the last states, with batch and time as it has them.
Values gathered(const Layer& layer, const std::vector<Run>& runs) {
    Tensors outputs;
    std::vector<Tensors> states(runs[0].states.size());
    for (const Run& run : runs) {
        outputs.push_back(run.output);
        for (size_t i = 0; i < states.size(); ++i) states[i].push_back(run.states[i]);
    }
    const Tensor all = numpy::stack(outputs, 1);  // (times, directions, batch, hidden)
    Values values{layer.is_batch_first ? numpy::transpose(all, std::vector<int64_t>{2, 0, 1, 3})
                                       : all};
    for (const Tensors& each : states) {
        const Tensor last = numpy::stack(each, 0);
        values.emplace_back(layer.is_batch_first ? numpy::swapaxes(last, 0, 1) : last);
    }
    return values;
}

template <class MakeRun>
Values all_directions(const Layer& layer, const MakeRun& make) {
    std::vector<Run> runs;
    for (int64_t i = 0; i < layer.directions; ++i)
        runs.push_back(make(i, layer.direction == "reverse" || i == 1));
    return gathered(layer, runs);
}

Tensor plus(const Tensor& x, const Tensor& bias) { return bias ? x + bias : x; }

Values rnn(Call& call) {
    const Layer layer = layer_of(call, 1);
    const auto functions = activations_of(call, static_cast<size_t>(layer.directions), {"Tanh"});
    return all_directions(layer, [&](int64_t i, bool is_reverse) {
        const Biases biases = biases_of(call, layer, 1, i);
        const Tensor weights = numpy::transpose(of_direction(call.tensor(2), i));
        const Activation& f = functions[static_cast<size_t>(i)];
        const Step step = [&](const Tensor& sums, const Tensors& states) {
            const Tensor all = sums + plus(numpy::matmul(states[0], weights), biases.recurrent);
            return Tensors{f(clipped(layer, all))};
        };
        return run(layer, input_sums(layer, of_direction(call.tensor(1), i), biases.input),
                   {first_state(call, layer, 5, i)}, step, is_reverse);
    });
}

// Gates: update, reset, hidden.
Values gru(Call& call) {
    const Layer layer = layer_of(call, 3);
    const auto functions =
        activations_of(call, static_cast<size_t>(layer.directions), {"Sigmoid", "Tanh"});
    const bool is_reset_behind = call.flag("linear_before_reset");
    return all_directions(layer, [&](int64_t i, bool is_reverse) {
        const Biases biases = biases_of(call, layer, 3, i);
        const Tensor recurrent = of_direction(call.tensor(2), i);
        const Tensor weights = numpy::transpose(recurrent);
        const auto weights_of = [&](int64_t from, int64_t to) {
            return numpy::get_item(
                weights, {numpy::Slice{}, numpy::Slice{from * layer.hidden, to * layer.hidden}});
        };
        const Tensor of_gates = weights_of(0, 2), of_hidden = weights_of(2, 3);
        Tensor gates_bias, hidden_bias;
        if (biases.recurrent) {
            gates_bias = numpy::get_item(biases.recurrent, {numpy::Slice{0, 2 * layer.hidden}});
            hidden_bias = gate(layer, biases.recurrent, 2);
        }
        const Activation &f = functions[static_cast<size_t>(2 * i)],
                         &g = functions[static_cast<size_t>(2 * i + 1)];
        const Step step = [&](const Tensor& sums, const Tensors& states) {
            const Tensor& h = states[0];
            const Tensor of_h = plus(numpy::matmul(h, of_gates), gates_bias);
            const Tensor z = f(clipped(layer, gate(layer, sums, 0) + gate(layer, of_h, 0)));
            const Tensor r = f(clipped(layer, gate(layer, sums, 1) + gate(layer, of_h, 1)));
            const Tensor part = is_reset_behind
                                    ? r * plus(numpy::matmul(h, of_hidden), hidden_bias)
                                    : plus(numpy::matmul(r * h, of_hidden), hidden_bias);
            const Tensor fresh = g(clipped(layer, gate(layer, sums, 2) + part));
            return Tensors{(1 - z) * fresh + z * h};
        };
        return run(layer, input_sums(layer, of_direction(call.tensor(1), i), biases.input),
                   {first_state(call, layer, 5, i)}, step, is_reverse);
    });
}

// Gates: input, output, forget, cell. Peepholes: of input, output and forget.
Values lstm(Call& call) {
    const Layer layer = layer_of(call, 4);
    const auto functions =
        activations_of(call, static_cast<size_t>(layer.directions), {"Sigmoid", "Tanh", "Tanh"});
    const bool is_coupled = call.flag("input_forget");
    return all_directions(layer, [&](int64_t i, bool is_reverse) {
        const Biases biases = biases_of(call, layer, 4, i);
        const Tensor weights = numpy::transpose(of_direction(call.tensor(2), i));
        const Tensor peepholes = of_direction(call.tensor_if_given(7), i);
        const Activation &f = functions[static_cast<size_t>(3 * i)],
                         &g = functions[static_cast<size_t>(3 * i + 1)],
                         &h = functions[static_cast<size_t>(3 * i + 2)];
        const auto with_cell = [&](const Tensor& sum, const Tensor& cell, int64_t k) {
            return clipped(layer, peepholes ? sum + gate(layer, peepholes, k) * cell : sum);
        };
        const Step step = [&](const Tensor& sums, const Tensors& states) {
            const Tensor all = sums + plus(numpy::matmul(states[0], weights), biases.recurrent);
            const Tensor& cell = states[1];
            const Tensor in = f(with_cell(gate(layer, all, 0), cell, 0));
            const Tensor forget = is_coupled ? 1 - in : f(with_cell(gate(layer, all, 2), cell, 2));
            const Tensor fresh = g(clipped(layer, gate(layer, all, 3)));
            const Tensor next = forget * cell + in * fresh;
            const Tensor out = f(with_cell(gate(layer, all, 1), next, 1));
            return Tensors{out * h(next), next};
        };
        return run(layer, input_sums(layer, of_direction(call.tensor(1), i), biases.input),
                   {first_state(call, layer, 5, i), first_state(call, layer, 6, i)}, step,
                   is_reverse);
    });
}

}  // namespace
}  // namespace recurrent

void add_recurrent(Registry& registry) {
    using namespace recurrent;
    registry.add("GRU", gru);
    registry.add("LSTM", lstm);
    registry.add("RNN", rnn);
}

}  // namespace composit::onnx
