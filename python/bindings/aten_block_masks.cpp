// Masks of attention in blocks: composit/aten/block_masks.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/block_masks.h"
#include "composit/aten/flex_attention.h"
#include "composit/base/error.h"
#include "flags.h"
#include "location.h"
#include "shown.h"
#include "torch_objects.h"
#include "torch_values.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

namespace composit::python {
namespace {

void check_tensors(nb::handle query, nb::handle key, nb::handle value) {
    const auto check = [](const char* name, nb::handle given) {
        user_check(is_tensor_of_torch(given), "flex_attention: ", name, " is ", Shown{given},
                   ". A Tensor is required.");
    };
    check("query", query);
    check("key", key);
    check("value", value);
}

std::string text_of(nb::handle value) { return nb::str(value).c_str(); }
std::string device_of(nb::handle tensor) { return text_of(nb::object(tensor.attr("device"))); }

// A function over (scores, positions…), or over positions alone; None for no function.
aten::ScoreFunction function_of(nb::handle function, bool has_scores) {
    if (function.is_none()) return {};
    return [function = nb::borrow(function), has_scores](const aten::formulas::Value& scores,
                                                         const aten::Positions& positions) {
        nb::list given;
        if (has_scores) given.append(object_of(scores));
        for (const aten::formulas::Value& each : positions) given.append(object_of(each));
        return value_of(function(*given));
    };
}

// (result, logarithms of sums, largest scores)
nb::tuple flex_attention(nb::handle query, nb::handle key, nb::handle value, nb::handle score_mod,
                         nb::handle mask_mod, std::optional<double> scale, bool shows_lse,
                         bool shows_max_scores) {
    const aten::FlexAttention made = aten::flex_attention(
        value_of(nb::borrow(query)), value_of(nb::borrow(key)), value_of(nb::borrow(value)),
        {function_of(score_mod, true), function_of(mask_mod, false), scale, shows_lse,
         shows_max_scores});
    return nb::make_tuple(object_of(made.output), object_of(made.lse), object_of(made.max_scores));
}

}  // namespace

void bind_aten_block_masks(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "mask_blocks",
        [](const Tensor& mask, int64_t query_block, int64_t key_block, TruthFlag separate_full) {
            return aten::mask_blocks(mask, query_block, key_block, separate_full);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg("separate_full") = true, located);
    module.def("ordered_blocks", &aten::ordered_blocks, located);
    module.def("dense_blocks", &aten::dense_blocks, located);
    using Shape = ir::Shape;
    using Pair = std::pair<int64_t, int64_t>;
    // `mask`: (shape, batches, whether it is for all lengths, its device), or None.
    module.def(
        "check_flex_attention",
        [](nb::handle query, nb::handle key, nb::handle value, bool grouped,
           std::optional<std::tuple<Shape, int64_t, bool, nb::object>> mask) {
            check_tensors(query, key, value);
            std::optional<aten::BlockMaskShape> shape;
            if (mask) shape = {std::get<0>(*mask), std::get<1>(*mask), std::get<2>(*mask)};
            aten::check_flex_devices(
                {device_of(query), device_of(key), device_of(value)},
                mask ? std::optional(text_of(std::get<3>(*mask))) : std::nullopt);
            try {
                aten::check_flex_attention(type_seen(query).shape, type_seen(key).shape,
                                           type_seen(value).shape, grouped, shape);
            } catch (const NotSupported& error) {  // PyTorch's class
                PyErr_SetString(PyExc_NotImplementedError, with_location(error.what()).c_str());
                throw nb::python_error();
            }
        },
        nb::arg("query"), nb::arg("key"), nb::arg("value"), nb::arg("grouped"),
        nb::arg("mask").none());
    module.def(
        "check_flex_devices",
        [](const std::string& query, const std::string& key, const std::string& value,
           const std::optional<std::string>& mask) {
            aten::check_flex_devices({query, key, value}, mask);
        },
        nb::arg("query"), nb::arg("key"), nb::arg("value"), nb::arg("mask").none());
    module.def(
        "check_block_parts",
        [](std::optional<int64_t> rank, bool has_counts, bool full_counts, bool full_indices,
           bool full_counts_by_columns, bool full_indices_by_columns) {
            aten::check_block_parts({rank, has_counts, full_counts, full_indices,
                                     full_counts_by_columns, full_indices_by_columns});
        },
        nb::arg("rank").none(), nb::arg("has_counts"), nb::arg("has_full_counts"),
        nb::arg("has_full_indices"), nb::arg("has_full_counts_by_columns") = false,
        nb::arg("has_full_indices_by_columns") = false);
    module.def("flex_attention", flex_attention, nb::arg("query"), nb::arg("key"), nb::arg("value"),
               nb::arg("score_mod").none(), nb::arg("mask_mod").none(), nb::arg("scale").none(),
               nb::arg("shows_lse"), nb::arg("shows_max_scores"));
    module.def("check_flex_options", &aten::check_flex_options, nb::arg("backend").none(),
               nb::arg("forces_flex"));
    module.def(
        "masked_lengths",
        [](const Shape& indices, Pair block, std::optional<Pair> given) {
            return aten::masked_lengths(indices, block, given);
        },
        nb::arg("indices"), nb::arg("block"), nb::arg("given").none());
    module.def("sparsity", &aten::sparsity, nb::arg("blocks"), nb::arg("block"), nb::arg("shape"));
    module.def("block_picture", &aten::block_picture, nb::arg("dense"), nb::arg("most_parts"),
               nb::arg("most_pictures"));
}

}  // namespace composit::python
