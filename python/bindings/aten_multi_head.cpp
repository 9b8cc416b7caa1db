// Attention by heads: composit/aten/multi_head.h over tensors of composit.torch.
#include "aten.h"
#include "casters.h"
#include "composit/aten/multi_head.h"
#include "flags.h"
#include "torch_values.h"

#include <string>

namespace composit::python {
namespace {

using aten::HeadAttention;
using aten::HeadOptions;
using aten::HeadWeights;

nb::tuple pair_of(const HeadAttention& made) {
    return nb::make_tuple(object_of(made.output), object_of(made.weights));
}

// In the order of torch.nn.functional.multi_head_attention_forward.
nb::tuple forward_of_function(nb::args given) {
    const auto maybe = [&](size_t i) { return maybe_value_of(given[i]); };
    HeadWeights weights;
    if (truth_of(given[17]))
        weights.in_weights = {maybe(18), maybe(19), maybe(20)};
    else
        weights.in_weight = maybe(5);
    weights.in_bias = maybe(6);
    weights.added_key = maybe(7);
    weights.added_value = maybe(8);
    weights.out_weight = maybe(11);
    weights.out_bias = maybe(12);
    HeadOptions options;
    options.heads = integer_from(given[4]);
    options.adds_zero_key = truth_of(given[9]);
    options.dropout = number_from(given[10]);
    options.is_training = truth_of(given[13]);
    options.key_padding = maybe(14);
    options.shows_weights = truth_of(given[15]);
    options.mask = maybe(16);
    options.key = maybe(21);
    options.value = maybe(22);
    options.averages_weights = truth_of(given[23]);
    options.is_causal = truth_of(given[24]);
    return pair_of(aten::multi_head_attention(
        value_of(nb::borrow(given[0])), value_of(nb::borrow(given[1])),
        value_of(nb::borrow(given[2])), weights, options, integer_from(given[3])));
}

// Of a module's attributes, in the order of MultiheadAttention.forward.
nb::tuple forward_of_module(nb::handle module, nb::handle query, nb::handle key, nb::handle value,
                            nb::handle key_padding, nb::handle shows_weights, nb::handle mask,
                            nb::handle averages_weights, nb::handle is_causal) {
    const auto of = [&](const char* name) {
        nb::object found = nb::steal(PyObject_GetAttr(module.ptr(), name_of_literal(name)));
        if (!found.is_valid()) throw nb::python_error();
        return found;
    };
    const auto maybe = [&](const char* name) { return maybe_value_of(of(name)); };
    HeadWeights weights;
    if (truth_of(of("_qkv_same_embed_dim")))
        weights.in_weight = maybe("in_proj_weight");
    else
        weights.in_weights = {maybe("q_proj_weight"), maybe("k_proj_weight"),
                              maybe("v_proj_weight")};
    weights.in_bias = maybe("in_proj_bias");
    weights.added_key = maybe("bias_k");
    weights.added_value = maybe("bias_v");
    const nb::object out = of("out_proj");
    weights.out = [&](const aten::formulas::Value& joined) {
        return value_of(out(object_of(joined)));
    };
    HeadOptions options;
    options.heads = integer_from(of("num_heads"));
    options.batch_first = truth_of(of("batch_first"));
    options.adds_zero_key = truth_of(of("add_zero_attn"));
    options.dropout = number_from(of("dropout"));
    options.is_training = truth_of(of("training"));
    options.key_padding = maybe_value_of(key_padding);
    options.mask = maybe_value_of(mask);
    options.is_causal = truth_of(is_causal);
    options.shows_weights = truth_of(shows_weights);
    options.averages_weights = truth_of(averages_weights);
    return pair_of(aten::attention_of_heads(value_of(nb::borrow(query)), value_of(nb::borrow(key)),
                                            value_of(nb::borrow(value)), weights, options));
}

}  // namespace

void bind_aten_multi_head(nb::module_& module) {
    module.def("multi_head_attention", forward_of_function);
    module.def("attention_of_heads", forward_of_module, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg().none(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
}

}  // namespace composit::python
