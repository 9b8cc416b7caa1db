// What shows a tensor's elements otherwise and writes through to it: parts of complex numbers, and
// bits as another dtype.
#include "casters.h"
#include "composit/numpy/bits.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
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
    module.def(
        "diagonal_of",
        [](const LazyTensor& x, int64_t offset, int64_t axis1, int64_t axis2) {
            return wrap_selection(
                [=](const Tensor& seen) { return numpy::diagonal(seen, offset, axis1, axis2); }, x,
                true);
        },
        located, "A diagonal, which it shares and nobody writes.");
    module.def(
        "windows_of",
        [](const LazyTensor& x, const std::vector<int64_t>& lengths, const numpy::Axis& axes,
           bool is_writeable) {
            return wrap_selection(
                [=](const Tensor& seen) { return numpy::sliding_window_view(seen, lengths, axes); },
                x, !is_writeable);
        },
        nb::arg("x"), nb::arg("lengths"), nb::arg("axes").none(), nb::arg("is_writeable"), located,
        "Sliding windows, which it shares.");
    module.def(
        "einsum_of",
        [](const std::string& subscripts, const LazyTensor& x) {
            return wrap_selection(
                [=](const Tensor& seen) { return numpy::einsum(subscripts, {seen}); }, x, false);
        },
        located, "A diagonal or other order of axes by einsum's subscripts, which it shares.");
}

}  // namespace composit::python
