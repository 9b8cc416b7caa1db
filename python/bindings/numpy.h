// Binding functions of composit/numpy/*.h, into module composit._core.numpy.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_numpy_elementwise(nanobind::module_& module);
void bind_row_function(nanobind::module_& module);  // called by it: its functions, called quickly
void bind_folds(nanobind::module_& module);         // composit/functional/folds.h
void bind_numpy_creation(nanobind::module_& module);
void bind_numpy_asarray(nanobind::module_& module);
void bind_numpy_outputs(nanobind::module_& module);
void bind_numpy_overrides(nanobind::module_& module);
void bind_numpy_manipulation(nanobind::module_& module);
void bind_numpy_reductions(nanobind::module_& module);
void bind_numpy_linear(nanobind::module_& module);
void bind_numpy_indexing(nanobind::module_& module);
void bind_numpy_assembling(nanobind::module_& module);
void bind_numpy_index_arrays(nanobind::module_& module);
void bind_numpy_selecting(nanobind::module_& module);
void bind_numpy_sorting(nanobind::module_& module);
void bind_numpy_comparisons(nanobind::module_& module);
void bind_numpy_differences(nanobind::module_& module);
void bind_numpy_statistics(nanobind::module_& module);
void bind_numpy_sets(nanobind::module_& module);
void bind_numpy_polynomials(nanobind::module_& module);
void bind_numpy_special(nanobind::module_& module);
void bind_numpy_windows(nanobind::module_& module);
void bind_numpy_appearances(nanobind::module_& module);
// Into modules of their own, composit._core.linalg, fft, polynomial and numpy_random.
void bind_numpy_linalg(nanobind::module_& module);
void bind_numpy_polynomial_series(nanobind::module_& module);
void bind_numpy_random(nanobind::module_& module);
void bind_numpy_random_values(nanobind::module_& module);  // called by it
void bind_numpy_fft(nanobind::module_& module);

}  // namespace composit::python
