// Networks' parts of composit/aten: recurrent.h, network_formulas.h, value_checks.h, and the
// tensors of normalisations (modules.h).
#include "aten.h"
#include "casters.h"
#include "composit/aten/modules.h"
#include "composit/aten/network_formulas.h"
#include "composit/aten/recurrent.h"
#include "composit/aten/value_checks.h"
#include "composit/base/error.h"
#include "flags.h"
#include "location.h"
#include "shown.h"
#include "torch_values.h"

#include <string>
#include <utility>

namespace composit::python {
namespace {

using aten::MaybeValue;
using aten::formulas::Value;
using Integers = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

Value given(nb::handle object) { return value_of(nb::borrow(object)); }
nb::tuple pair_of(const std::pair<Value, Value>& made) {
    return nb::make_tuple(object_of(made.first), object_of(made.second));
}
aten::Reduction reduction_of(nb::handle word) {
    return aten::reduction_from(nb::cast<std::string>(word));
}

aten::NamedTensors named_tensors(const std::vector<std::string>& names, const Tensors& weights) {
    aten::NamedTensors all;
    for (size_t i = 0; i < names.size() && i < weights.size(); ++i)
        all.emplace_back(names[i], weights[i]);
    return all;
}

void bind_recurrent(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("check_input_size", &aten::check_input_size);
    module.def("check_recurrent_input", &aten::check_recurrent_input);
    module.def("check_packed_input", &aten::check_packed_input);
    module.def("check_cell_input", &aten::check_cell_input);
    module.def("recurrent_states", [](const std::string& mode, int64_t layers, TruthFlag both,
                                      int64_t hidden, int64_t projection, int64_t batch) {
        nb::list made;
        for (const ir::Shape& shape : aten::recurrent_states({.mode = mode,
                                                              .hidden = hidden,
                                                              .layers = layers,
                                                              .is_bidirectional = both,
                                                              .projection = projection},
                                                             batch))
            made.append(tuple_from(shape));
        return made;
    });
    module.def(
        "recurrent",
        [](const std::string& mode, const Tensor& x, const std::vector<std::string>& names,
           const Tensors& weights, const Tensors& states, TruthFlag batch_first, double dropout,
           const MaybeOperand& key) {
            return aten::recurrent(mode, x, named_tensors(names, weights), states,
                                   {.batch_first = batch_first, .dropout = dropout, .key = key});
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg().none(), located);
    module.def(
        "packed_recurrent",
        [](const std::string& mode, const Tensor& data, const Integers& batch_sizes,
           const std::vector<std::string>& names, const Tensors& weights, const Tensors& states,
           double dropout, const Tensors& keys) {
            return aten::packed_recurrent(mode, data, batch_sizes, named_tensors(names, weights),
                                          states, dropout, keys);
        },
        located);
}

// What PyTorch says of values of other types than those that composit::aten takes.
void check_product_loss(nb::handle rows, nb::handle method, nb::handle policy, nb::handle dtype) {
    user_check(nb::isinstance<nb::str>(policy), "invalid acc_policy: ", Shown{policy});
    user_check(method.is_none() || nb::isinstance<nb::str>(method),
               "invalid chunking_method: ", Shown{method});
    user_check(rows.is_none() || PyLong_Check(rows.ptr()),
               "batch_chunk_size must be positive int or None, got ", Shown{rows});
    aten::check_product_loss(
        rows.is_none() ? std::nullopt : std::optional(integer_from(rows)),
        method.is_none() ? std::nullopt : std::optional(nb::cast<std::string>(method)),
        nb::cast<std::string>(policy));
    const nb::object name = nb::getattr(dtype, "name", nb::none());
    const std::string shown = nb::str(name).c_str();
    const bool is_float =
        shown == "float16" || shown == "bfloat16" || shown == "float32" || shown == "float64";
    user_check(dtype.is_none() || is_float,
               "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, "
               "torch.float64}, got ",
               Shown{dtype}, ". Pass acc_dtype=None to let the op pick automatically.");
}

void bind_network_formulas(nb::module_& module) {
    module.def(
        "linear_cross_entropy",
        [](nb::handle x, nb::handle weight, nb::handle target, nb::handle bias,
           nb::handle class_weight, nb::handle reduction, std::optional<int64_t> ignore_index,
           double label_smoothing) {
            return object_of(aten::linear_cross_entropy(
                given(x), given(weight), given(target),
                {maybe_value_of(bias), maybe_value_of(class_weight), reduction_of(reduction),
                 ignore_index.value_or(-100), label_smoothing}));
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(),
        nb::arg().none(), nb::arg());
    module.def("triplet_margin_with_distance_loss",
               [](nb::handle anchor, nb::handle positive, nb::handle negative,
                  nb::callable distance, nb::handle margin, TruthFlag swap, nb::handle reduction) {
                   const aten::Distance between = [&](const Value& a, const Value& b) {
                       return value_of(distance(object_of(a), object_of(b)));
                   };
                   return object_of(aten::triplet_margin_with_distance_loss(
                       given(anchor), given(positive), given(negative), between, given(margin),
                       swap, reduction_of(reduction)));
               });
    module.def("check_dropout", [](nb::handle p) { aten::check_dropout(given(p)); });
    module.def("alpha_dropout", [](nb::handle x, nb::handle p, TruthFlag is_training,
                                   TruthFlag of_channels, nb::callable draw) {
        const aten::Draw drawn = [&](const ir::Shape& shape) {
            return value_of(draw(tuple_from(shape)));
        };
        return object_of(aten::alpha_dropout(given(x), given(p), is_training, of_channels, drawn));
    });
    module.def(
        "fused_with_norm",
        [](nb::handle weight, nb::handle bias, nb::handle mean, nb::handle variance, double eps,
           nb::handle scale, nb::handle shift, const ir::Shape& shape) {
            return pair_of(aten::fused_with_norm(
                given(weight), maybe_value_of(bias),
                {given(mean), given(variance), eps, maybe_value_of(scale), maybe_value_of(shift)},
                shape));
        },
        nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
        nb::arg().none(), nb::arg());
    module.def("total_norm", [](nb::iterable tensors, double order) {
        std::vector<Value> all;
        for (nb::handle tensor : tensors) all.push_back(given(tensor));
        return object_of(aten::total_norm(all, order));
    });
    module.def("check_product_loss", check_product_loss, nb::arg().none(), nb::arg().none(),
               nb::arg(), nb::arg().none());
    module.def("orthonormal",
               [](nb::handle drawn) { return object_of(aten::orthonormal(given(drawn))); });
}

void bind_value_checks(nb::module_& module) {
    module.def("check_probabilities", &aten::check_probabilities);
    module.def("check_margin_labels", &aten::check_margin_labels);
    module.def("check_margin_power", &aten::check_margin_power);
    module.def("check_class_values", &aten::check_class_values);
    module.def("check_class_count", &aten::check_class_count);
    module.def("check_ctc_lengths", &aten::check_ctc_lengths);
}

// (name, shape or None, value, whether it is a parameter, whether it is a count)
nb::list rows_of(const std::vector<aten::FilledTensor>& tensors) {
    nb::list rows;
    for (const aten::FilledTensor& each : tensors) {
        const nb::object shape = each.shape ? nb::object(tuple_from(*each.shape)) : nb::none();
        rows.append(nb::make_tuple(each.name, shape, each.value, each.is_learnt, each.is_count));
    }
    return rows;
}

void bind_norm_tensors(nb::module_& module) {
    module.def("norm_tensors", [](const ir::Shape& shape, TruthFlag weight, TruthFlag bias) {
        return rows_of(aten::norm_tensors(shape, weight, bias));
    });
    module.def("channel_norm_tensors",
               [](int64_t channels, TruthFlag weight, TruthFlag bias, TruthFlag tracks) {
                   return rows_of(aten::channel_norm_tensors(channels, weight, bias, tracks));
               });
    module.def("check_channel_groups", &aten::check_channel_groups);
    module.def("check_norm_rank", &aten::check_norm_rank);
}

}  // namespace

void bind_aten_networks(nb::module_& module) {
    bind_recurrent(module);
    bind_network_formulas(module);
    bind_value_checks(module);
    bind_norm_tensors(module);
}

}  // namespace composit::python
