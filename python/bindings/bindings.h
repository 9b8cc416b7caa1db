// One binding function per header of composit; module.cpp calls them in this order.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_errors(nanobind::module_& module);       // base/error.h
void bind_printable(nanobind::module_& module);    // base/printable.h
void bind_node(nanobind::module_& module);         // ir/node.h, ir/operation.h, ir/attribute.h
void bind_tensor(nanobind::module_& module);       // cell.h: class LazyTensor
void bind_elements(nanobind::module_& module);     // its elements, and iteration
void bind_operators(nanobind::module_& module);    // its operators
void bind_scalars(nanobind::module_& module);      // of no dimension: LazyScalar
void bind_scalar(nanobind::module_& module);       // ir/scalar/*.h
void bind_kernel(nanobind::module_& module);       // ir/kernel/kernel.h
void bind_procedure(nanobind::module_& module);    // ir/procedure/procedure.h
void bind_statement(nanobind::module_& module);    // Statement, of the same
void bind_ops(nanobind::module_& module);          // ops/ops.h
void bind_transforms(nanobind::module_& module);   // transforms/transforms.h
void bind_execute(nanobind::module_& module);      // execute/execute.h
void bind_placement(nanobind::module_& module);    // called by it: execute/placement.h, timeline.h
void bind_run_options(nanobind::module_& module);  // functional/given_values.h, options
void bind_calls(nanobind::module_& module);        // execute/execute.h: quick calls of Compiled
void bind_calls_at_once(nanobind::module_& module);  // eager/function_at_once.h
void bind_steps(nanobind::module_& module);          // composit.torch: steps by structure
void bind_following(nanobind::module_& module);      // following.h
void bind_backend(nanobind::module_& module);        // runtime/backend.h
void bind_devices(nanobind::module_& module);        // runtime/device.h
void bind_dlpack(nanobind::module_& module);         // DLPack, for values on devices
void bind_pipeline(nanobind::module_& module);       // transforms/pipeline.h, target/target.h
void bind_foreign_calls(nanobind::module_& module);  // runtime/foreign.h
void bind_ruled_call(nanobind::module_& module);     // functional/ruled_call.h
void bind_mosaic(nanobind::module_& module);         // mosaic/*.h
void bind_cg(nanobind::module_& module);             // cg/*.h
void bind_export(nanobind::module_& module);         // exporters/cpp_project/export.h

}  // namespace composit::python
