// composit/numpy/assembling.h.
#include "arguments.h"
#include "casters.h"
#include "composit/numpy/assembling.h"
#include "location.h"
#include "numpy.h"
#include "viewing.h"

namespace composit::python {
namespace {

using numpy::Block;
using Integers = std::vector<int64_t>;

// Lists of lists of tensors, as deep as C++ reads them.
Block block_from(nb::handle value, int level = 0) {
    if (PyTuple_Check(value.ptr()))
        refuse_argument(value, "A list (a tuple cannot arrange blocks), or a tensor,");
    if (!PyList_Check(value.ptr())) return tensor_from(value);
    user_check(level <= 64,
               "block: lists are nested more than 64 deep. Fewer levels are required.");
    std::vector<Block> parts;
    for (nb::handle part : value) parts.push_back(block_from(part, level + 1));
    return parts;
}

template <class Sections, class Indices>
void bind_split(nb::module_& module, const char* name, const char* name_at, Sections sections,
                Indices indices) {
    const nb::call_guard<Located> located;
    module.def(
        name,
        [sections](nb::handle x, int64_t count) {
            return viewed(sections(tensor_from(x), count), x);
        },
        located);
    module.def(
        name_at,
        [indices](nb::handle x, const Integers& at) {
            return viewed(indices(tensor_from(x), at), x);
        },
        located);
}

using BySections = std::vector<Tensor> (*)(const Tensor&, int64_t);
using ByIndices = std::vector<Tensor> (*)(const Tensor&, const Integers&);

}  // namespace

void bind_numpy_assembling(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("column_stack", &numpy::column_stack, located);
    module.def("row_stack", &numpy::row_stack, located);
    bind_split(module, "hsplit", "hsplit_at", BySections{numpy::hsplit}, ByIndices{numpy::hsplit});
    bind_split(module, "vsplit", "vsplit_at", BySections{numpy::vsplit}, ByIndices{numpy::vsplit});
    bind_split(module, "dsplit", "dsplit_at", BySections{numpy::dsplit}, ByIndices{numpy::dsplit});
    module.def(
        "unstack",
        [](nb::handle x, int64_t axis) { return viewed(numpy::unstack(tensor_from(x), axis), x); },
        located);
    module.def(
        "block", [](nb::handle blocks) { return wrap_copy(numpy::block(block_from(blocks))); },
        nb::arg().none(), located);
    module.def("diagflat", &numpy::diagflat, located);
    module.def("vander", &numpy::vander, nb::arg("x"), nb::arg("columns").none(),
               nb::arg("increasing"), located);
    module.def("kron", &numpy::kron, located);
}

}  // namespace composit::python
