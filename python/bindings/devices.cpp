// runtime/device.h, and the device of a tensor.
#include "composit/execute/devices.h"

#include "bindings.h"
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/cell.h"
#include "composit/mosaic/list_devices.h"
#include "composit/runtime/backend.h"
#include "composit/runtime/device.h"
#include "content.h"
#include "interpreter_lock.h"
#include "location.h"
#include "node.h"
#include "values.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace composit::python {
namespace {

// "cuda" is "cuda:0"; "cpu" is not opened.
std::string full_name(const std::string& name) {
    return name == "cpu" || name == "cpu:0" ? "cpu" : runtime::device(name)->name();
}

nb::dict described(const std::string& name) {
    const auto device = runtime::device(name);
    const runtime::MemoryFigures figures = runtime::memory_figures(device->name());
    nb::dict result;
    result["name"] = device->name();
    result["description"] = device->description();
    result["memory_bytes"] = device->memory_bytes();
    result["free_bytes"] = device->free_bytes();
    result["held_bytes"] = figures.held;
    result["most_held_bytes"] = figures.most_held;
    result["kept_bytes"] = figures.kept;
    return result;
}

// All that can be asked for: those of families that are opened for it, and those registered.
nb::tuple all_devices() {
    nb::list names;
    nb::dict missing;
    for (const std::string& family : runtime::backend_families()) {
        const std::string why = runtime::why_no_more(family);
        if (!why.empty()) missing[family.c_str()] = why;
    }
    for (const std::string& name : runtime::device_names()) names.append(name);
    return nb::make_tuple(names, missing);
}

}  // namespace

void bind_devices(nb::module_& module) {
    nb::module_ inner = module.def_submodule("devices", "Places with memory of their own.");
    inner.def("full_name", full_name, nb::call_guard<Located>());
    inner.def("describe", described, nb::call_guard<Located>());
    inner.def("all", all_devices);
    inner.def(
        "table",
        [](bool measure) {
            const Released released;
            return mosaic::list_devices(measure);
        },
        nb::arg("measure"), nb::call_guard<Located>());
    inner.def(
        "synchronise",
        [](const std::string& name) {
            const auto device = runtime::device(name);
            const Released released;
            device->synchronise();
        },
        nb::call_guard<Located>());
    nb::class_<runtime::Event>(inner, "Event", "A point in a device's queue of work.")
        .def_prop_ro("is_done", &runtime::Event::is_done, nb::call_guard<Located>())
        .def(
            "wait",
            [](const runtime::Event& self) {
                const Released released;
                self.wait();
            },
            nb::call_guard<Located>())
        .def("seconds_since", &runtime::Event::seconds_since, nb::arg("earlier"),
             nb::call_guard<Located>(), "On the device's clock; both are done.");
    inner.def(
        "record", [](const std::string& name) { return runtime::device(name)->record(); },
        nb::call_guard<Located>(), "An event behind all work that was asked for.");
    inner.def("give_back_kept_memory", &runtime::give_back_kept_memory, nb::call_guard<Located>());
    inner.def("forget_most_held", &runtime::forget_most_held, nb::call_guard<Located>());
    inner.def(
        "transfer",
        [](const ir::Tensor& x, const std::string& device) {
            const std::string name = full_name(device);
            ir::Tensor made;
            {
                const Released released;
                made = execute::moved_to(x, name);
            }
            return wrap_array(made);
        },
        nb::call_guard<Located>(), "The same values on that device; a node of the graph.");
    inner.def(
        "placed",
        [](const ir::Tensor& x, const std::string& device) {
            ir::Tensor made;
            {
                const Released released;
                made = execute::placed_on(x, device);
            }
            return wrap_array(made);
        },
        nb::call_guard<Located>(), "A tensor that was just made, on that device.");
    inner.def(
        "copied",
        [](const ir::Tensor& x, const std::string& device) {
            ir::Array value;
            {
                const Released released;
                value = eager::look({x}, {})[0];
            }
            return wrap_array(execute::constant_on(value, ir::device_number(device)));
        },
        nb::call_guard<Located>(), "Its values, which are computed now, as a leaf on that device.");
    inner.def(
        "beside",
        [](nb::handle value, const ir::Tensor& target) {
            const auto& x = content_of<LazyTensor>(value).tensor();
            const ir::Tensor made = execute::beside(x, target);
            return made == x ? nb::borrow(value) : wrap_array(made);
        },
        nb::call_guard<Located>(), "What becomes part of a tensor on a device, moved there.");
    inner.def(
        "device_of", [](const LazyTensor& x) { return ir::device_name(x.cell()->device()); },
        "Where its values lie: \"cpu\", \"cuda:0\", ….");
}

}  // namespace composit::python
