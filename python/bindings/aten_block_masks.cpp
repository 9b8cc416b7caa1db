// Masks of attention in blocks: composit/aten/block_masks.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/block_masks.h"
#include "flags.h"
#include "location.h"

#include <nanobind/stl/pair.h>

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
}

}  // namespace composit::python
