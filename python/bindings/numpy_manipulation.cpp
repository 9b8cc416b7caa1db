// composit/numpy/manipulation.h.
#include "casters.h"
#include "composit/numpy/bits.h"
#include "composit/numpy/casting.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/padding.h"
#include "location.h"
#include "numpy.h"
#include "viewing.h"

#include <nanobind/stl/pair.h>

namespace composit::python {
namespace {

using numpy::Axis;
using MaybeAxis = std::optional<int64_t>;
using Integers = std::vector<int64_t>;

void bind_views(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("normalize_axis", [](const std::string& function, int64_t axis, int rank) {
        return numpy::normalize_axis(function, axis, rank);
    });
    module.def("check_input_cast", &numpy::check_input_cast, located);
    module.def("axes_of", [](const std::string& function, const Axis& axis, int rank) {
        return axis.of(function, rank);
    });
    module.def("reshape", viewing<Integers>(numpy::reshape), located);
    module.def(
        "ravel",
        [](nb::handle x) {
            const Tensor tensor = tensor_from(x), line = numpy::ravel(tensor);
            if (!nb::isinstance<LazyTensor>(x)) return wrap(line);
            const auto& content = content_of<LazyTensor>(x);
            const bool is_view = eager::is_row_major(tensor.shape(), content.cell()->strides());
            return is_view ? wrap_view(line, content) : wrap_copy(line);
        },
        located);
    module.def("transpose", viewing<std::optional<Integers>>(numpy::transpose), located);
    module.def("permute_dims", viewing<Integers>(numpy::permute_dims), located);
    module.def("matrix_transpose", viewing<>(numpy::matrix_transpose), located);
    module.def("swapaxes", viewing<int64_t, int64_t>(numpy::swapaxes), located);
    module.def("moveaxis", viewing<Axis, Axis>(numpy::moveaxis), located);
    module.def("rollaxis", viewing<int64_t, int64_t>(numpy::rollaxis), located);
    module.def("expand_dims", viewing<Axis>(numpy::expand_dims), located);
    module.def("squeeze", viewing<Axis>(numpy::squeeze), located);
    module.def("atleast_1d", viewing<>(numpy::atleast_1d), located);
    module.def("atleast_2d", viewing<>(numpy::atleast_2d), located);
    module.def("atleast_3d", viewing<>(numpy::atleast_3d), located);
    module.def("broadcast_to", viewing<Integers>(numpy::broadcast_to), located);
    module.def("flip", viewing<Axis>(numpy::flip), located);
    module.def("rot90", viewing<int64_t, std::pair<int64_t, int64_t>>(numpy::rot90), located);
}

void bind_parts(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("cast_inputs", &numpy::cast_inputs, nb::arg("function"), nb::arg("operands"),
               nb::arg("dtype").none(), nb::arg("casting"), located);
    module.def("cast_parts", &numpy::cast_parts, nb::arg("function"), nb::arg("parts"),
               nb::arg("dtype").none(), nb::arg("casting"), located);
    module.def("concatenate", &numpy::concatenate, located);
    module.def("stack", &numpy::stack, located);
    module.def("hstack", &numpy::hstack, located);
    module.def("vstack", &numpy::vstack, located);
    module.def("dstack", &numpy::dstack, located);
    module.def(
        "append",
        [](const Tensor& x, const Tensor& values, MaybeAxis axis) {
            return numpy::append(x, values, axis);
        },
        located);
    module.def(
        "split",
        [](nb::handle x, int64_t sections, int64_t axis) {
            return viewed(numpy::split(tensor_from(x), sections, axis), x);
        },
        located);
    module.def(
        "split_at",
        [](nb::handle x, const Integers& indices, int64_t axis) {
            return viewed(numpy::split(tensor_from(x), indices, axis), x);
        },
        located);
    module.def(
        "array_split",
        [](nb::handle x, int64_t sections, int64_t axis) {
            return viewed(numpy::array_split(tensor_from(x), sections, axis), x);
        },
        located);
}

}  // namespace

void bind_numpy_manipulation(nb::module_& module) {
    const nb::call_guard<Located> located;
    bind_views(module);
    bind_parts(module);
    module.def("flatten", [](const Tensor& x) { return wrap_copy(numpy::flatten(x)); }, located);
    module.def("broadcast_arrays", &numpy::broadcast_arrays, located);
    module.def("broadcast_shapes", [](nb::args shapes) {
        std::vector<ir::Shape> list;
        for (nb::handle shape : shapes) list.push_back(integers_from(shape));
        return numpy::broadcast_shapes(list);
    });
    module.def(
        "astype",
        [](const Tensor& x, ir::DType dtype) { return wrap_copy(numpy::astype(x, dtype)); },
        located);
    module.def(
        "roll",
        [](const Tensor& x, const Integers& shift, const Axis& axis) {
            return numpy::roll(x, shift, axis);
        },
        located);
    module.def(
        "repeat",
        [](const Tensor& x, int64_t repeats, MaybeAxis axis) {
            return numpy::repeat(x, repeats, axis);
        },
        located);
    module.def(
        "repeat_each",
        [](const Tensor& x, const Integers& repeats, MaybeAxis axis) {
            return numpy::repeat(x, repeats, axis);
        },
        located);
    module.def("tile", &numpy::tile, located);
    module.def("resize", &numpy::resize, located);
    module.def("packbits", &numpy::packbits, nb::arg("x"), nb::arg("axis").none(), nb::arg("order"),
               located);
    module.def("unpackbits", &numpy::unpackbits, nb::arg("x"), nb::arg("axis").none(),
               nb::arg("count").none(), nb::arg("order"), located);
    // Where the memory of others begins that the tensor is in, else 0; its root; and the number of
    // each element within.
    module.def("placed", [](nb::handle x) {
        const Cell& cell = *content_of<LazyTensor>(x).cell();
        const ir::Node& root = cell.root()->tensor().node();
        const bool is_borrowed = ir::is_constant(root) && ir::constant_value(root).is_borrowed();
        const void* data = is_borrowed ? ir::constant_value(root).data() : nullptr;
        return nb::make_tuple(reinterpret_cast<uintptr_t>(data),
                              reinterpret_cast<uintptr_t>(cell.root()), wrap(cell.places()));
    });
    module.def(
        "pad",
        [](const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& widths,
           const std::string& mode,
           const numpy::Operand& value) { return numpy::pad(x, widths, mode, value); },
        located);
    module.def(
        "pad_by_side",
        [](const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& widths,
           const std::string& mode, nb::list values,
           const std::vector<std::pair<int64_t, int64_t>>& stat_lengths, bool is_odd) {
            numpy::PadOptions options{.stat_lengths = stat_lengths, .is_odd = is_odd};
            for (nb::handle pair : values)
                options.values.emplace_back(tensor_from(pair[0]), tensor_from(pair[1]));
            return numpy::pad(x, widths, mode, options);
        },
        located);
    module.def(
        "take",
        [](const Tensor& x, const Tensor& indices, MaybeAxis axis, const std::string& mode) {
            return numpy::take(x, indices, axis, mode);
        },
        located);
    module.def(
        "take_along_axis",
        [](const Tensor& x, const Tensor& indices, MaybeAxis axis) {
            return numpy::take_along_axis(x, indices, axis);
        },
        located);
    module.def(
        "diff",
        [](const Tensor& x, int64_t n, int64_t axis, const MaybeOperand& prepend,
           const MaybeOperand& append) { return numpy::diff(x, n, axis, prepend, append); },
        nb::arg("x"), nb::arg("n"), nb::arg("axis"), nb::arg("prepend").none(),
        nb::arg("append").none(), located);
    module.def("sliding_window_view", &numpy::sliding_window_view, located);
    module.def("meshgrid", &numpy::meshgrid, located);
}

}  // namespace composit::python
