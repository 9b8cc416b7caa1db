// Weights of composit.torch's modules that hooks compute before each call (weight_norm and
// spectral_norm of torch.nn.utils): which hooks and parameters a module has for them, steps of
// power iteration, and what parametrisations ask of weights.
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "flags.h"
#include "modules.h"
#include "provided.h"
#include "shown.h"
#include "torch_objects.h"
#include "values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

namespace composit::python {
namespace {

nb::object entry_of(nb::handle dictionary, const std::string& name) {
    return dictionary[nb::str(name.c_str())];
}

nb::object unit_of(const nb::dict& neural, nb::handle vector, nb::handle eps) {
    return entry_of(neural, "normalize")(vector, nb::arg("dim") = 0, nb::arg("eps") = eps);
}

// (the hook's number, the hook) of a weight; None where there is none.
nb::object norm_hook(nb::handle module, nb::handle kind, nb::handle name) {
    for (const auto& [number, hook] : items_now(group_in(module, "_forward_pre_hooks")))
        if (nb::isinstance(hook, kind) && nb::object(hook.attr("name")).equal(name))
            return nb::make_tuple(number, hook);
    return nb::none();
}

// The parameter that is to be normalised, where no hook of that kind does it already.
nb::object weight_to_be_normalised(nb::handle module, nb::handle kind, nb::handle name,
                                   const std::string& called) {
    user_check<RuntimeError>(norm_hook(module, kind, name).is_none(), "Cannot register two ",
                             called, " hooks on the same parameter ", Said{name});
    const nb::object found = group_in(module, "_parameters").attr("get")(name);
    user_check<KeyError>(!found.is_none(), KindOf{module}, " has no parameter ", Shown{name},
                         " to be normalised.");
    return found;
}

// The hook of a weight, which the module has no more, nor its parameters and buffers of these
// names.
nb::object without_norm(nb::handle module, nb::handle kind, nb::handle name,
                        const std::string& called) {
    const nb::object found = norm_hook(module, kind, name);
    user_check(!found.is_none(), called, " of '", Said{name}, "' not found in ", Said{module});
    nb::dict hooks = group_in(module, "_forward_pre_hooks");
    if (PyObject_DelItem(hooks.ptr(), nb::object(found[0]).ptr()) < 0) throw nb::python_error();
    return found[1];
}

void drop_tensors(nb::handle module, nb::handle weight, const std::vector<std::string>& names) {
    for (const std::string& name : names)
        for (const char* kind : {"_parameters", "_buffers"}) {
            nb::dict group = group_in(module, kind);
            const nb::str key(name.c_str());
            if (group.contains(key)) nb::del(group[key]);
        }
    nb::object own = nb::steal(PyObject_GenericGetDict(module.ptr(), nullptr));
    if (!own.is_valid()) throw nb::python_error();
    own.attr("pop")(weight, nb::none());
}

// Steps of power iteration, in place: of the vector of columns, then of that of rows.
void iterate_power(const nb::dict& functions, const nb::dict& neural, nb::handle matrix,
                   nb::handle rows, nb::handle columns, int64_t count, nb::handle eps) {
    const eager::NoGrad scope;
    const nb::object product = entry_of(functions, "mv"), turned = matrix.attr("t")();
    for (int64_t i = 0; i < count; ++i) {
        columns.attr("copy_")(unit_of(neural, nb::object(product(turned, rows)), eps));
        rows.attr("copy_")(unit_of(neural, nb::object(product(matrix, columns)), eps));
    }
}

// Which dimension of a weight the rows of its matrix are, unless it is said.
int64_t dimension_of_rows(nb::handle module, nb::handle given) {
    if (!given.is_none()) return integer_from(given);
    const std::string kind = nb::str(nb::object(module.type().attr("__name__"))).c_str();
    return kind.starts_with("ConvTranspose") ? 1 : 0;
}

void check_count_of_iterations(nb::handle count) {
    user_check(
        integer_from(count) > 0,
        "Expected n_power_iterations to be positive, but got n_power_iterations=", Said{count});
}

// ----- orthogonal weights

// The map of an orthogonal weight, as given or the default of its shape and dtype.
std::string orthogonal_map(nb::handle module, const std::string& name, nb::handle weight,
                           nb::handle given) {
    user_check(is_tensor_of_torch(weight), "Module '", Said{module},
               "' has no parameter or buffer with name '", name, "'");
    const ir::TensorType type = type_seen(weight);
    const size_t rank = type.shape.size();
    user_check(rank >= 2, "Expected a matrix or batch of matrices. Got a tensor of ", rank,
               " dimensions.");
    std::string map = "householder";
    if (!given.is_none())
        map = nb::str(given).c_str();
    else if (type.shape[rank - 2] == type.shape[rank - 1] || ir::is_complex(type.dtype))
        map = "matrix_exp";
    const bool is_known = map == "matrix_exp" || map == "cayley" || map == "householder";
    user_check(
        is_known,
        "orthogonal_map has to be one of \"matrix_exp\", \"cayley\", \"householder\". Got: ", map);
    user_check(map != "householder" || !ir::is_complex(type.dtype),
               "The householder parametrization does not support complex tensors.");
    return map;
}

bool is_orthogonal(const nb::dict& functions, nb::handle q, double precision) {
    const ir::TensorType type = type_seen(q);
    const size_t rank = type.shape.size();
    const double eps = 10.0 * static_cast<double>(type.shape[rank - 2]) * precision;
    const nb::object one =
        entry_of(functions, "eye")(type.shape[rank - 1], nb::arg("dtype") = q.attr("dtype"),
                                   nb::arg("device") = q.attr("device"));
    const nb::object product = nb::object(q.attr("mH")).attr("__matmul__")(q);
    return truth_of(
        nb::object(entry_of(functions, "allclose")(product, one, nb::arg("atol") = eps)));
}

// The orthogonal matrix that a base begins with: the given one, nearest to it, or with drawn
// columns beside it.
nb::object base_of(const nb::dict& functions, nb::handle nearest, nb::handle tall,
                   double precision) {
    const ir::Shape shape = type_seen(tall).shape;
    const int64_t rows = shape[shape.size() - 2], columns = shape.back();
    if (rows == columns) {
        if (is_orthogonal(functions, tall, precision)) return tall.attr("clone")();
        return nearest(tall);
    }
    nb::list lengths;
    for (size_t i = 0; i + 2 < shape.size(); ++i) lengths.append(shape[i]);
    lengths.append(rows);
    lengths.append(rows - columns);
    const nb::object rest =
        entry_of(functions, "randn")(nb::tuple(lengths), nb::arg("dtype") = tall.attr("dtype"),
                                     nb::arg("device") = tall.attr("device"));
    nb::list both;
    both.append(tall);
    both.append(rest);
    return nearest(nb::object(entry_of(functions, "cat")(both, -1)));
}

}  // namespace

void bind_module_norms(nb::module_& module) {
    module.def("weight_to_be_normalised", weight_to_be_normalised, nb::arg("module"),
               nb::arg("kind"), nb::arg("name"), nb::arg("called"));
    module.def("without_norm", without_norm, nb::arg("module"), nb::arg("kind"), nb::arg("name"),
               nb::arg("called"));
    module.def("drop_tensors", drop_tensors, nb::arg("module"), nb::arg("weight"),
               nb::arg("names"));
    module.def("iterate_power", iterate_power, nb::arg("functions"), nb::arg("neural"),
               nb::arg("matrix"), nb::arg("rows"), nb::arg("columns"), nb::arg("count"),
               nb::arg("eps"));
    module.def("dimension_of_rows", dimension_of_rows, nb::arg("module"), nb::arg("given").none());
    module.def("check_count_of_iterations", check_count_of_iterations, nb::arg("count"));
    module.def("orthogonal_map", orthogonal_map, nb::arg("module"), nb::arg("name"),
               nb::arg("weight").none(), nb::arg("given").none());
    module.def("orthogonal_base", base_of, nb::arg("functions"), nb::arg("nearest"),
               nb::arg("tall"), nb::arg("precision"));
}

}  // namespace composit::python
