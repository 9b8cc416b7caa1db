// Masks of attention in blocks: composit/aten/block_masks.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/block_masks.h"
#include "composit/aten/flex_attention.h"
#include "composit/base/error.h"
#include "flags.h"
#include "location.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

namespace composit::python {

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
    // `mask`: (shape, batches, whether it is for all lengths), or None.
    module.def(
        "check_flex_attention",
        [](const Shape& query, const Shape& key, const Shape& value, bool grouped,
           std::optional<std::tuple<Shape, int64_t, bool>> mask) {
            std::optional<aten::BlockMaskShape> shape;
            if (mask) shape = std::make_from_tuple<aten::BlockMaskShape>(*std::move(mask));
            try {
                aten::check_flex_attention(query, key, value, grouped, shape);
            } catch (const NotSupported& error) {  // PyTorch's class
                PyErr_SetString(PyExc_NotImplementedError, with_location(error.what()).c_str());
                throw nb::python_error();
            }
        },
        nb::arg("query"), nb::arg("key"), nb::arg("value"), nb::arg("grouped"),
        nb::arg("mask").none());
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
