// composit/aten, into module composit._core.aten.
#include "aten.h"

namespace composit::python {

void bind_aten(nanobind::module_& module) {
    bind_aten_arguments(module);
    bind_aten_block_masks(module);
    bind_aten_comparing(module);
    bind_aten_distributions(module);
    bind_aten_images(module);
    bind_aten_ldl(module);
    bind_aten_losses(module);
    bind_aten_masked(module);
    bind_aten_multi_head(module);
    bind_aten_networks(module);
    bind_aten_optimizers(module);
    bind_aten_orthogonal(module);
    bind_aten_places(module);
    bind_aten_pruning(module);
    bind_aten_reductions(module);
    bind_aten_schedulers(module);
    bind_aten_shapes(module);
    bind_aten_special(module);
    bind_aten_windows(module);
}

}  // namespace composit::python
