// What shows a tensor's elements otherwise and writes through to it: parts of complex numbers, and
// bits as another dtype.
#include "arguments.h"
#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/eager/as_strided.h"
#include "composit/execute/execute.h"
#include "composit/ir/body.h"
#include "composit/ir/remote_memory.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/bits.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"
#include "content.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"
#include "shown.h"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::python {
namespace {

nb::object real_of(const LazyTensor& x) {
    return wrap_appearance({[](const Tensor& z) { return numpy::real(z); },
                            [](const Tensor& z, const Tensor& re) {
                                return numpy::apply("as_complex", {re, numpy::imag(z)});
                            }},
                           x, eager::part_region(*x.cell(), false));
}

nb::object imag_of(const LazyTensor& x) {
    return wrap_appearance({[](const Tensor& z) { return numpy::imag(z); },
                            [](const Tensor& z, const Tensor& im) {
                                return numpy::apply("as_complex", {numpy::real(z), im});
                            }},
                           x, eager::part_region(*x.cell(), true));
}

// The bytes of each number, of both parts of a complex one, in the opposite order.
Tensor turned(const Tensor& x) {
    const int64_t size = ir::size_of(x.dtype()) / (ir::is_complex(x.dtype()) ? 2 : 1);
    const Tensor bytes = numpy::view(numpy::ravel(x), ir::DType::uint8);
    const Tensor numbers = ops::reshape(bytes, {bytes.size() / size, size});
    const Tensor reversed = ops::slice(numbers, {0, size - 1}, numbers.shape(), {1, -1});
    return ops::reshape(numpy::view(ops::reshape(reversed, {bytes.size()}), x.dtype()), x.shape());
}

// Real and imaginary parts along a new last axis, and back.
Tensor parts(const Tensor& z) { return numpy::stack({numpy::real(z), numpy::imag(z)}, -1); }
Tensor numbers(const Tensor& x) {
    const auto part = [&](int64_t i) { return numpy::get_item(x, {numpy::Ellipsis{}, i}); };
    return numpy::apply("as_complex", {part(0), part(1)});
}

// What undoes itself, element by element: a conjugate, or a number of the other sign.
nb::object mirrored(std::string_view function, const LazyTensor& x) {
    const auto mirror = [function](const Tensor& seen) { return numpy::apply(function, {seen}); };
    return wrap_appearance(
        {mirror, [mirror](const Tensor&, const Tensor& written) { return mirror(written); }}, x);
}

// Gradients do not flow through it. They flow on to what its elements were before it was written.
nb::object detached_of(const LazyTensor& x) {
    return wrap_appearance({nn::stop_gradient,
                            [](const Tensor& source, const Tensor& written) {
                                return nn::with_values(source, nn::stop_gradient(written));
                            }},
                           x);
}

// Gradients do not flow to what it holds now, but to what is written.
nb::object stopped_of(const LazyTensor& x) {
    return wrap_appearance({[before = x.tensor()](const Tensor& now) {
                                return now == before ? nn::stop_gradient(now) : now;
                            },
                            [](const Tensor&, const Tensor& written) { return written; }},
                           x);
}

nb::object made_of(const LazyTensor& x, const Tensor& value, const std::string& refusal) {
    return wrap_appearance(
        {[before = x.tensor(), value](const Tensor& now) {
             return ir::substitute({value}, {before}, {now})[0];
         },
         [refusal](const Tensor&, const Tensor&) -> Tensor { fail<NotSupported>(refusal); }},
        x);
}

}  // namespace

Appearance bits_as(ir::DType dtype) {
    return {[dtype](const Tensor& seen) { return numpy::view(seen, dtype); },
            [](const Tensor& source, const Tensor& written) {
                return numpy::view(written, source.dtype());
            }};
}

namespace {

// Where the elements of an array lie: whose memory it is (0: the machine's), the first byte of each
// element there, and their size.
struct Occupied {
    uintptr_t owner = 0;
    std::vector<int64_t> first;
    int64_t width = 1;
};

// Nothing for what has no memory that others can see.
std::optional<Occupied> occupied(nb::handle x) {
    Occupied found;
    if (is_tensor(x)) {
        const Cell& cell = *content_of<LazyTensor>(x).cell();
        const ir::Node& root = cell.root()->tensor().node();
        const ir::Array held = ir::is_constant(root) ? ir::constant_value(root) : ir::Array();
        const bool is_borrowed = held.is_borrowed();
        const auto begin = reinterpret_cast<uintptr_t>(!is_borrowed       ? nullptr
                                                       : held.is_remote() ? held.remote()->address()
                                                                          : held.data());
        if (!is_borrowed) found.owner = reinterpret_cast<uintptr_t>(cell.root());
        found.width = static_cast<int64_t>(ir::size_of(content_of<LazyTensor>(x).type().dtype));
        const ir::Array places = execute::evaluate(std::vector<Tensor>{cell.places()})[0];
        for (int64_t i = 0; i < places.size(); ++i)
            found.first.push_back(places.data_as<int64_t>()[i] * found.width +
                                  static_cast<int64_t>(begin));
        return found;
    }
    if (!nb::isinstance(x, numpy_attribute("ndarray"))) return {};
    const nb::object data = x.attr("__array_interface__")["data"];
    found.first = {static_cast<int64_t>(nb::cast<uintptr_t>(nb::object(data[0])))};
    found.width = nb::cast<int64_t>(x.attr("itemsize"));
    const std::vector<int64_t> shape = integers_from(x.attr("shape")),
                               strides = integers_from(x.attr("strides"));
    for (size_t d = 0; d < shape.size(); ++d) {
        std::vector<int64_t> more;
        for (const int64_t begin : found.first)
            for (int64_t i = 0; i < shape[d]; ++i) more.push_back(begin + i * strides[d]);
        found.first = std::move(more);
    }
    return found;
}

std::vector<int64_t> bytes_of(const Occupied& memory) {
    std::vector<int64_t> bytes;
    for (const int64_t first : memory.first)
        for (int64_t i = 0; i < memory.width; ++i) bytes.push_back(first + i);
    std::ranges::sort(bytes);
    return bytes;
}

// Whether the stretches from the first to the last elements overlap; exactly: elements do.
bool overlap(nb::handle a, nb::handle b, bool is_exact) {
    const std::optional<Occupied> one = occupied(a), two = occupied(b);
    if (!one || !two || one->owner != two->owner || one->first.empty() || two->first.empty())
        return false;
    const auto [low, high] = std::ranges::minmax(one->first);
    const auto [other_low, other_high] = std::ranges::minmax(two->first);
    if (low >= other_high + two->width || other_low >= high + one->width) return false;
    if (!is_exact) return true;
    std::vector<int64_t> common;
    std::ranges::set_intersection(bytes_of(*one), bytes_of(*two), std::back_inserter(common));
    return !common.empty();
}

// What require asks for, by NumPy's names for it: letters of CFAWOE.
std::string required_flags(nb::handle requirements) {
    if (requirements.is_none() || !truth_of(requirements)) return {};
    if (!has_attribute(requirements, "__iter__"))
        refuse_argument(requirements, "A sequence of texts");
    constexpr std::string_view known[] = {"C",
                                          "C_CONTIGUOUS",
                                          "CONTIGUOUS",
                                          "F",
                                          "F_CONTIGUOUS",
                                          "FORTRAN",
                                          "A",
                                          "ALIGNED",
                                          "W",
                                          "WRITEABLE",
                                          "O",
                                          "OWNDATA",
                                          "E",
                                          "ENSUREARRAY"};
    std::string letters;
    for (nb::handle each : requirements) {
        std::string name = nb::str(each).c_str();
        std::ranges::transform(name, name.begin(),
                               [](unsigned char letter) { return std::toupper(letter); });
        user_check<KeyError>(std::ranges::find(known, name) != std::end(known),
                             "require: ", Shown{each}, " is no requirement. Known: ", join(known),
                             ".");
        letters += name[0];
    }
    user_check(letters.find('C') == letters.npos || letters.find('F') == letters.npos,
               "require: Cannot specify both \"C\" and \"F\" order.");
    return letters;
}

// The tensor; a copy where it does not lie in memory as required, or is to own it.
nb::object laid_out_as(nb::object tensor, std::string_view letters, bool is_shared) {
    const nb::object flags = tensor.attr("flags");
    const auto lacks = [&](char letter, const char* flag) {
        return letters.find(letter) != letters.npos && !nb::cast<bool>(flags.attr(flag));
    };
    const bool is_copied = (is_shared && letters.find('O') != letters.npos) ||
                           lacks('W', "writeable") || lacks('C', "c_contiguous") ||
                           lacks('F', "f_contiguous");
    if (!is_copied) return tensor;
    return tensor.attr("copied")(letters.find('F') != letters.npos);
}

}  // namespace

void bind_numpy_appearances(nb::module_& module) {
    module.def("overlap", overlap, nb::arg("a").none(), nb::arg("b").none(), nb::arg("is_exact"),
               "Whether two arrays, or tensors, have memory in common.");
    module.def("required_flags", required_flags, nb::arg("requirements").none());
    module.def("laid_out_as", laid_out_as, nb::arg("tensor"), nb::arg("letters"),
               nb::arg("is_shared"));
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
        [](const LazyTensor& x, int64_t offset, int64_t axis1, int64_t axis2, bool is_writeable) {
            const auto diagonal = [=](const Tensor& seen) {
                return numpy::diagonal(seen, offset, axis1, axis2);
            };
            (void)diagonal(x.tensor());  // its errors come before the strides are asked for
            return wrap_selection(diagonal, x, !is_writeable,
                                  eager::diagonal_region(*x.cell(), offset, axis1, axis2));
        },
        nb::arg("x"), nb::arg("offset"), nb::arg("axis1"), nb::arg("axis2"),
        nb::arg("is_writeable") = false, located, "A diagonal, which it shares.");
    module.def(
        "windows_of",
        [](const LazyTensor& x, const std::vector<int64_t>& lengths, const numpy::Axis& axes,
           bool is_writeable) {
            const auto windows = [=](const Tensor& seen) {
                return numpy::sliding_window_view(seen, lengths, axes);
            };
            // Its errors come before the strides are asked for.
            const Tensor made = windows(x.tensor());
            if (made.size() == 0) return wrap(made);
            std::vector<int64_t> all(lengths.size());
            std::iota(all.begin(), all.end(), 0);
            return wrap_selection(
                windows, x, !is_writeable,
                eager::windows_region(*x.cell(), axes.is_none() ? all : axes.axes()));
        },
        nb::arg("x"), nb::arg("lengths"), nb::arg("axes").none(), nb::arg("is_writeable"), located,
        "Sliding windows, which it shares.");
    module.def(
        "as_strided_in_bytes",
        [](nb::handle self, nb::handle shape, nb::handle strides, bool is_writeable) {
            const auto& x = content_of<LazyTensor>(self);
            const std::vector<int64_t> lengths =
                shape.is_none() ? x.tensor().shape() : integers_from(shape);
            std::vector<int64_t> steps =
                strides.is_none() ? nb::cast<std::vector<int64_t>>(nb::tuple(self.attr("strides")))
                                  : integers_from(strides);
            const int64_t size = ir::size_of(x.tensor().dtype());
            const bool are_whole = std::all_of(steps.begin(), steps.end(),
                                               [&](int64_t step) { return step % size == 0; });
            user_check(are_whole, "as_strided: strides are ", steps, " bytes. Multiples of ", size,
                       " are required.");
            for (int64_t& step : steps) step /= size;
            const int64_t begin = x.cell()->region().offset;
            const nb::object object = wrap_cell(eager::as_strided(x.cell(), lengths, steps, begin));
            content_of<LazyTensor>(object).is_read_only = x.is_read_only || !is_writeable;
            return object;
        },
        nb::arg("x"), nb::arg("shape").none(), nb::arg("strides").none(), nb::arg("is_writeable"),
        located);
    module.def(
        "as_strided_of",
        [](const LazyTensor& x, const std::vector<int64_t>& shape,
           const std::vector<int64_t>& strides, std::optional<int64_t> offset, bool is_writeable) {
            const int64_t begin = offset.value_or(x.cell()->region().offset);
            const nb::object object = wrap_cell(eager::as_strided(x.cell(), shape, strides, begin));
            content_of<LazyTensor>(object).is_read_only = x.is_read_only || !is_writeable;
            return object;
        },
        nb::arg("x"), nb::arg("shape"), nb::arg("strides"), nb::arg("offset").none(),
        nb::arg("is_writeable") = true, located,
        "Elements of its memory at steps of so many elements, which it shares. The first one is "
        "`offset` elements from the memory's beginning; None: where the tensor begins.");
    module.def(
        "parts_of",
        [](const LazyTensor& z) {
            return wrap_appearance(
                {parts, [](const Tensor&, const Tensor& written) { return numbers(written); }}, z);
        },
        located, "Real and imaginary parts along a new last axis, which it shares.");
    module.def(
        "numbers_of",
        [](const LazyTensor& x) {
            return wrap_appearance(
                {numbers, [](const Tensor&, const Tensor& written) { return parts(written); }}, x);
        },
        located, "Complex numbers of pairs along the last axis, which it shares.");
    module.def(
        "conjugated_of", [](const LazyTensor& z) { return mirrored("conjugate", z); }, located,
        "The conjugated elements, which it shares.");
    module.def(
        "negated_of", [](const LazyTensor& x) { return mirrored("negative", x); }, located,
        "The elements with the other sign, which it shares.");
    module.def("detached_of", detached_of, located,
               "The elements, which it shares, without their gradient.");
    module.def("stopped_of", stopped_of, located,
               "The elements, which it shares, without the gradient of those that are there now.");
    module.def("made_of", made_of, nb::arg("x"), nb::arg("value"), nb::arg("refusal"), located,
               "`value`, which was computed from what x holds: after x was written it is what its "
               "nodes make of that. NotSupported, with that text, where it is written itself.");
}

}  // namespace composit::python
