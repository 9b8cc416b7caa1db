// What shows a tensor's elements otherwise and writes through to it: parts of complex numbers, and
// bits as another dtype.
#include "casters.h"
#include "composit/numpy/bits.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/elementwise.h"
#include "content.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {
namespace {

nb::object real_of(const LazyTensor& x) {
    return wrap_appearance({[](const Tensor& z) { return numpy::real(z); },
                            [](const Tensor& z, const Tensor& re) {
                                return numpy::apply("as_complex", {re, numpy::imag(z)});
                            }},
                           x);
}

nb::object imag_of(const LazyTensor& x) {
    return wrap_appearance({[](const Tensor& z) { return numpy::imag(z); },
                            [](const Tensor& z, const Tensor& im) {
                                return numpy::apply("as_complex", {numpy::real(z), im});
                            }},
                           x);
}

}  // namespace

Appearance bits_as(ir::DType dtype) {
    return {[dtype](const Tensor& seen) { return numpy::view(seen, dtype); },
            [](const Tensor& source, const Tensor& written) {
                return numpy::view(written, source.dtype());
            }};
}

void bind_numpy_appearances(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("real_of", real_of, located, "The real parts of a complex tensor, which it shares.");
    module.def("imag_of", imag_of, located, "The imaginary parts, which it shares.");
    module.def(
        "bits_of",
        [](const LazyTensor& x, ir::DType dtype) { return wrap_appearance(bits_as(dtype), x); },
        located, "The bits of a tensor as another dtype, shared.");
}

}  // namespace composit::python
