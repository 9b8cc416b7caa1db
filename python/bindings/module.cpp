// The extension composit._core.
#include "arguments.h"
#include "arrays.h"
#include "aten.h"
#include "bindings.h"
#include "composit/version.h"
#include "error_handling.h"
#include "gradient_checks.h"
#include "held.h"
#include "jax.h"
#include "knossos.h"
#include "mlir.h"
#include "modules.h"
#include "nn.h"
#include "numpy.h"
#include "onnx.h"
#include "optimizers.h"
#include "provided.h"
#include "random.h"
#include "reports.h"
#include "structures.h"
#include "torch_objects.h"
#include "trace_keys.h"
#include "user_functions.h"

#include <nanobind/nanobind.h>

#include <cstdlib>

namespace nb = nanobind;

NB_MODULE(_core, module) {
    using namespace composit::python;
    // Objects that a program holds when it ends are not its fault; tests ask for the count.
    nb::set_leak_warnings(std::getenv("COMPOSIT_REPORT_LEAKS") != nullptr);
    module.doc() = "libcomposit, bound one to one; use the package composit.";
    module.attr("__version__") = composit::version;
    bind_held(module);
    bind_provided(module);
    bind_errors(module);
    bind_printable(module);
    bind_arrays(module);
    bind_scalar(module);
    bind_kernel(module);
    bind_procedure(module);
    bind_node(module);
    bind_tensor(module);
    bind_elements(module);
    bind_operators(module);
    bind_scalars(module);
    bind_ops(module);
    bind_transforms(module);
    bind_pipeline(module);
    bind_execute(module);
    bind_run_options(module);
    bind_calls(module);
    bind_calls_at_once(module);
    nb::module_ structures = module.def_submodule(
        "structures", "Nested tuples, lists, dictionaries and dataclasses of tensors.");
    bind_structures(structures);
    bind_steps(module);
    bind_torch_objects(module);
    bind_torch_functions(module);
    bind_operand_rules(module);
    bind_dtype_table(module);
    bind_gradient_mode(module);
    bind_following(module);
    bind_tape(module);
    nb::module_ traces =
        module.def_submodule("traces", "Traces of composit.torch: keys, leaves, results.");
    bind_trace_keys(traces);
    bind_guards(traces);
    bind_trace_building(traces);
    bind_torch_calls(module);
    bind_torch_data(module);
    bind_torch_operations(module);
    bind_torch_devices(module);
    bind_tape_gradients(module);
    bind_user_functions(module);
    nb::module_ jacobians = module.def_submodule(
        "jacobians", "Derivatives of functions over tensors of composit.torch.");
    bind_torch_jacobians(jacobians);
    bind_torch_duals(jacobians);
    bind_gradient_checks(module);
    bind_sample_batches(module);
    bind_device_pieces(module);
    bind_drawn_test_tensors(module);
    bind_materializing(module);
    bind_writing(module);
    nb::module_ optimizers =
        module.def_submodule("optimizers", "Optimisers of composit.torch: groups, states, steps.");
    bind_optimizer_states(optimizers);
    bind_optimizer_steps(optimizers);
    bind_group_rates(optimizers);
    nb::module_ modules = module.def_submodule(
        "modules", "Modules of composit.torch: attributes, calls, states, hooks.");
    bind_module_attributes(modules);
    bind_module_calls(modules);
    bind_module_states(modules);
    bind_module_parametrizations(modules);
    bind_module_options(modules);
    bind_module_pruning(modules);
    bind_module_norms(modules);
    bind_backend(module);
    bind_devices(module);
    bind_dlpack(module);
    bind_foreign_calls(module);
    bind_ruled_call(module);
    bind_export(module);
    nb::module_ numpy = module.def_submodule("numpy", "composit/numpy/*.h");
    bind_numpy_elementwise(numpy);
    bind_folds(numpy);
    bind_numpy_creation(numpy);
    bind_numpy_asarray(numpy);
    bind_numpy_outputs(numpy);
    bind_numpy_overrides(numpy);
    bind_numpy_manipulation(numpy);
    bind_numpy_reductions(numpy);
    bind_numpy_linear(numpy);
    bind_numpy_indexing(numpy);
    bind_numpy_assembling(numpy);
    bind_numpy_index_arrays(numpy);
    bind_numpy_selecting(numpy);
    bind_numpy_sorting(numpy);
    bind_numpy_comparisons(numpy);
    bind_numpy_differences(numpy);
    bind_numpy_statistics(numpy);
    bind_numpy_sets(numpy);
    bind_numpy_polynomials(numpy);
    bind_numpy_special(numpy);
    bind_numpy_windows(numpy);
    bind_numpy_appearances(numpy);
    nb::module_ linalg = module.def_submodule("linalg", "composit/numpy/linalg.h");
    bind_numpy_linalg(linalg);
    nb::module_ fft = module.def_submodule("fft", "composit/numpy/fft.h");
    bind_numpy_fft(fft);
    nb::module_ polynomial =
        module.def_submodule("polynomial", "composit/numpy/polynomial_series.h");
    bind_numpy_polynomial_series(polynomial);
    nb::module_ numpy_random = module.def_submodule("numpy_random", "composit/numpy/random.h");
    bind_numpy_random(numpy_random);
    nb::module_ random = module.def_submodule("random", "composit/random/*.h");
    bind_random(random);
    nb::module_ nn = module.def_submodule("nn", "composit/nn/*.h");
    bind_nn(nn);
    nb::module_ aten = module.def_submodule("aten", "composit/aten/*.h");
    bind_aten(aten);
    nb::module_ mosaic = module.def_submodule("mosaic", "composit/mosaic/*.h");
    bind_mosaic(mosaic);
    nb::module_ cg = module.def_submodule("cg", "composit/cg/*.h");
    bind_cg(cg);
    nb::module_ onnx = module.def_submodule("onnx", "composit/onnx/*.h");
    bind_onnx(onnx);
    nb::module_ mlir = module.def_submodule("mlir", "composit/mlir/*.h");
    bind_mlir(mlir);
    nb::module_ reports = module.def_submodule("reports", "composit/reports/*.h");
    bind_model_reports(reports);
    nb::module_ jax = module.def_submodule("jax", "composit/jax/*.h");
    bind_jax(jax);
    nb::module_ knossos = module.def_submodule("knossos", "composit/knossos/*.h");
    of_kernels::bind_knossos(knossos);
    bind_knossos_given(knossos);
    bind_knossos_numbers(knossos);
    bind_error_handling(module);
    wrap_calls(module);
}
