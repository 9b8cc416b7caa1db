// composit/mlir/stablehlo.h and loaded_module.h, into module composit._core.mlir.
#include "mlir.h"

#include "casters.h"
#include "composit/mlir/loaded_module.h"
#include "composit/mlir/stablehlo.h"
#include "interpreter_lock.h"
#include "location.h"
#include "shown.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

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

// (name, dtype's name, shape with None for lengths that calls decide) of each.
nb::list infos_of_program(const std::vector<LoadedModule::Value>& values) {
    nb::list all;
    for (const LoadedModule::Value& value : values) {
        nb::list lengths;
        for (const int64_t length : value.type.shape)
            lengths.append(length < 0 ? nb::none() : nb::object(nb::int_(length)));
        all.append(nb::make_tuple(value.name, std::string(ir::name(value.type.dtype)),
                                  nb::tuple(lengths)));
    }
    return all;
}

// The inputs in order, of those that are given in order and by name to what users call `called`.
std::vector<Tensor> arguments_of_program(const LoadedModule& made, const std::string& function,
                                         const std::string& called, const nb::tuple& args,
                                         const nb::dict& named) {
    std::vector<std::string> names;
    for (const LoadedModule::Value& input : made.function(function).inputs)
        names.push_back(input.name);
    const std::string required =
        text(" ", names.size(), " inputs are required: ", join(names), ".");
    user_check<TypeError>(nb::len(args) <= names.size(), "mlir: ", called, " is called with ",
                          nb::len(args), " inputs.", required);
    for (const auto& [key, value] : named) {
        const auto place = static_cast<size_t>(
            std::find(names.begin(), names.end(), nb::cast<std::string>(key)) - names.begin());
        if (place >= nb::len(args) && place < names.size()) continue;
        fail<TypeError>("mlir: ", Shown{key},
                        place < names.size() ? " is given twice" : " is no input", " of ", called,
                        ".", required);
    }
    std::vector<Tensor> given;
    for (size_t i = 0; i < names.size(); ++i) {
        const bool is_given = i < nb::len(args) || named.contains(names[i].c_str());
        user_check<TypeError>(is_given, "mlir: input '", names[i], "' of ", called, " is missing.",
                              required);
        const nb::object value =
            i < nb::len(args) ? nb::object(args[i]) : nb::object(named[names[i].c_str()]);
        user_check<TypeError>(is_operand(value), "mlir: input '", names[i], "' of ", called, " is ",
                              Shown{value}, ". A tensor, an array or a number is required.");
        given.push_back(tensor_from(value));
    }
    return given;
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
                return infos_of_program(made.function(function).inputs);
            },
            nb::arg("function"))
        .def(
            "outputs",
            [](const LoadedModule& made, const std::string& function) {
                return infos_of_program(made.function(function).outputs);
            },
            nb::arg("function"))
        .def(
            "call",
            [](const LoadedModule& made, const std::string& function,
               const std::vector<Tensor>& inputs) { return made.call(function, inputs); },
            nb::arg("function"), nb::arg("inputs"), located)
        .def("arguments", &arguments_of_program, nb::arg("function"), nb::arg("called"),
             nb::arg("args"), nb::arg("named"))
        .def("placeholders", &LoadedModule::placeholders, nb::arg("function"), nb::arg("called"));
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
