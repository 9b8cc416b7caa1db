// composit/numpy/fft.h.
#include "casters.h"
#include "composit/numpy/fft.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

namespace fft = numpy::fft;

namespace {

using AlongAxis = Tensor (*)(const Tensor&, fft::Length, int64_t, fft::Norm);
using OverAxes = Tensor (*)(const Tensor&, const fft::Lengths&, const fft::Lengths&, fft::Norm);

void bind(nb::module_& module, const char* name, AlongAxis function) {
    module.def(
        name,
        [function](const Tensor& x, fft::Length n, int64_t axis, const std::string& norm) {
            return function(x, n, axis, fft::norm_named(norm));
        },
        nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::call_guard<Located>());
}

void bind(nb::module_& module, const char* name, OverAxes function) {
    module.def(
        name,
        [function](const Tensor& x, const fft::Lengths& s, const fft::Lengths& axes,
                   const std::string& norm) { return function(x, s, axes, fft::norm_named(norm)); },
        nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::call_guard<Located>());
}

}  // namespace

void bind_numpy_fft(nb::module_& module) {
    const nb::call_guard<Located> located;
    bind(module, "fft", &fft::fft);
    bind(module, "ifft", &fft::ifft);
    bind(module, "rfft", &fft::rfft);
    bind(module, "irfft", &fft::irfft);
    bind(module, "hfft", &fft::hfft);
    bind(module, "ihfft", &fft::ihfft);
    bind(module, "fftn", &fft::fftn);
    bind(module, "ifftn", &fft::ifftn);
    bind(module, "rfftn", &fft::rfftn);
    bind(module, "irfftn", &fft::irfftn);
    bind(module, "fft2", &fft::fft2);
    bind(module, "ifft2", &fft::ifft2);
    bind(module, "rfft2", &fft::rfft2);
    bind(module, "irfft2", &fft::irfft2);
    module.def("fftfreq", &fft::fftfreq, located);
    module.def("rfftfreq", &fft::rfftfreq, located);
    module.def("fftshift", &fft::fftshift, located);
    module.def("ifftshift", &fft::ifftshift, located);
}

}  // namespace composit::python
