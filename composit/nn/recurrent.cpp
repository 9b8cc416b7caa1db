// Recurrent layers: what does not depend on the state is computed for all times at once, the rest
// by a scan over times.
#include "composit/nn/recurrent.h"

#include "composit/base/errors_as.h"
#include "composit/functional/scan.h"
#include "composit/nn/layers.h"
#include "composit/nn/loss_parts.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/random/keys.h"

#include <charconv>
#include <map>
#include <optional>
#include <system_error>

namespace composit::nn {
namespace {

using Tensors = std::vector<Tensor>;

constexpr size_t most_layers = 1 << 20;  // that a name may ask for

// What makes one kind of layer: how many gates, and its step from the part of x, (…, gates *
// hidden), and the state.
struct Kind {
    std::string_view name;
    int64_t gates;
    bool adds_both_biases;  // to the part of x: nothing comes between the two products
    bool has_cell;
    Tensors (*step)(const Tensor& of_x, const Tensors& state, const RecurrentWeights& w,
                    std::string_view nonlinearity);
};

Tensor times_transposed(const Tensor& x, const Tensor& weight) {
    return numpy::matmul(x, numpy::transpose(weight));
}

Tensor sigma(const Tensor& x) { return apply("sigmoid", {x}); }

Tensors lstm_step(const Tensor& of_x, const Tensors& state, const RecurrentWeights& w,
                  std::string_view) {
    const Tensor all = of_x + times_transposed(state[0], w.weight_hh);
    const Tensors gate = numpy::split(all, int64_t{4}, -1);
    const Tensor c = sigma(gate[1]) * state[1] + sigma(gate[0]) * apply("tanh", {gate[2]});
    const Tensor h = sigma(gate[3]) * apply("tanh", {c});
    return {w.weight_hr ? times_transposed(h, w.weight_hr) : h, c};
}

Tensors gru_step(const Tensor& of_x, const Tensors& state, const RecurrentWeights& w,
                 std::string_view) {
    Tensor of_h = times_transposed(state[0], w.weight_hh);
    if (w.bias_hh) of_h = of_h + w.bias_hh;
    const Tensors x = numpy::split(of_x, int64_t{3}, -1), h = numpy::split(of_h, int64_t{3}, -1);
    const Tensor reset = sigma(x[0] + h[0]), update = sigma(x[1] + h[1]);
    const Tensor fresh = apply("tanh", {x[2] + reset * h[2]});
    return {fresh + update * (state[0] - fresh)};
}

Tensors rnn_step(const Tensor& of_x, const Tensors& state, const RecurrentWeights& w,
                 std::string_view nonlinearity) {
    return {apply(nonlinearity, {of_x + times_transposed(state[0], w.weight_hh)})};
}

// The weights of one layer in one direction among those of a name, by the name's beginning.
Tensor* named_part(RecurrentWeights& weights, std::string_view part) {
    if (part == "weight_ih") return &weights.weight_ih;
    if (part == "weight_hh") return &weights.weight_hh;
    if (part == "bias_ih") return &weights.bias_ih;
    if (part == "bias_hh") return &weights.bias_hh;
    return part == "weight_hr" ? &weights.weight_hr : nullptr;
}

// Which layer, and whether it goes backwards; nothing for a name that is none of a weight's.
struct LayerName {
    std::string_view part;
    size_t layer;
    bool is_reverse;
};
std::optional<LayerName> layer_of(std::string_view name) {
    constexpr std::string_view behind = "_reverse";
    const bool is_reverse = name.ends_with(behind);
    if (is_reverse) name.remove_suffix(behind.size());
    const size_t place = name.rfind("_l");
    if (place == std::string_view::npos) return std::nullopt;
    const std::string_view digits = name.substr(place + 2);
    size_t layer = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), layer);
    if (error != std::errc() || end != digits.data() + digits.size() || layer > most_layers)
        return std::nullopt;
    return LayerName{name.substr(0, place), layer, is_reverse};
}

constexpr Kind lstm_kind{"lstm", 4, true, true, lstm_step};
constexpr Kind gru_kind{"gru", 3, false, false, gru_step};
constexpr Kind rnn_kind{"rnn", 1, true, false, rnn_step};

void check_nonlinearity(std::string_view function, std::string_view word) {
    user_check(word == "tanh" || word == "relu", function, ": nonlinearity is '", word,
               "'. Available: tanh, relu.");
}

void check_shape(std::string_view function, std::string_view what, const Tensor& x,
                 const ir::Shape& wanted) {
    user_check(x.shape() == wanted, function, ": ", what, " has shape ", x.shape(), ". ", wanted,
               " is required.");
}

int64_t hidden_size(std::string_view function, const Kind& kind, const RecurrentWeights& w) {
    user_check<TypeError>(w.weight_ih && w.weight_hh, function, ": there is no ",
                          w.weight_ih ? "weight_hh" : "weight_ih", ". It is required.");
    user_check(w.weight_hh.rank() == 2 && w.weight_hh.shape()[0] % kind.gates == 0, function,
               ": weight_hh has shape ", w.weight_hh.shape(), ". (", kind.gates,
               " * hidden, outputs) is required.");
    return w.weight_hh.shape()[0] / kind.gates;
}

int64_t output_size(const RecurrentWeights& w) { return w.weight_hh.shape()[1]; }

void check_weights(std::string_view function, const Kind& kind, const RecurrentWeights& w,
                   int64_t inputs) {
    const int64_t hidden = hidden_size(function, kind, w), rows = kind.gates * hidden;
    check_shape(function, "weight_ih", w.weight_ih, {rows, inputs});
    if (w.bias_ih) check_shape(function, "bias_ih", w.bias_ih, {rows});
    if (w.bias_hh) check_shape(function, "bias_hh", w.bias_hh, {rows});
    user_check(!w.weight_hr || kind.has_cell, function, ": weight_hr is given. It is an LSTM's.");
    if (w.weight_hr)
        check_shape(function, "weight_hr", w.weight_hr, {output_size(w), hidden});
    else
        check_shape(function, "weight_hh", w.weight_hh, {rows, hidden});
}

// Every tensor there is, one after the other, so that they can be given one dtype.
Tensors parts_of(const RecurrentWeights& w) {
    Tensors result;
    for (const Tensor& x : {w.weight_ih, w.weight_hh, w.bias_ih, w.bias_hh, w.weight_hr})
        if (x) result.push_back(x);
    return result;
}

RecurrentWeights with_parts(const RecurrentWeights& w, Tensors::const_iterator& next) {
    RecurrentWeights result;
    result.weight_ih = *next++;
    result.weight_hh = *next++;
    if (w.bias_ih) result.bias_ih = *next++;
    if (w.bias_hh) result.bias_hh = *next++;
    if (w.weight_hr) result.weight_hr = *next++;
    return result;
}

Tensor part_of_input(const Kind& kind, const Tensor& x, const RecurrentWeights& w) {
    Tensor result = times_transposed(x, w.weight_ih);
    Tensor bias = w.bias_ih;
    if (kind.adds_both_biases && w.bias_hh) bias = bias ? bias + w.bias_hh : w.bias_hh;
    return bias ? result + bias : result;
}

// Row `place` of the states given, or zeros.
Tensor first_state(const Tensor& given, int64_t place, const Tensor& x, int64_t size) {
    if (!given) return ops::full({x.shape()[1], size}, numpy::Operand(0.0).tensor());
    return numpy::take(given, ir::constant(ir::Array::scalar(DType::int64, place)), 0);
}

struct Run {
    const Kind& kind;
    std::string_view nonlinearity;
    const RecurrentOptions& options;

    Recurrent operator()(const Tensor& given_x, const std::vector<RecurrentWeights>& given_weights,
                         const Tensor& given_h, const Tensor& given_c) const {
        const std::string_view name = kind.name;
        user_check(given_x.rank() == 2 || given_x.rank() == 3, name, ": x has shape ",
                   given_x.shape(), ". (times, batch, inputs) or (times, inputs) is required.");
        const size_t directions = options.bidirectional ? 2 : 1;
        user_check(!given_weights.empty() && given_weights.size() % directions == 0, name, ": ",
                   given_weights.size(), " sets of weights. One for each layer",
                   options.bidirectional ? " and direction" : "", " is required.");
        user_check(options.dropout == 0 || options.key, name, ": dropout is ", options.dropout,
                   " without a key. One is required.");
        Tensors given{given_x};
        for (const RecurrentWeights& w : given_weights)
            for (const Tensor& part : parts_of(w)) given.push_back(part);
        if (given_h) given.push_back(given_h);
        if (given_c) given.push_back(given_c);
        const Tensors all = all_floating(name, given);
        auto next = all.begin();
        Tensor x = *next++;
        std::vector<RecurrentWeights> weights;
        for (const RecurrentWeights& w : given_weights) weights.push_back(with_parts(w, next));
        Tensor h = given_h ? *next++ : Tensor(), c = given_c ? *next++ : Tensor();
        const bool is_alone = x.rank() == 2, turned = options.batch_first && !is_alone;
        if (is_alone) {
            x = numpy::expand_dims(x, 1);
            if (h) h = numpy::expand_dims(h, 1);
            if (c) c = numpy::expand_dims(c, 1);
        }
        if (turned) x = numpy::swapaxes(x, 0, 1);
        const int64_t hidden = hidden_size(name, kind, weights[0]),
                      outputs = output_size(weights[0]);
        const auto count = static_cast<int64_t>(weights.size());
        if (h) check_shape(name, "the first h", h, {count, x.shape()[1], outputs});
        if (c) check_shape(name, "the first c", c, {count, x.shape()[1], hidden});

        Tensors last_h, last_c;
        for (size_t at = 0; at < weights.size(); at += directions) {
            if (at > 0 && options.dropout > 0)
                x = dropout(x, options.dropout,
                            random::fold_in(options.key, static_cast<int64_t>(at / directions)));
            Tensors sides;
            for (size_t d = 0; d < directions; ++d) {
                const RecurrentWeights& w = weights[at + d];
                check_weights(name, kind, w, x.shape()[2]);
                const auto place = static_cast<int64_t>(at + d);
                Tensors state{ops::astype(first_state(h, place, x, outputs), x.dtype())};
                if (kind.has_cell)
                    state.push_back(ops::astype(first_state(c, place, x, hidden), x.dtype()));
                const auto step = [&](const Tensors& before, const Tensors& row) {
                    const Tensors after = kind.step(row[0], before, w, nonlinearity);
                    return Scanned{after, {after[0]}};
                };
                const Scanned made = scan(step, state, {part_of_input(kind, x, w)}, {}, d == 1,
                                          std::string(name) + (d == 1 ? "_reverse" : ""));
                sides.push_back(made.ys[0]);
                last_h.push_back(made.carry[0]);
                if (kind.has_cell) last_c.push_back(made.carry[1]);
            }
            x = directions == 1 ? sides[0] : numpy::concatenate(sides, -1);
        }
        Recurrent result{turned ? numpy::swapaxes(x, 0, 1) : x, numpy::stack(last_h, 0), {}};
        if (kind.has_cell) result.c = numpy::stack(last_c, 0);
        if (is_alone)
            for (Tensor* part : {&result.output, &result.h, &result.c})
                if (*part) *part = numpy::squeeze(*part, 1);
        return result;
    }
};

Tensors one_step(std::string_view name, const Kind& kind, const Tensor& x, const Tensors& state,
                 const RecurrentWeights& w, std::string_view nonlinearity = {}) {
    user_check(x.rank() > 0, name, ": x is 0-d. (…, inputs) is required.");
    check_weights(name, kind, w, x.shape().back());
    return errors_as(name,
                     [&] { return kind.step(part_of_input(kind, x, w), state, w, nonlinearity); });
}

}  // namespace

NamedRecurrentWeights recurrent_weights(
    std::string_view function, const std::vector<std::pair<std::string, Tensor>>& weights) {
    NamedRecurrentWeights result;
    size_t count = 1;
    std::map<std::pair<size_t, bool>, RecurrentWeights> found;
    for (const auto& [name, value] : weights) {
        const std::optional<LayerName> at = layer_of(name);
        RecurrentWeights none;
        user_check(at && named_part(none, at->part), function, ": a weight is called '", name,
                   "'. Names like weight_ih_l0 and weight_hh_l0_reverse are required.");
        *named_part(found[{at->layer, at->is_reverse}], at->part) = value;
        count = std::max(count, at->layer + 1);
        result.bidirectional = result.bidirectional || at->is_reverse;
    }
    for (size_t layer = 0; layer < count; ++layer)
        for (int direction = 0; direction < (result.bidirectional ? 2 : 1); ++direction) {
            RecurrentWeights& own = found[{layer, direction == 1}];
            for (const char* part : {"weight_ih", "weight_hh"})
                user_check(static_cast<bool>(*named_part(own, part)), function,
                           ": there is no weight ", part, "_l", layer,
                           direction == 1 ? "_reverse" : "", ". It is required.");
            result.layers.push_back(own);
        }
    return result;
}

Recurrent lstm(const Tensor& x, const std::vector<RecurrentWeights>& weights, const Tensor& h,
               const Tensor& c, const RecurrentOptions& options) {
    return Run{lstm_kind, {}, options}(x, weights, h, c);
}

Recurrent gru(const Tensor& x, const std::vector<RecurrentWeights>& weights, const Tensor& h,
              const RecurrentOptions& options) {
    return Run{gru_kind, {}, options}(x, weights, h, {});
}

Recurrent rnn(const Tensor& x, const std::vector<RecurrentWeights>& weights, const Tensor& h,
              std::string_view nonlinearity, const RecurrentOptions& options) {
    check_nonlinearity("rnn", nonlinearity);
    return Run{rnn_kind, nonlinearity, options}(x, weights, h, {});
}

LstmState lstm_cell(const Tensor& x, const LstmState& state, const RecurrentWeights& weights) {
    const Tensors next = one_step("lstm_cell", lstm_kind, x, {state.h, state.c}, weights);
    return {next[0], next[1]};
}

Tensor gru_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& weights) {
    return one_step("gru_cell", gru_kind, x, {h}, weights)[0];
}

Tensor rnn_cell(const Tensor& x, const Tensor& h, const RecurrentWeights& weights,
                std::string_view nonlinearity) {
    check_nonlinearity("rnn_cell", nonlinearity);
    return one_step("rnn_cell", rnn_kind, x, {h}, weights, nonlinearity)[0];
}

}  // namespace composit::nn
