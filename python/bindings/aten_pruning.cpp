// Masks of pruned weights: composit/aten/pruning.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/pruning.h"
#include "location.h"

namespace composit::python {

void bind_aten_pruning(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("prune_elements", &aten::prune_elements, located);
    module.def("prune_channels", &aten::prune_channels, located);
}

}  // namespace composit::python
