// composit/numpy/index_arrays.h.
#include "arguments.h"
#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/grids.h"
#include "composit/numpy/index_arrays.h"
#include "composit/numpy/manipulation.h"
#include "location.h"
#include "numpy.h"
#include "shown.h"

#include <algorithm>
#include <utility>

namespace composit::python {

namespace {

// start, stop and step of a slice, which are numbers; a step of j times a number counts points.
numpy::GridLine line_from(const std::string& name, nb::handle part) {
    if (!PySlice_Check(part.ptr())) {
        const std::string message = with_location(text(
            name, ": ", Shown{part}, " is no slice. Slices such as 0:5 or 0:1:5j are required."));
        throw nb::attribute_error(message.c_str());  // NumPy's class
    }
    const auto number = [&](const char* which) {
        const nb::object given = part.attr(which);
        return is_tensor(given) ? nb::object(given.attr("item")()) : given;
    };
    const nb::object start = number("start"), stop = number("stop"), step = number("step");
    numpy::GridLine line;
    if (!start.is_none()) line.start = tensor_from(start);
    if (!stop.is_none()) line.stop = tensor_from(stop);
    if (PyComplex_Check(step.ptr()) || nb::isinstance(step, numpy_attribute("complexfloating"))) {
        const double count = number_from(nb::steal(PyNumber_Absolute(nb::object(step).ptr())));
        numpy::check_float_fits(name, count, ir::DType::int64);
        line.count = static_cast<int64_t>(count);
    } else if (!step.is_none())
        line.step = tensor_from(step);
    return line;
}

// A line of which one end is given alone begins at 0.
numpy::GridLine alone(numpy::GridLine line) {
    if (!line.stop) line.stop = std::exchange(line.start, numpy::Operand(0));
    return line;
}

nb::object grid(const std::string& name, nb::handle key, bool is_open) {
    if (!nb::isinstance<nb::tuple>(key)) return wrap(numpy::points_of(alone(line_from(name, key))));
    std::vector<numpy::GridLine> lines;
    for (nb::handle part : key) lines.push_back(line_from(name, part));
    if (!is_open) return wrap(numpy::mgrid(lines));
    return nb::tuple(nb::cast(numpy::ogrid(lines)));
}

Tensor joined(const std::string& name, nb::handle key, int64_t axis, int64_t rank, int64_t place) {
    numpy::Joining how{axis, rank, place};
    const auto is_text = [](nb::handle part) { return nb::isinstance<nb::str>(part); };
    if (is_text(key)) how = numpy::joining_named(name, "r", how);  // the whole: a matrix in words
    std::vector<numpy::JoinedPart> parts;
    bool is_first = true;
    const nb::tuple given =
        nb::isinstance<nb::tuple>(key) ? nb::borrow<nb::tuple>(key) : nb::make_tuple(key);
    for (nb::handle part : given) {
        if (is_text(part)) {
            user_check(is_first, name, ": special directives must be the first entry.");
            how = numpy::joining_named(name, nb::cast<std::string>(part), how);
        } else if (PySlice_Check(part.ptr())) {
            const numpy::GridLine line = line_from(name, part);
            parts.emplace_back(line.count ? line : alone(line));
        } else {
            parts.emplace_back(numpy::Operand(tensor_from(part)));
        }
        is_first = false;
    }
    return numpy::joined(parts, how);
}

// A shape, whose positions the dtype holds: bool only two of them.
std::vector<int64_t> lengths_of(const std::string& function, nb::handle dimensions,
                                ir::DType dtype) {
    if (!has_attribute(dimensions, "__iter__"))
        refuse_argument(dimensions, "A sequence of integers");
    const bool is_iterator = PyIter_Check(dimensions.ptr()) != 0;
    const std::vector<int64_t> lengths = integers_from(
        is_iterator ? nb::object(nb::list(nb::borrow(dimensions))) : nb::borrow(dimensions));
    const int64_t most = lengths.empty() ? 0 : std::ranges::max(lengths);
    user_check<TypeError>(dtype != ir::DType::boolean || most <= 2, function, ": positions along ",
                          most, " elements are no bool. Two elements at ", "most are required.");
    return lengths;
}

// Sequences along axes of their own; an empty list, which has no dtype, is one of integers.
nb::object ix(const nb::tuple& sequences) {
    std::vector<Tensor> all;
    for (nb::handle sequence : sequences) {
        const Tensor x = tensor_from(sequence);
        const bool has_dtype = has_attribute(sequence, "dtype") || x.size() > 0;
        all.push_back(has_dtype ? x : numpy::astype(x, ir::DType::int64));
    }
    return nb::cast(numpy::ix_(all));
}

}  // namespace

void bind_numpy_index_arrays(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("grid", grid, nb::arg("name"), nb::arg("key").none(), nb::arg("is_open"), located);
    module.def("joined", joined, nb::arg("name"), nb::arg("key").none(), nb::arg("axis"),
               nb::arg("rank"), nb::arg("place"), located);
    module.def("diag_indices", &numpy::diag_indices, located);
    module.def("diag_indices_from", &numpy::diag_indices_from, located);
    module.def("tril_indices", &numpy::tril_indices, nb::arg("n"), nb::arg("k"),
               nb::arg("m").none(), located);
    module.def("triu_indices", &numpy::triu_indices, nb::arg("n"), nb::arg("k"),
               nb::arg("m").none(), located);
    module.def("tril_indices_from", &numpy::tril_indices_from, located);
    module.def("triu_indices_from", &numpy::triu_indices_from, located);
    module.def("indices", &numpy::indices, located);
    module.def("sparse_indices", &numpy::sparse_indices, located);
    module.def("ix", ix, nb::arg("sequences"), located);
    module.def("lengths_of", lengths_of, nb::arg("function"), nb::arg("dimensions").none(),
               nb::arg("dtype"), "A shape, whose positions the dtype holds.");
    module.def("ravel_multi_index", &numpy::ravel_multi_index, located);
    module.def("unravel_index", &numpy::unravel_index, located);
    module.def("argwhere", &numpy::argwhere, located);
    module.def("flatnonzero", &numpy::flatnonzero, located);
}

}  // namespace composit::python
