# Several sources of a layer are compiled as one, which takes less than half the time. The sources
# of this list stand alone: each gives a short name, in its unnamed namespace, to something that
# another source of its layer names so. A new source that meets such a neighbour does not compile
# ("redefinition of …"): give its function a name that says more, or add its line here.
option(COMPOSIT_TOGETHER "Compile several sources as one" ON)
set(COMPOSIT_SOURCES_TOGETHER 10)
set(COMPOSIT_SOURCES_ALONE
    composit/backends/c_family/kernel_printer_finish.cpp
    composit/backends/c_family/kernel_printer_indexing.cpp
    composit/backends/c_family/kernel_printer_scan.cpp
    composit/backends/c_family/procedure_selfcheck.cpp
    composit/backends/interpreter/body_loop.cpp
    composit/cg/call_with_pullback.cpp
    composit/cg/jacobians.cpp
    composit/cg/logspace.cpp
    composit/cg/promotion.cpp
    composit/foreign/solving.cpp
    composit/functional/ruled_call.cpp
    composit/ir/constant_array.cpp
    composit/ir/procedure/gather.cpp
    composit/ir/procedure/known_assertions.cpp
    composit/ir/procedure/loops_together.cpp
    composit/ir/scalar/complex_trigonometric.cpp
    composit/ir/scalar/expr.cpp
    composit/ir/scalar/library_trigonometric.cpp
    composit/ir/scalar/table_complex.cpp
    composit/ir/scalar/table_divisor.cpp
    composit/mosaic/program.cpp
    composit/mosaic/report.cpp
    composit/nn/class_losses.cpp
    composit/nn/composing.cpp
    composit/nn/ctc.cpp
    composit/numpy/correlation.cpp
    composit/numpy/elementwise.cpp
    composit/numpy/polynomials.cpp
    composit/numpy/random/legacy_distributions.cpp
    composit/numpy/writing.cpp
    composit/ops/solve.cpp
    composit/runtime/registry.cpp
    composit/runtime/warning.cpp
    composit/transforms/loop.cpp
    python/bindings/mosaic.cpp
    python/bindings/nn_losses.cpp
    python/bindings/nn_recurrent.cpp
    python/bindings/row_function.cpp
    python/bindings/torch_functions.cpp)

# composit_compile_together(<target>)
function(composit_compile_together target)
  if(NOT COMPOSIT_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON
                                             UNITY_BUILD_BATCH_SIZE ${COMPOSIT_SOURCES_TOGETHER})
  list(TRANSFORM COMPOSIT_SOURCES_ALONE PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE alone)
  set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
