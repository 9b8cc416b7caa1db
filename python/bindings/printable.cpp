// composit/base/printable.h.
#include "composit/base/printable.h"

#include "bindings.h"

namespace composit::python {

namespace nb = nanobind;

void bind_printable(nb::module_& module) {
    module.def("printable", printable,
               "The text on one line, spaces for characters that are no part of what is read.");
    module.def("in_markup", in_markup, "The same, escaped for SVG and HTML.");
}

}  // namespace composit::python
