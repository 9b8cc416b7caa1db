// Dtypes, elementwise functions, rows of numbers and reductions: composit/aten/dtypes.h,
// pointwise.h, creation.h, reductions.h, statistics.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/creation.h"
#include "composit/aten/dtypes.h"
#include "composit/aten/pointwise.h"
#include "composit/aten/products.h"
#include "composit/aten/reductions.h"
#include "composit/aten/statistics.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/literal.h"
#include "composit/ops/ops.h"
#include "content.h"
#include "flags.h"
#include "location.h"

#include <nanobind/stl/pair.h>

#include <cmath>
#include <complex>

namespace composit::python {
namespace {

using numpy::Axis;

// What decides a dtype: tensors as they are, of anything else the kind of number that it is.
std::vector<Tensor> kinds_of(const nb::args& operands) {
    std::vector<Tensor> made;
    for (nb::handle x : operands) {
        if (is_tensor(x))
            made.push_back(content_of<LazyTensor>(x).tensor());
        else if (PyBool_Check(x.ptr()))
            made.push_back(ir::weak_scalar(false));
        else if (PyIndex_Check(x.ptr()))
            made.push_back(ir::weak_scalar(int64_t{0}));
        else if (PyComplex_Check(x.ptr()))
            made.push_back(ir::weak_scalar(std::complex<double>()));
        else
            made.push_back(ir::weak_scalar(0.0));
    }
    return made;
}

// A number of Python's as a float; what is too large for a dtype without infinity as its greatest.
PyObject* number_within(nb::handle x, ir::DType dtype) {
    PyObject* const number = PyNumber_Float(x.ptr());
    if (!number || ir::float_format(dtype).has_infinity) return number;
    const double value = nb::cast<double>(nb::steal(number));
    return PyFloat_FromDouble(*numpy::literal(aten::cast(ir::weak_scalar(value), dtype)));
}

// A tensor in the dtype, laid out as it is; a number of Python's as one of the dtype's kind.
nb::object casted(nb::handle x, ir::DType dtype) {
    if (is_tensor(x)) {
        const Tensor& given = content_of<LazyTensor>(x).tensor();
        if (given.dtype() == dtype) return nb::borrow(x);
        PyObject* const operands[] = {x.ptr()};
        return wrap_elementwise(aten::converted(given, dtype), operands, 1);
    }
    user_check<RuntimeError>(
        !PyComplex_Check(x.ptr()) || ir::is_complex(dtype) || PyComplex_ImagAsDouble(x.ptr()) == 0,
        "value cannot be converted to type ", ir::cpp_type_name(dtype), " without overflow");
    PyObject* made = nullptr;
    if (PyComplex_Check(x.ptr()) && !ir::is_complex(dtype))
        return casted(nb::float_(PyComplex_RealAsDouble(x.ptr())), dtype);
    if (ir::is_complex(dtype))
        made = PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyComplex_Type), x.ptr());
    else if (ir::is_floating(dtype))
        made = number_within(x, dtype);
    else if (dtype == ir::DType::boolean)
        made = PyBool_FromLong(truth_of(x));
    else
        made = PyNumber_Long(x.ptr());
    if (!made) throw nb::python_error();
    return nb::steal(made);
}

// The operands in one dtype; the first becomes a tensor where none is one.
nb::list in_dtype(const nb::args& operands, ir::DType dtype) {
    nb::list made;
    bool is_any_tensor = false;
    for (nb::handle x : operands) {
        made.append(casted(x, dtype));
        is_any_tensor = is_any_tensor || is_tensor(x);
    }
    if (!is_any_tensor && nb::len(made) > 0)
        made[0] = wrap_array(ops::astype(tensor_from(nb::object(made[0])), dtype));
    return made;
}

// NumPy's array in the dtype. What is too large for one without infinity becomes its greatest
// number.
nb::object converted_array(nb::object array, ir::DType dtype) {
    if (ir::is_floating(dtype) && !ir::float_format(dtype).has_infinity) {
        const double most = ir::float_format(dtype).greatest();
        const nb::object wide = array.attr("real").attr("astype")("float64");
        array = numpy_attribute("clip")(wide, -most, most);
    }
    return array.attr("astype")(dtype_object(dtype));
}

// The product of what has one dtype. That of most dtypes is NumPy's, which follows traces.
nb::object product(nb::handle x, nb::handle y) {
    static const auto* const multiply =  // lives for ever
        new nb::object(nb::module_::import_("composit.numpy").attr("multiply"));
    const bool are_tensors = is_tensor(x) && is_tensor(y);
    const ir::DType dtype =
        are_tensors ? content_of<LazyTensor>(x).type().dtype : ir::DType::float32;
    if (!ir::is_floating(dtype) || ir::float_format(dtype).has_infinity) return (*multiply)(x, y);
    PyObject* const operands[] = {x.ptr(), y.ptr()};
    return wrap_elementwise(
        aten::product(content_of<LazyTensor>(x).tensor(), content_of<LazyTensor>(y).tensor()),
        operands, 2);
}

void bind_dtypes(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("set_default_dtype", &aten::set_default_dtype);
    module.def(
        "result_dtype",
        [](const nb::args& operands) { return aten::result_dtype(kinds_of(operands)); }, located);
    module.def("cast", &casted, located);
    module.def("converted", &casted, located);
    module.def("converted_array", converted_array, nb::arg("array"), nb::arg("dtype"));
    module.def("product", product, located);
    module.def(
        "together",
        [](const nb::args& operands) {
            return in_dtype(operands, aten::result_dtype(kinds_of(operands)));
        },
        located);
    module.def(
        "together_as_floats",
        [](const nb::args& operands) {
            const ir::DType dtype = aten::result_dtype(kinds_of(operands));
            return in_dtype(operands, ir::is_inexact(dtype) ? dtype : aten::default_dtype());
        },
        located);
    module.def(
        "floating",
        [](nb::handle x) {
            const ir::DType dtype = self_of(x).tensor().dtype();
            return casted(x, ir::is_inexact(dtype) ? dtype : aten::default_dtype());
        },
        located);
}

// Results lie in memory as their operands do.
void bind_pointwise(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto laid = [](const Tensor& made, const std::vector<nb::handle>& given) {
        std::vector<PyObject*> operands;
        for (nb::handle x : given)
            if (x.is_valid() && !x.is_none()) operands.push_back(x.ptr());
        return wrap_elementwise(made, operands.data(), operands.size());
    };
    const auto operand = [](nb::handle x) {
        return x.is_none() ? numpy::Operand() : numpy::Operand(tensor_from(x));
    };
    module.def(
        "div",
        [=](nb::handle x, nb::handle y, const std::optional<std::string>& rounding_mode) {
            return laid(aten::div(operand(x), operand(y), rounding_mode.value_or("")), {x, y});
        },
        nb::arg(), nb::arg(), nb::arg("rounding_mode") = nb::none(), located);
    module.def(
        "prelu",
        [=](nb::handle x, nb::handle weight) {
            return laid(aten::prelu(tensor_from(x), tensor_from(weight)), {x});
        },
        located);
    module.def(
        "xlogy",
        [=](nb::handle x, nb::handle y) {
            return laid(aten::xlogy(operand(x), operand(y)), {x, y});
        },
        located);
}

// Rows of numbers; integers where all are.
void bind_creation(nb::module_& module) {
    module.def("arange", [](nb::handle start, nb::handle end, nb::handle step, ir::DType dtype) {
        if (PyLong_Check(start.ptr()) && PyLong_Check(end.ptr()) && PyLong_Check(step.ptr()))
            return aten::arange(integer_from(start), integer_from(end), integer_from(step), dtype);
        const double first = number_from(start), last = number_from(end), by = number_from(step);
        const bool is_whole = ir::is_integer(dtype) && std::isfinite(first) &&
                              std::isfinite(last) && std::isfinite(by);
        if (!is_whole) return aten::arange(first, last, by, dtype);
        return aten::arange(static_cast<int64_t>(first), static_cast<int64_t>(last),
                            static_cast<int64_t>(by), dtype);  // counted in integers
    });
    module.def("range", &aten::range);
    module.def("linspace", &aten::linspace);
}

void bind_statistics(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "mode",
        [](const Tensor& x, int64_t dim, TruthFlag keepdim) { return aten::mode(x, dim, keepdim); },
        located);
    module.def(
        "nanmedian",
        [](const Tensor& x, std::optional<int64_t> dim, TruthFlag keepdim) {
            return aten::nanmedian(x, dim, keepdim);
        },
        nb::arg(), nb::arg().none(), nb::arg(), located);
    module.def("histc", &aten::histc, located);
    module.def("unravel_index", &aten::unravel_index, located);
    module.def("grouped_product", &aten::grouped_product, located);
    module.def("renorm", &aten::renorm, located);
}

}  // namespace

void bind_aten_reductions(nb::module_& module) {
    const nb::call_guard<Located> located;
    bind_dtypes(module);
    bind_statistics(module);
    bind_pointwise(module);
    bind_creation(module);
    module.def("check_not_empty", &aten::check_not_empty, nb::arg(), nb::arg(), nb::arg().none());
    module.def("summable", &aten::summable, nb::arg(), nb::arg().none(), located);
    module.def(
        "picked",
        [](const Tensor& x, const Tensor& indices, int64_t dim, TruthFlag keepdim) {
            return aten::picked(x, indices, dim, keepdim);
        },
        located);
    module.def(
        "logsumexp",
        [](const Tensor& x, const Axis& dim, TruthFlag keepdim) {
            return aten::logsumexp(x, dim, keepdim);
        },
        nb::arg(), nb::arg("dim").none(), nb::arg("keepdim") = false, located);
    module.def("logaddexp", &aten::logaddexp, located);
    module.def("logcumsumexp", &aten::logcumsumexp, located);
    module.def("root", &aten::root, located);
    module.def(
        "vector_norm",
        [](const Tensor& x, double ord, const Axis& dim, TruthFlag keepdim) {
            return aten::vector_norm(x, ord, dim, keepdim);
        },
        nb::arg(), nb::arg("ord") = 2.0, nb::arg("dim") = nb::none(), nb::arg("keepdim") = false,
        located);
    module.def(
        "power_root",
        [](const Tensor& size, double p, const Axis& dim, TruthFlag keepdim) {
            return aten::power_root(size, p, dim, keepdim);
        },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg("keepdim") = false, located);
    module.def("norm_except_dim", &aten::norm_except_dim, located);
    module.def("running_maximum", &aten::running_maximum, located);
    module.def("running_minimum", &aten::running_minimum, located);
}

}  // namespace composit::python
