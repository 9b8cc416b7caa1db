// Recurrent layers of composit/nn/recurrent.h, into module composit._core.nn.
#include "casters.h"
#include "composit/base/error.h"
#include "composit/nn/recurrent.h"
#include "location.h"
#include "nn.h"

#include <nanobind/stl/tuple.h>

namespace composit::python {
namespace {

using Text = const std::string&;
using Maybe = const MaybeOperand&;
// Objects, as a list's caster may not throw what is wrong with one of them.
using Parts = std::vector<nb::object>;

nn::RecurrentWeights weights_of(const Parts& parts) {
    user_check(parts.size() == 5, "recurrent layers: ", parts.size(), " weights. weight_ih, ",
               "weight_hh, bias_ih, bias_hh and weight_hr, which may be None, are required.");
    const auto part = [&](size_t i) {
        return parts[i].is_none() ? Tensor() : tensor_from(parts[i]);
    };
    return {part(0), part(1), part(2), part(3), part(4)};
}

std::vector<nn::RecurrentWeights> layers_of(const std::vector<Parts>& layers) {
    std::vector<nn::RecurrentWeights> result;
    for (const Parts& parts : layers) result.push_back(weights_of(parts));
    return result;
}

}  // namespace

void bind_nn_recurrent(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "lstm",
        [](const Tensor& x, const std::vector<Parts>& layers, Maybe h, Maybe c, bool bidirectional,
           bool batch_first, double dropout, Maybe key) {
            const auto made =
                nn::lstm(x, layers_of(layers), h, c, {bidirectional, batch_first, dropout, key});
            return std::tuple(made.output, made.h, made.c);
        },
        located);
    module.def(
        "gru",
        [](const Tensor& x, const std::vector<Parts>& layers, Maybe h, bool bidirectional,
           bool batch_first, double dropout, Maybe key) {
            const auto made =
                nn::gru(x, layers_of(layers), h, {bidirectional, batch_first, dropout, key});
            return std::tuple(made.output, made.h);
        },
        located);
    module.def(
        "rnn",
        [](const Tensor& x, const std::vector<Parts>& layers, Maybe h, Text nonlinearity,
           bool bidirectional, bool batch_first, double dropout, Maybe key) {
            const auto made = nn::rnn(x, layers_of(layers), h, nonlinearity,
                                      {bidirectional, batch_first, dropout, key});
            return std::tuple(made.output, made.h);
        },
        located);
    module.def(
        "lstm_cell",
        [](const Tensor& x, const Tensor& h, const Tensor& c, const Parts& weights) {
            const auto next = nn::lstm_cell(x, {h, c}, weights_of(weights));
            return std::tuple(next.h, next.c);
        },
        located);
    module.def(
        "gru_cell",
        [](const Tensor& x, const Tensor& h, const Parts& weights) {
            return nn::gru_cell(x, h, weights_of(weights));
        },
        located);
    module.def(
        "rnn_cell",
        [](const Tensor& x, const Tensor& h, const Parts& weights, Text nonlinearity) {
            return nn::rnn_cell(x, h, weights_of(weights), nonlinearity);
        },
        located);
}

}  // namespace composit::python
