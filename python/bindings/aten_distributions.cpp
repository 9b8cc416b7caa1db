// Formulas of composit/aten/distributions.h and transforms.h over tensors of composit.torch: each
// operation is the function that composit.torch has under its name, and is recorded by it.
#include "aten.h"
#include "casters.h"
#include "composit/aten/distributions.h"
#include "composit/aten/transforms.h"
#include "composit/base/error.h"
#include "flags.h"
#include "provided.h"
#include "shown.h"
#include "torch_objects.h"
#include "torch_values.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using aten::Formula;
using aten::Parameters;
using aten::formulas::Value;

// An object's attributes; methods are called.
class Attributes : public Parameters {
  public:
    explicit Attributes(nb::handle of) : of_(of) {}
    Value operator()(std::string_view name) const override {
        nb::object found = nb::steal(PyObject_GetAttr(of_.ptr(), name_of_literal(name)));
        if (!found.is_valid()) throw nb::python_error();
        if (!is_tensor_of_torch(found) && PyCallable_Check(found.ptr())) found = found();
        return value_of(std::move(found));
    }

  private:
    nb::handle of_;
};

PyObject* call_formula(PyObject* self, PyObject* const* given, Py_ssize_t count) {
    return guarded([&]() -> PyObject* {
        user_check<TypeError>(count > 0, "a formula needs the object whose parameters it reads.");
        const auto formula = reinterpret_cast<Formula>(PyCapsule_GetPointer(self, nullptr));
        const Attributes of(given[0]);
        if (count == 1) return object_of(formula(of, {})).release().ptr();
        if (count == 2) {
            const std::array<Value, 1> values{value_of(nb::borrow(given[1]))};
            return object_of(formula(of, values)).release().ptr();
        }
        std::vector<Value> values;
        for (Py_ssize_t i = 1; i < count; ++i) values.push_back(value_of(nb::borrow(given[i])));
        return object_of(formula(of, values)).release().ptr();
    });
}

// A function of an object and of what is given beside it; None for no formula.
nb::object bound(Formula formula) {
    static PyMethodDef method = {
        "formula", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&call_formula)),
        METH_FASTCALL, "A formula of an object's attributes and of tensors."};
    if (!formula) return nb::none();
    const nb::object self =
        nb::steal(PyCapsule_New(reinterpret_cast<void*>(formula), nullptr, nullptr));
    return nb::steal(PyCFunction_New(&method, self.ptr()));
}

// Numbers and tensors as tensors of one shape: numbers are of the first tensor's dtype and device,
// or of the default dtype.
nb::object broadcast_all(nb::tuple values) {
    nb::object first = nb::none();
    const nb::object number = nb::module_::import_("numbers").attr("Number");
    for (nb::handle value : values) {
        const bool is_tensor = is_tensor_of_torch(value);
        user_check(is_tensor || nb::isinstance(value, number),
                   "broadcast_all: Input arguments must all be instances of Number, torch.Tensor "
                   "or objects implementing __torch_function__. A ",
                   KindOf{value}, " is given.");
        if (is_tensor && first.is_none()) first = nb::borrow(value);
    }
    if (nb::len(values) == 1 && !first.is_none()) return values;
    nb::object operations = provided("torch_operations");
    nb::list made;
    for (nb::handle value : values) {
        if (is_tensor_of_torch(value))
            made.append(value);
        else
            made.append(operations["number_like"](value, first));
    }
    return operations["broadcast_tensors"](*made);
}

void check_sample(nb::handle value, const ir::Shape& batch, const ir::Shape& event) {
    user_check(is_tensor_of_torch(value), "The value argument to log_prob must be a Tensor");
    aten::check_sample_shape(type_seen(value).shape, batch, event);
}

// Whether an attribute of a class is one that is made when it is asked for.
bool is_made_later(nb::handle kind, nb::handle name, nb::handle of) {
    for (nb::handle cls : nb::object(kind.attr("__mro__"))) {
        const nb::object members = cls.attr("__dict__");
        if (PySequence_Contains(members.ptr(), name.ptr()) != 1) continue;
        return nb::isinstance(nb::object(members[name]), of);
    }
    return false;
}

// ValueError for a parameter of a distribution that its constraint refuses.
void check_parameters(nb::handle distribution, nb::handle is_dependent, nb::handle lazy_property) {
    struct Checked {
        nb::object name, constraint, value, is_valid;
    };
    std::vector<Checked> all;
    const nb::object constraints = distribution.attr("arg_constraints");
    const nb::object own = distribution.attr("__dict__");
    for (nb::handle pair : nb::list(nb::object(constraints.attr("items")()))) {
        const nb::object name = pair[0], constraint = pair[1];
        if (nb::cast<bool>(nb::object(is_dependent(constraint)))) continue;
        if (PySequence_Contains(own.ptr(), name.ptr()) != 1 &&
            is_made_later(distribution.type(), name, lazy_property))
            continue;
        const nb::object value = nb::getattr(distribution, name);
        all.push_back({name, constraint, value, constraint.attr("check")(value).attr("all")()});
    }
    for (const Checked& one : all)
        user_check<ValueError>(
            truth_of(one.is_valid), "Expected parameter ", Said{one.name}, " (", KindOf{one.value},
            " of shape ", Said{nb::tuple(nb::object(one.value.attr("shape")))},
            ") of distribution ", Shown{distribution}, " to satisfy the constraint ",
            Shown{one.constraint}, ", but found invalid values:\n", Said{one.value});
}

}  // namespace

void bind_aten_distributions(nb::module_& module) {
    module.def("distribution_formula", [](std::string_view family, std::string_view asked) {
        return bound(aten::distribution_formula(family, asked));
    });
    module.def("transform_formula", [](std::string_view transform, std::string_view asked) {
        return bound(aten::transform_formula(transform, asked));
    });
    module.def("distribution_quantities", &aten::distribution_quantities);
    const auto form = [&](const char* name, auto function) {
        module.def(name, [function](const ir::Shape& other, const aten::MatrixShapes& matrices) {
            const aten::MatrixForm found = function(other, matrices);
            return nb::make_tuple(found.number, tuple_from(found.batch));
        });
    };
    form("normal_form", aten::normal_form);
    form("wishart_form", aten::wishart_form);
    module.def("low_rank_batch",
               [](const ir::Shape& loc, const ir::Shape& cov_factor, const ir::Shape& cov_diag) {
                   return tuple_from(aten::low_rank_batch(loc, cov_factor, cov_diag));
               });
    module.def("check_sample_shape", &aten::check_sample_shape);
    module.def("check_sample", check_sample);
    module.def("broadcast_all", broadcast_all);
    module.def("composed_event_dims", &aten::composed_event_dims);
    module.def("reshaped_event", &aten::reshaped_event);
    module.def("check_parameters", check_parameters, nb::arg("distribution"),
               nb::arg("is_dependent"), nb::arg("lazy_property"));
    module.def("matrices_of_below", &aten::matrices_of_below);
    module.def("below_of_matrices", &aten::below_of_matrices);
    module.def("check_mixture", &aten::check_mixture);
    module.def("check_transformed", &aten::check_transformed);
    module.def("check_reinterpreted", &aten::check_reinterpreted);
    // (batch, event, the base's batch or None, how many dimensions become part of the event)
    module.def("transformed_form",
               [](const ir::Shape& base, int64_t base_event, int64_t domain, int64_t codomain,
                  const ir::Shape& forward, const ir::Shape& back) {
                   const aten::TransformedForm found =
                       aten::transformed_form(base, base_event, domain, codomain, forward, back);
                   const nb::object batch =
                       found.base_batch ? nb::object(tuple_from(*found.base_batch)) : nb::none();
                   return nb::make_tuple(tuple_from(found.batch), tuple_from(found.event), batch,
                                         found.independent);
               });
    module.def("divergence_pairs", &aten::divergence_pairs);
    module.def("divergence_formula", [](std::string_view p, std::string_view q) -> nb::object {
        const aten::Divergence formula = aten::divergence_formula(p, q);
        if (!formula) return nb::none();
        return nb::cpp_function([formula](nb::handle of_p, nb::handle of_q) {
            return object_of(formula(Attributes(of_p), Attributes(of_q)));
        });
    });
}

}  // namespace composit::python
