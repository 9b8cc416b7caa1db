// Binding functions of composit/aten/*.h.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_aten(nanobind::module_& module);  // all of it
void bind_aten_arguments(nanobind::module_& module);
void bind_aten_block_masks(nanobind::module_& module);
void bind_aten_comparing(nanobind::module_& module);
void bind_aten_distributions(nanobind::module_& module);
void bind_aten_images(nanobind::module_& module);
void bind_aten_ldl(nanobind::module_& module);
void bind_aten_losses(nanobind::module_& module);
void bind_aten_masked(nanobind::module_& module);
void bind_aten_multi_head(nanobind::module_& module);
void bind_aten_networks(nanobind::module_& module);
void bind_aten_optimizers(nanobind::module_& module);
void bind_aten_orthogonal(nanobind::module_& module);
void bind_aten_places(nanobind::module_& module);
void bind_aten_pruning(nanobind::module_& module);
void bind_aten_reductions(nanobind::module_& module);
void bind_aten_schedulers(nanobind::module_& module);
void bind_aten_shapes(nanobind::module_& module);
void bind_aten_special(nanobind::module_& module);
void bind_aten_windows(nanobind::module_& module);

}  // namespace composit::python
