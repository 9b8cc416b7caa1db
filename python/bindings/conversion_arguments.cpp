// Each form of Tensor.to is a row of parameters, which take what PyTorch's parser takes.
#include "conversion_arguments.h"

#include "exact_errors.h"
#include "provided.h"
#include "shown.h"
#include "torch_objects.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace composit::python {
namespace {

using Form = std::vector<std::string_view>;

bool is_given_dtype(nb::handle value) { return nb::isinstance(value, provided("torch_dtype")); }

bool is_given_device(nb::handle value) {
    PyObject* const object = value.ptr();
    return PyUnicode_Check(object) || (PyLong_Check(object) && !PyBool_Check(object)) ||
           nb::isinstance(value, provided("torch_device"));
}

bool takes(std::string_view parameter, nb::handle value, bool may_be_none) {
    if (parameter == "tensor") return is_tensor_of_torch(value);
    if (parameter == "non_blocking" || parameter == "copy") return PyBool_Check(value.ptr());
    if (parameter == "memory_format" || (value.is_none() && may_be_none)) return true;
    return parameter == "dtype" ? is_given_dtype(value) : is_given_device(value);
}

// What parameters are given, by name; not valid where the arguments are none of this form.
nb::object read_as(const Form& form, const nb::tuple& args, const nb::dict& kwargs) {
    const bool may_be_none = form[0] == "device";
    nb::dict given;
    if (nb::len(args) > form.size()) return {};
    for (size_t i = 0; i < nb::len(args); ++i) {
        if (!takes(form[i], args[i], may_be_none)) return {};
        given[nb::str(form[i].data(), form[i].size())] = args[i];
    }
    for (const auto& [key, value] : kwargs) {
        const std::string name = nb::str(key).c_str();
        bool is_known = name == "memory_format";
        for (const std::string_view each : form) is_known = is_known || each == name;
        if (!is_known || given.contains(key) || !takes(name, value, may_be_none)) return {};
        given[key] = value;
    }
    const bool has_first = given.contains(nb::str(form[0].data(), form[0].size()));
    return may_be_none || has_first ? nb::object(given) : nb::object();
}

// The type as PyTorch's parser calls it.
std::string type_of_argument(nb::handle value) {
    if (is_given_dtype(value)) return "torch.dtype";
    if (nb::isinstance(value, provided("torch_device"))) return "torch.device";
    return composit::text(KindOf{value});
}

[[noreturn]] void refuse_conversion(const nb::tuple& args, const nb::dict& kwargs) {
    std::vector<std::string> types;
    for (nb::handle value : args) types.push_back(type_of_argument(value));
    std::map<std::string, std::string> named;
    for (const auto& [key, value] : kwargs)
        named.emplace(nb::str(key).c_str(), type_of_argument(value));
    for (const auto& [name, type] : named) types.push_back(name + "=" + type);
    exact_check(PyExc_TypeError, false, "to() received an invalid combination of arguments - got (",
                join(types), nb::len(args) == 0 ? ", " : "", "), but expected one of:\n",
                " * (device, dtype, non_blocking, copy, *, memory_format)\n"
                " * (dtype, non_blocking, copy, *, memory_format)\n"
                " * (tensor, non_blocking, copy, *, memory_format)");
    throw nb::python_error();
}

}  // namespace

ConversionWanted read_conversion(const nb::tuple& args, const nb::dict& kwargs) {
    static const std::vector<Form> forms{{"dtype", "non_blocking", "copy"},
                                         {"tensor", "non_blocking", "copy"},
                                         {"device", "dtype", "non_blocking", "copy"}};
    for (const Form& form : forms) {
        const nb::object read = read_as(form, args, kwargs);
        if (!read.is_valid()) continue;
        const nb::dict given = nb::borrow<nb::dict>(read);
        ConversionWanted wanted{given.get("dtype", nb::none()), given.get("device", nb::none()),
                                given.get("copy", nb::none()).is(nb::handle(Py_True))};
        if (const nb::object tensor = given.get("tensor", nb::none()); !tensor.is_none()) {
            wanted.dtype = tensor.attr("dtype");
            wanted.device = provided("torch_place_of")(tensor);
        }
        return wanted;
    }
    refuse_conversion(args, kwargs);
}

}  // namespace composit::python
