// Binding functions of composit/nn/*.h.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_nn(nanobind::module_& module);  // all of it
void bind_nn_activations(nanobind::module_& module);
void bind_nn_attention(nanobind::module_& module);
void bind_nn_images(nanobind::module_& module);
void bind_nn_losses(nanobind::module_& module);
void bind_nn_recurrent(nanobind::module_& module);
void bind_nn_training(nanobind::module_& module);
void bind_nn_files(nanobind::module_& module);
void bind_nn_archives(nanobind::module_& module);
void bind_nn_quantization(nanobind::module_& module);
void bind_nn_checkpoints(nanobind::module_& module);

}  // namespace composit::python
