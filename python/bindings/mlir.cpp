// composit/mlir/stablehlo.h and loaded_module.h, into module composit._core.mlir.
#include "mlir.h"

#include "casters.h"
#include "composit/mlir/loaded_module.h"
#include "composit/mlir/stablehlo.h"
#include "interpreter_lock.h"
#include "location.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

namespace composit::python {
namespace {

using NamedTensorPairs = std::vector<std::pair<std::string, Tensor>>;

std::vector<mlir::NamedTensor> named_for_text(const NamedTensorPairs& tensors) {
    std::vector<mlir::NamedTensor> all;
    for (const auto& [name, tensor] : tensors) all.push_back({name, tensor});
    return all;
}

using mlir::LoadedModule;

// Operations of programs warn of nothing: nodes carry the user's line and no errstate.
struct LocatedProgram {
    ir::LocationScope scope{user_location(), nullptr};
};

using ValueTuple = std::tuple<std::string, ir::DType, std::vector<int64_t>>;

std::vector<ValueTuple> tuples_of(const std::vector<LoadedModule::Value>& values) {
    std::vector<ValueTuple> all;
    for (const LoadedModule::Value& value : values)
        all.emplace_back(value.name, value.type.dtype, value.type.shape);
    return all;
}

}  // namespace

void bind_mlir(nb::module_& module) {
    const nb::call_guard<LocatedProgram> located;
    nb::class_<LoadedModule>(module, "LoadedModule")
        .def_prop_ro("name", &LoadedModule::name)
        .def_prop_ro("main", [](const LoadedModule& made) { return made.main().name; })
        .def_prop_ro("has_main", &LoadedModule::has_main)
        .def_prop_ro("functions",
                     [](const LoadedModule& made) {
                         std::vector<std::string> names;
                         for (const auto& each : made.functions()) names.push_back(each.name);
                         return names;
                     })
        .def_prop_ro("operations", &LoadedModule::operations)
        .def_prop_ro("constant_numbers", &LoadedModule::constant_numbers)
        .def(
            "inputs",
            [](const LoadedModule& made, const std::string& function) {
                return tuples_of(made.function(function).inputs);
            },
            nb::arg("function"))
        .def(
            "outputs",
            [](const LoadedModule& made, const std::string& function) {
                return tuples_of(made.function(function).outputs);
            },
            nb::arg("function"))
        .def(
            "call",
            [](const LoadedModule& made, const std::string& function,
               const std::vector<Tensor>& inputs) { return made.call(function, inputs); },
            nb::arg("function"), nb::arg("inputs"), located);
    module.def(
        "load",
        [](const std::string& path) {
            const Released released;
            return mlir::load(path);
        },
        nb::arg("path"), located);
    module.def(
        "load_text",
        [](std::string text) {
            const Released released;
            return mlir::load_text(std::move(text));
        },
        nb::arg("text"), located);
    module.def("operations", &mlir::operations);
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
