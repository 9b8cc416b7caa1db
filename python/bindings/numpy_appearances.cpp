// What shows a tensor's elements otherwise and writes through to it: parts of complex numbers, and
// bits as another dtype.
#include "casters.h"
#include "composit/numpy/bits.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"
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

// The bytes of each number, of both parts of a complex one, in the opposite order.
Tensor turned(const Tensor& x) {
    const int64_t size = ir::size_of(x.dtype()) / (ir::is_complex(x.dtype()) ? 2 : 1);
    const Tensor bytes = numpy::view(numpy::ravel(x), ir::DType::uint8);
    const Tensor numbers = ops::reshape(bytes, {bytes.size() / size, size});
    const Tensor reversed = ops::slice(numbers, {0, size - 1}, numbers.shape(), {1, -1});
    return ops::reshape(numpy::view(ops::reshape(reversed, {bytes.size()}), x.dtype()), x.shape());
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
        "turned_of",
        [](const LazyTensor& x) {
            return wrap_appearance(
                {turned, [](const Tensor&, const Tensor& written) { return turned(written); }}, x);
        },
        located, "The numbers that the bytes mean in the opposite order, shared.");
    module.def(
        "flat_of",
        [](const LazyTensor& x) {
            return wrap_selection([](const Tensor& seen) { return numpy::ravel(seen); }, x, false);
        },
        located, "The elements as one dimension, which it shares wherever they lie.");
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
