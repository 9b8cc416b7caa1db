// composit/execute/placement.h and timeline.h: where kernels run, and when they did.
#include "composit/execute/placement.h"

#include "bindings.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/base/whole_file.h"
#include "composit/execute/timeline.h"
#include "content.h"
#include "location.h"
#include "shown.h"

namespace composit::python {
namespace {

using execute::Placement;
using execute::Timeline;
using execute::TimelineStep;

std::string path_of(nb::handle path) {
    const nb::object text = nb::steal(PyOS_FSPath(path.ptr()));
    if (!text.is_valid()) throw nb::python_error();
    user_check<TypeError>(PyUnicode_Check(text.ptr()), "path ", Shown{path},
                          ". A file's path as text is required.");
    return nb::cast<std::string>(text);
}

// The name by which programs know a tensor.
std::string name_of(nb::handle key) {
    if (PyUnicode_Check(key.ptr())) return nb::cast<std::string>(key);
    user_check<TypeError>(nb::isinstance<LazyTensor>(key), "Placement: ", Shown{key},
                          " is neither a name nor a tensor. One is required.");
    const std::string name = tensor_from(key).name();
    user_check(!name.empty(),
               "Placement: a tensor without a name. Name it, as by "
               "asarray(values, name=\"weights\"), or move it by x.to(device).");
    return name;
}

Placement placement_from(nb::handle rules) {
    if (nb::isinstance<Placement>(rules)) return nb::cast<Placement>(rules);
    Placement placement;
    if (rules.is_none()) return placement;
    user_check<TypeError>(PyMapping_Check(rules.ptr()) && nb::hasattr(rules, "items"),
                          "Placement: ", Shown{rules},
                          ". Devices by name or tensor, in a mapping, are required.");
    for (nb::handle item : rules.attr("items")()) {
        const nb::object device = nb::borrow(item[1]);
        user_check<TypeError>(PyUnicode_Check(device.ptr()), "Placement: ", Shown{device},
                              " is no device's name, which is required.");
        placement.put(name_of(nb::object(item[0])), nb::cast<std::string>(device));
    }
    return placement;
}

}  // namespace

void bind_placement(nb::module_& module) {
    const nb::call_guard<Located> located;
    nb::class_<Placement>(module, "Placement",
                          "Devices of kernels, by the names of kernels, constants, tensors, parts "
                          "of a model or source lines. The last rule that fits decides.")
        .def(
            "__init__",
            [](Placement* self, nb::handle rules) { new (self) Placement(placement_from(rules)); },
            nb::arg("rules").none() = nb::none(), located)
        .def(
            "put",
            [](Placement& self, nb::handle name, const std::string& device) {
                self.put(name_of(name), device);
            },
            nb::arg("name"), nb::arg("device"), located, "One more rule.")
        .def_prop_ro(
            "rules",
            [](const Placement& self) {
                nb::list rules;
                for (const Placement::Rule& rule : self.rules())
                    rules.append(nb::make_tuple(rule.name, rule.device));
                return rules;
            },
            "(name, device) of each rule, in order.")
        .def_static(
            "parse", [](const std::string& text) { return Placement::parse(text); },
            nb::arg("text"), located,
            "What str wrote: \"layer.0: opencl:0\", a line for each rule.")
        .def(
            "save", [](const Placement& self, nb::handle path) { self.save(path_of(path)); },
            nb::arg("path"), located, "Writes what str gives, whole or not at all.")
        .def_static(
            "load", [](nb::handle path) { return Placement::load(path_of(path)); }, nb::arg("path"),
            located, "What save wrote. ValueError with the path and the line.")
        .def(
            "diff",
            [](const Placement& self, const Placement& other) {
                return Placement::diff(self, other);
            },
            nb::arg("other"),
            "\"- layer: cpu\" and \"+ layer: cuda:0\" for what other has otherwise.")
        .def("__str__", &Placement::print)
        .def("__repr__",
             [](const Placement& self) {
                 return text("<Placement of ", self.rules().size(), " rules>");
             })
        .def("__eq__",
             [](const Placement& self, nb::handle other) {
                 return nb::isinstance<Placement>(other) &&
                        self.print() == nb::cast<const Placement&>(other).print();
             })
        .def("__bool__", [](const Placement& self) { return !self.empty(); })
        .def("__getstate__", &Placement::print)
        .def("__setstate__", [](Placement& self, const std::string& text) {
            new (&self) Placement(Placement::parse(text));
        });
    nb::class_<TimelineStep>(module, "TimelineStep", "Work of a device, or a copy to it.")
        .def_ro("device", &TimelineStep::device)
        .def_ro("what", &TimelineStep::what)
        .def_ro("bytes", &TimelineStep::bytes, "Of a copy; 0: work.")
        .def_ro("begin", &TimelineStep::begin, "Seconds since the call began.")
        .def_ro("end", &TimelineStep::end)
        .def("__repr__", [](const TimelineStep& self) {
            return text("<TimelineStep(", self.device, ": ", self.what, ")>");
        });
    nb::class_<Timeline>(module, "Timeline",
                         "What a program on several devices did where and when; str is a table.")
        .def_ro("steps", &Timeline::steps, "By their beginning.")
        .def_prop_ro("devices", &Timeline::devices)
        .def_prop_ro("seconds", &Timeline::seconds, "Until the last step ended.")
        .def("busy_seconds", &Timeline::busy_seconds, nb::arg("device"))
        .def_prop_ro("picture", &Timeline::picture, "SVG: a row for each device, copies darker.")
        .def_prop_ro("trace", &Timeline::trace, "JSON in Chrome's trace format.")
        .def(
            "save",
            [](const Timeline& self, nb::handle path) {
                write_whole_file("Timeline.save", path_of(path), self.trace());
            },
            nb::arg("path"), located, "Writes the trace, whole or not at all.")
        .def("_repr_svg_", &Timeline::picture)
        .def("__str__", &Timeline::print)
        .def("__repr__", [](const Timeline& self) {
            return text("<Timeline of ", self.steps.size(), " steps>");
        });
}

}  // namespace composit::python
