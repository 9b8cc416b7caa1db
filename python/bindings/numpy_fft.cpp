// composit/numpy/fft.h.
#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/fft.h"
#include "location.h"
#include "numpy.h"
#include "outputs.h"

#include <algorithm>
#include <string_view>

namespace composit::python {

namespace fft = numpy::fft;

namespace {

using AlongAxis = Tensor (*)(const Tensor&, fft::Length, int64_t, fft::Norm);
using OverAxes = Tensor (*)(const Tensor&, const fft::Lengths&, const fft::Lengths&, fft::Norm);

struct Transform {
    std::string_view name;
    AlongAxis along;
};
constexpr Transform along_axis[] = {{"fft", fft::fft},   {"ifft", fft::ifft},
                                    {"rfft", fft::rfft}, {"irfft", fft::irfft},
                                    {"hfft", fft::hfft}, {"ihfft", fft::ihfft}};
// Over axes, and what transforms the last axis and what the others, of functions that write what is
// between the axes into out.
struct TransformOver {
    std::string_view name;
    OverAxes over;
    AlongAxis last = nullptr, others = nullptr;
};
constexpr TransformOver over_axes[] = {
    {"fftn", fft::fftn, fft::fft, fft::fft},    {"ifftn", fft::ifftn, fft::ifft, fft::ifft},
    {"rfftn", fft::rfftn, fft::rfft, fft::fft}, {"irfftn", fft::irfftn},
    {"fft2", fft::fft2, fft::fft, fft::fft},    {"ifft2", fft::ifft2},
    {"rfft2", fft::rfft2, fft::rfft, fft::fft}, {"irfft2", fft::irfft2}};

fft::Norm norm_from(nb::handle norm) {
    if (norm.is_none()) return fft::Norm::backward;
    // What is no text is refused by its name.
    return fft::norm_named(nb::str(nb::isinstance<nb::str>(norm) ? norm : nb::repr(norm)).c_str());
}

nb::object written_transform(const std::string& name, const Tensor& result, nb::handle out) {
    if (!out.is_none() && has_attribute(out, "shape")) {
        const ir::Shape shape = integers_from(out.attr("shape"));
        user_check(shape == result.shape(), name, ": output array has wrong shape: ", shape, ". ",
                   result.shape(), " is required.");
    }
    return write_out(name, wrap(result), out, {});
}

nb::object along(const std::string& name, const Tensor& x, fft::Length n, int64_t axis,
                 nb::handle norm, nb::handle out) {
    const auto& found = *std::ranges::find(along_axis, name, &Transform::name);
    return written_transform(name, found.along(x, n, axis, norm_from(norm)), out);
}

void warn_as_numpy(const std::string& text) {
    constexpr int level = 2;  // behind the function that the user called
    if (PyErr_WarnEx(PyExc_DeprecationWarning, text.c_str(), level) < 0) throw nb::python_error();
}

// NumPy looks up the length of an axis that is given alone before it wants a sequence.
void check_sequence(const std::string& name, const Tensor& x, nb::handle s, nb::handle axes) {
    for (nb::handle value : {s, axes}) {
        if (value.is_none() || has_attribute(value, "__iter__")) continue;
        if (s.is_none() && PyIndex_Check(axes.ptr())) {
            const int64_t axis = integer_from(axes);
            user_check<IndexError>(axis >= -x.rank() && axis < x.rank(), name, ": axes is ", axis,
                                   ", beyond the ", x.rank(), " axes of the operand. A sequence ",
                                   "of axes is required.");
        }
        refuse_argument(value, "A sequence of integers, or None,");
    }
}

// The lengths with -1 for those of the axes.
fft::Lengths lengths_from(const std::string& name, const Tensor& x, nb::handle s,
                          const fft::Lengths& axes) {
    if (s.is_none()) return {};
    bool has_none = false;
    nb::list whole;
    for (nb::handle length : s) {
        has_none = has_none || length.is_none();
        whole.append(length.is_none() ? nb::object(nb::int_(-1)) : nb::borrow(length));
    }
    std::vector<int64_t> lengths = integers_from(whole);
    if (!has_none) return lengths;
    warn_as_numpy(name +
                  ": Passing an array containing `None` values to `s` is deprecated, as in "
                  "NumPy 2.0. Use -1.");
    if (nb::object(s[nb::int_(-1)]).is_none() && name.starts_with("irfft")) {
        user_check<IndexError>(!axes || !axes->empty(), name,
                               ": axes is (). One axis for each of s is required.");
        const int64_t axis = numpy::normalize_axis(name, axes ? axes->back() : -1, x.rank());
        lengths.back() = 2 * (x.shape()[static_cast<size_t>(axis)] - 1);
    }
    return lengths;
}

// Axis after axis, the last one first, each written into out: so its dtype is that of what is
// between them, and its shape must be theirs.
nb::object in_stages(const TransformOver& transform, Tensor x, const fft::Lengths& s,
                     const fft::Lengths& axes, fft::Norm norm, nb::handle out) {
    const std::string name(transform.name);
    std::vector<int64_t> places;
    if (axes) {
        places = *axes;
    } else {
        const int64_t count = s ? static_cast<int64_t>(s->size()) : x.rank();
        for (int64_t place = -count; place < 0; ++place) places.push_back(place);
    }
    user_check(!s || s->size() == places.size(), name, ": Shape and axes have different lengths.");
    nb::object made;
    for (size_t i = places.size(); i-- > 0;) {
        const fft::Length n = !s || (*s)[i] == -1 ? fft::Length() : (*s)[i];
        const AlongAxis stage = made.is_valid() ? transform.others : transform.last;
        made = written_transform(name, stage(x, n, places[i], norm), out);
        x = tensor_from(made);
    }
    return made.is_valid() ? made : wrap(x);
}

nb::object over(const std::string& name, const Tensor& x, nb::handle s, nb::handle given_axes,
                nb::handle given_norm, nb::handle out) {
    const auto& transform = *std::ranges::find(over_axes, name, &TransformOver::name);
    if (!s.is_none() && given_axes.is_none())
        warn_as_numpy(name +
                      ": `axes` should not be `None` if `s` is not `None`: deprecated, as "
                      "in NumPy 2.0. Give axes.");
    check_sequence(name, x, s, given_axes);
    fft::Lengths axes;
    if (!given_axes.is_none()) axes = integers_from(given_axes);
    const fft::Lengths lengths = lengths_from(name, x, s, axes);
    const fft::Norm norm = norm_from(given_norm);
    // What is between the axes has the result's dtype and shape: nothing shows where it was.
    const bool is_alike = s.is_none() && !out.is_none() && has_attribute(out, "dtype") &&
                          out.attr("dtype").equal(dtype_object(x.dtype()));
    if (!out.is_none() && transform.last && !is_alike)
        return in_stages(transform, x, lengths, axes, norm, out);
    const size_t count = axes ? axes->size() : lengths ? lengths->size() : size_t(x.rank());
    const bool fits = !lengths || !axes || lengths->size() == axes->size();
    if (name.starts_with("irfft") && count == 1 && fits) {
        const bool has_length = lengths && (*lengths)[0] != -1;
        return written_transform(
            name,
            fft::irfft(x, has_length ? fft::Length((*lengths)[0]) : std::nullopt,
                       axes ? (*axes)[0] : -1, norm),
            out);
    }
    return written_transform(name, transform.over(x, lengths, axes, norm), out);
}

}  // namespace

void bind_numpy_fft(nb::module_& module) {
    using namespace nb::literals;
    const nb::call_guard<Located> located;
    module.def("along", along, "name"_a, "x"_a, "n"_a.none(), "axis"_a, "norm"_a.none(),
               "out"_a.none(), located, "A transform along an axis, in `out` where it is given.");
    module.def("over", over, "name"_a, "x"_a, "s"_a.none(), "axes"_a.none(), "norm"_a.none(),
               "out"_a.none(), located, "The same over several axes.");
    module.def("fftfreq", &fft::fftfreq, located);
    module.def("rfftfreq", &fft::rfftfreq, located);
    module.def("fftshift", &fft::fftshift, located);
    module.def("ifftshift", &fft::ifftshift, located);
}

}  // namespace composit::python
