// Windows of signals: composit/aten/windows.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/windows.h"
#include "flags.h"
#include "location.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

namespace composit::python {

void bind_aten_windows(nb::module_& module) {
    const nb::call_guard<Located> located;
    using ir::DType;
    // Windows without numbers of their own, and with one.
    const auto plain = [&](const char* name, Tensor (*function)(int64_t, bool, DType)) {
        module.def(
            name,
            [function](int64_t length, TruthFlag sym, DType dtype) {
                return function(length, sym, dtype);
            },
            nb::arg("M"), nb::arg("sym"), nb::arg("dtype"), located);
    };
    plain("bartlett_window", aten::bartlett_window);
    plain("hann_window", aten::hann_window);
    plain("blackman_window", aten::blackman_window);
    plain("nuttall_window", aten::nuttall_window);
    plain("cosine_window", aten::cosine_window);
    const auto shaped = [&](const char* name, Tensor (*function)(int64_t, double, bool, DType)) {
        module.def(
            name,
            [function](int64_t length, double shape, TruthFlag sym, DType dtype) {
                return function(length, shape, sym, dtype);
            },
            nb::arg("M"), nb::arg("shape"), nb::arg("sym"), nb::arg("dtype"), located);
    };
    shaped("general_hamming_window", aten::general_hamming_window);
    shaped("gaussian_window", aten::gaussian_window);
    shaped("kaiser_window", aten::kaiser_window);
    module.def(
        "general_cosine_window",
        [](int64_t length, const std::vector<double>& a, TruthFlag sym, DType dtype) {
            return aten::general_cosine_window(length, a, sym, dtype);
        },
        nb::arg("M"), nb::arg("a"), nb::arg("sym"), nb::arg("dtype"), located);
    module.def(
        "exponential_window",
        [](int64_t length, std::optional<double> center, double tau, TruthFlag sym, DType dtype) {
            return aten::exponential_window(length, center, tau, sym, dtype);
        },
        nb::arg("M"), nb::arg("center").none(), nb::arg("tau"), nb::arg("sym"), nb::arg("dtype"),
        located);
}

}  // namespace composit::python
