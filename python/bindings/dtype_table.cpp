// The table of dtypes in Python.
#include "composit/ir/dtype_traits.h"
#include "torch_objects.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace composit::python {
namespace {

using ir::DTypeTraits;

nb::object names_of(bool (*is_one)(const DTypeTraits&)) {
    nb::list names;
    for (const DTypeTraits& row : ir::all_traits())
        if (is_one(row)) names.append(nb::str(std::string(row.name).c_str()));
    return nb::steal(PyFrozenSet_New(names.ptr()));
}

}  // namespace

void bind_dtype_table(nb::module_& module) {
    nb::class_<DTypeTraits>(module, "DTypeTraits", "What a dtype is, and what PyTorch calls it.")
        .def_ro("name", &DTypeTraits::name, "NumPy's name, or ml_dtypes'.")
        .def_prop_ro(
            "is_floating", [](const DTypeTraits& row) { return ir::is_floating(row.dtype); },
            "Whether it is of real floats.")
        .def_prop_ro(
            "is_complex", [](const DTypeTraits& row) { return ir::is_complex(row.dtype); },
            "Whether it is of complex numbers.")
        .def_prop_ro(
            "is_signed",
            [](const DTypeTraits& row) {
                return row.kind != ir::DTypeKind::boolean &&
                       row.kind != ir::DTypeKind::unsigned_integer;
            },
            "Whether it has negative numbers.")
        .def_prop_ro(
            "has_infinity", [](const DTypeTraits& row) { return row.format.has_infinity; },
            "Of floats: whether what is too large is infinite.")
        .def_ro("scalar_type", &DTypeTraits::scalar_type, "'Half' of float16.")
        .def_ro("torch_alias", &DTypeTraits::torch_alias, "'half' of float16; '' where none is.")
        .def_prop_ro(
            "has_storage_class",
            [](const DTypeTraits& row) { return row.torch_classes != ir::TorchClasses::none; },
            "Whether PyTorch has a class such as FloatStorage.")
        .def_prop_ro(
            "has_tensor_class",
            [](const DTypeTraits& row) {
                return row.torch_classes == ir::TorchClasses::storage_and_tensor;
            },
            "Whether PyTorch has a class such as FloatTensor.");
    module.def(
        "dtype_table",
        [] { return std::vector<DTypeTraits>(ir::all_traits().begin(), ir::all_traits().end()); },
        "All dtypes in their order.");
    module.attr("short_floats") =
        names_of([](const DTypeTraits& row) { return ir::is_short_float(row.dtype); });
    module.attr("extension_floats") =
        names_of([](const DTypeTraits& row) { return row.is_extension; });
}

}  // namespace composit::python
