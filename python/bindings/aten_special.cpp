// Special functions and transforms: composit/aten/signals.h, special.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/signals.h"
#include "composit/aten/special.h"
#include "flags.h"
#include "location.h"

namespace composit::python {
namespace {

// A result as its operands lie in memory.
nb::object as_they_lie(const Tensor& made, nb::handle x, nb::handle y = {}) {
    PyObject* const operands[] = {x.ptr(), y.ptr()};
    return wrap_elementwise(made, operands, y.is_valid() ? 2 : 1);
}

// An integer, or a tensor of one.
int64_t degree(nb::handle n) {
    const nb::object whole = nb::steal(PyNumber_Long(n.ptr()));
    if (!whole.is_valid()) throw nb::python_error();
    return integer_from(whole);
}

void bind_polynomials(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "chebyshev_polynomial",
        [](const std::string& kind, nb::handle x, nb::handle n, TruthFlag is_shifted) {
            const auto number = static_cast<aten::Chebyshev>(std::string_view("tuvw").find(kind));
            return as_they_lie(
                aten::chebyshev_polynomial(number, tensor_from(x), degree(n), is_shifted), x);
        },
        located);
    const auto polynomial = [&](const char* name, Tensor (*function)(const Tensor&, int64_t)) {
        module.def(
            name,
            [function](nb::handle input, nb::handle n) {
                return as_they_lie(function(tensor_from(input), degree(n)), input);
            },
            nb::arg("input"), nb::arg("n"), located);
    };
    polynomial("hermite_polynomial_h", aten::hermite_polynomial_h);
    polynomial("hermite_polynomial_he", aten::hermite_polynomial_he);
    polynomial("laguerre_polynomial_l", aten::laguerre_polynomial_l);
    polynomial("legendre_polynomial_p", aten::legendre_polynomial_p);
}

void bind_signals(nb::module_& module) {
    const nb::call_guard<Located> located;
    using MaybeInteger = std::optional<int64_t>;
    module.def(
        "stft",
        [](const Tensor& x, int64_t n_fft, MaybeInteger hop_length, MaybeInteger win_length,
           const MaybeOperand& window, TruthFlag is_centred, const std::string& pad_mode,
           TruthFlag is_normalized, std::optional<bool> is_onesided,
           std::optional<bool> is_aligned) {
            return aten::stft(x, {n_fft, hop_length, win_length, window, is_centred, pad_mode,
                                  is_normalized, is_onesided, is_aligned});
        },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), located);
    module.def(
        "istft",
        [](const Tensor& x, int64_t n_fft, MaybeInteger hop_length, MaybeInteger win_length,
           const MaybeOperand& window, TruthFlag is_centred, TruthFlag is_normalized,
           std::optional<bool> is_onesided, MaybeInteger length, TruthFlag is_complex) {
            return aten::istft(x,
                               {n_fft, hop_length, win_length, window, is_centred, "reflect",
                                is_normalized, is_onesided},
                               length, is_complex);
        },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg(),
        nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), located);
}

}  // namespace

void bind_aten_special(nb::module_& module) {
    const nb::call_guard<Located> located;
    bind_polynomials(module);
    bind_signals(module);
    const auto of_one = [&](const char* name, Tensor (*function)(const Tensor&)) {
        module.def(
            name, [function](nb::handle x) { return as_they_lie(function(tensor_from(x)), x); },
            located);
    };
    of_one("erfinv", aten::erfinv);
    of_one("ndtr", aten::ndtr);
    of_one("ndtri", aten::ndtri);
    of_one("log_ndtr", aten::log_ndtr);
    of_one("erfcx", aten::erfcx);
    of_one("entr", aten::entr);
    of_one("spherical_bessel_j0", aten::spherical_bessel_j0);
    of_one("airy_ai", aten::airy_ai);
    using numpy::Operand;
    const auto of_two = [&](const char* name, Tensor (*function)(const Operand&, const Operand&)) {
        module.def(
            name,
            [function](nb::handle x, nb::handle y) {
                return as_they_lie(function(tensor_from(x), tensor_from(y)), x, y);
            },
            located);
    };
    of_two("xlog1py", aten::xlog1py);
    of_two("zeta", aten::zeta);
    of_two("gammainc", aten::gammainc);
    of_two("gammaincc", aten::gammaincc);
    module.def(
        "betainc",
        [](nb::handle a, nb::handle b, nb::handle x) {
            const Tensor made = aten::betainc(tensor_from(a), tensor_from(b), tensor_from(x));
            return as_they_lie(made, a, x);
        },
        located);
    module.def(
        "polygamma",
        [](int64_t n, nb::handle x) { return as_they_lie(aten::polygamma(n, tensor_from(x)), x); },
        located);
    module.def(
        "multigammaln",
        [](nb::handle x, int64_t p) {
            return as_they_lie(aten::multigammaln(tensor_from(x), p), x);
        },
        located);
    const auto bessel = [&](const char* name, Tensor (*function)(int64_t, const Tensor&)) {
        module.def(
            name,
            [function](int64_t order, nb::handle x) {
                return as_they_lie(function(order, tensor_from(x)), x);
            },
            located);
    };
    bessel("bessel_j", aten::bessel_j);
    bessel("bessel_y", aten::bessel_y);
    const auto modified = [&](const char* name, Tensor (*function)(int64_t, const Tensor&, bool)) {
        module.def(
            name,
            [function](int64_t order, nb::handle x, TruthFlag is_scaled) {
                return as_they_lie(function(order, tensor_from(x), is_scaled), x);
            },
            nb::arg(), nb::arg(), nb::arg("is_scaled") = false, located);
    };
    modified("modified_bessel_i", aten::modified_bessel_i);
    modified("modified_bessel_k", aten::modified_bessel_k);
}

}  // namespace composit::python
