// composit/mlir/stablehlo.h, into module composit._core.mlir.
#include "mlir.h"

#include "casters.h"
#include "composit/mlir/stablehlo.h"

#include <nanobind/stl/pair.h>

namespace composit::python {
namespace {

using NamedTensorPairs = std::vector<std::pair<std::string, Tensor>>;

std::vector<mlir::NamedTensor> named_for_text(const NamedTensorPairs& tensors) {
    std::vector<mlir::NamedTensor> all;
    for (const auto& [name, tensor] : tensors) all.push_back({name, tensor});
    return all;
}

}  // namespace

void bind_mlir(nb::module_& module) {
    module.def(
        "stablehlo_text",
        [](const NamedTensorPairs& outputs, const NamedTensorPairs& inputs, const std::string& name,
           bool locations) {
            return mlir::stablehlo_text(
                named_for_text(outputs),
                {.inputs = named_for_text(inputs), .name = name, .locations = locations});
        },
        nb::arg("outputs"), nb::arg("inputs"), nb::arg("name"), nb::arg("locations"));
}

}  // namespace composit::python
