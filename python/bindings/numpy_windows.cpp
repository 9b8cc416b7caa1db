// composit/numpy/windows.h and correlation.h.
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/correlation.h"
#include "composit/numpy/windows.h"
#include "location.h"
#include "numpy.h"
#include "shown.h"

namespace composit::python {
namespace {

// A mode by its name, or by the number that it had in NumPy.
std::string sliding_mode(const char* function, nb::handle mode) {
    if (nb::isinstance<nb::str>(mode)) return nb::cast<std::string>(mode);
    const bool is_index = PyIndex_Check(mode.ptr()) != 0;
    constexpr const char* names[] = {"valid", "same", "full"};
    if (is_index) {
        const int64_t number = integer_from(mode);
        if (number >= 0 && number < 3) return names[number];
        fail<ValueError>(function, ": mode is ", Shown{mode},
                         ". 'valid', 'same' or 'full' is required.");
    }
    fail<TypeError>(function, ": mode is ", Shown{mode},
                    ". 'valid', 'same' or 'full' is required.");
}

Tensor cross(const Tensor& a, const Tensor& b, int64_t axis_a, int64_t axis_b, int64_t axis_c) {
    Tensor result = numpy::cross(a, b, axis_a, axis_b, axis_c);
    const auto length = [](const Tensor& x, int64_t axis) {
        return x.shape()[static_cast<size_t>(numpy::normalize_axis("cross", axis, x.rank()))];
    };
    constexpr int level = 2;  // behind the function that the user called
    if ((length(a, axis_a) == 2 || length(b, axis_b) == 2) &&
        PyErr_WarnEx(PyExc_DeprecationWarning,
                     "cross: vectors of two elements are deprecated, as in NumPy 2.0. Give three.",
                     level) < 0)
        throw nb::python_error();
    return result;
}

}  // namespace

void bind_numpy_windows(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("bartlett", &numpy::bartlett, located);
    module.def("hanning", &numpy::hanning, located);
    module.def("hamming", &numpy::hamming, located);
    module.def("blackman", &numpy::blackman, located);
    module.def("kaiser", &numpy::kaiser, located);
    module.def("i0", &numpy::i0, located);
    const auto slid = [&](const char* name, auto function) {
        module.def(
            name,
            [=](const Tensor& a, const Tensor& v, nb::handle mode) {
                return function(a, v, sliding_mode(name, mode));
            },
            nb::arg("a"), nb::arg("v"), nb::arg("mode").none(), located);
    };
    slid("correlate", numpy::correlate);
    slid("convolve", numpy::convolve);
    module.def("cross", cross, located);
}

}  // namespace composit::python
