// Recurrent layers of composit/nn/recurrent.h, into module composit._core.nn.
#include "arguments.h"
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

// By PyTorch's names, from a mapping.
nn::NamedRecurrentWeights named_weights(const char* function, nb::handle weights) {
    constexpr auto required = "A mapping from names to weights";
    if (!PyMapping_Check(weights.ptr()) || !nb::hasattr(weights, "items"))
        refuse_argument(weights, required);
    std::vector<std::pair<std::string, Tensor>> named;
    for (nb::handle item : weights.attr("items")()) {
        if (!nb::isinstance<nb::str>(item[0])) refuse_argument(weights, required);
        named.emplace_back(nb::cast<std::string>(item[0]),
                           item[1].is_none() ? Tensor() : tensor_from(item[1]));
    }
    return nn::recurrent_weights(function, named);
}

// None, or (h, c).
std::pair<Tensor, Tensor> states_of(nb::handle initial) {
    if (initial.is_none()) return {};
    const bool is_sequence =
        nb::isinstance<nb::tuple>(initial) || nb::isinstance<nb::list>(initial);
    if (!is_sequence || nb::len(initial) != 2) refuse_argument(initial, "A pair (h, c)");
    const auto state = [&](int i) {
        return initial[i].is_none() ? Tensor() : tensor_from(initial[i]);
    };
    return {state(0), state(1)};
}

}  // namespace

void bind_nn_recurrent(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "lstm",
        [](const Tensor& x, nb::object weights, nb::object initial, bool batch_first,
           double dropout, Maybe key) {
            const auto [layers, is_both] = named_weights("lstm", weights);
            const auto [h, c] = states_of(initial);
            const auto made = nn::lstm(x, layers, h, c, {is_both, batch_first, dropout, key});
            return std::tuple(made.output, made.h, made.c);
        },
        nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none(),
        located);
    module.def(
        "gru",
        [](const Tensor& x, nb::object weights, Maybe h, bool batch_first, double dropout,
           Maybe key) {
            const auto [layers, is_both] = named_weights("gru", weights);
            const auto made = nn::gru(x, layers, h, {is_both, batch_first, dropout, key});
            return std::tuple(made.output, made.h);
        },
        nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none(),
        located);
    module.def(
        "rnn",
        [](const Tensor& x, nb::object weights, Maybe h, Text nonlinearity, bool batch_first,
           double dropout, Maybe key) {
            const auto [layers, is_both] = named_weights("rnn", weights);
            const auto made =
                nn::rnn(x, layers, h, nonlinearity, {is_both, batch_first, dropout, key});
            return std::tuple(made.output, made.h);
        },
        nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none(), located);
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
