// composit/numpy/windows.h and correlation.h.
#include "casters.h"
#include "composit/numpy/correlation.h"
#include "composit/numpy/windows.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

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
            [function](const Tensor& a, const Tensor& v, const std::string& mode) {
                return function(a, v, mode);
            },
            located);
    };
    slid("correlate", numpy::correlate);
    slid("convolve", numpy::convolve);
    module.def("cross", &numpy::cross, located);
}

}  // namespace composit::python
