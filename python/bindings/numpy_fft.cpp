// composit/numpy/fft.h.
#include "casters.h"
#include "composit/numpy/fft.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

namespace fft = numpy::fft;

void bind_numpy_fft(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("fftfreq", &fft::fftfreq, located);
    module.def("rfftfreq", &fft::rfftfreq, located);
    module.def("fftshift", &fft::fftshift, located);
    module.def("ifftshift", &fft::ifftshift, located);
}

}  // namespace composit::python
