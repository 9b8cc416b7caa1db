// composit/cg/*.h, into module composit._core.cg.
#include "bindings.h"
#include "casters.h"
#include "composit/cg/jacobians.h"
#include "composit/cg/logspace.h"
#include "composit/cg/numbers.h"
#include "location.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>

namespace composit::python {
namespace {

using Tensors = std::vector<Tensor>;

std::shared_ptr<const ir::Body> body(const std::string& name, const Tensors& parameters,
                                     const Tensors& results) {
    return std::make_shared<const ir::Body>(ir::Body{name, parameters, results});
}

// What a Python function refuses operands with: composit tries others, or gives it back.
class Refusal : public TypeError {
  public:
    explicit Refusal(const nb::python_error& error) : TypeError(error.what()), error_(error) {}
    [[noreturn]] void give_back() const { throw nb::python_error(error_); }

  private:
    nb::python_error error_;
};

cg::OfTensors computing(nb::callable function) {
    return [function = std::move(function)](const Tensors& tensors) {
        try {
            return tensor_from(function(tensors));
        } catch (nb::python_error& error) {
            for (PyObject* kind :
                 {PyExc_TypeError, PyExc_ValueError, PyExc_IndexError, PyExc_NotImplementedError})
                if (error.matches(kind)) throw Refusal(error);
            throw;
        }
    };
}

template <class Make>
auto with_pythons_errors(const Make& make) {
    try {
        return make();
    } catch (const Refusal& refusal) {
        refusal.give_back();
    }
}

void bind_numbers(nb::module_& module) {
    using namespace nb::literals;
    const nb::call_guard<Located> located;
    module.def(
        "applied_to_numbers",
        [](nb::callable compute, const Tensors& tensors, const std::vector<bool>& are_numbers,
           std::optional<size_t> promoted) {
            return with_pythons_errors([&] {
                cg::Applied applied = cg::applied_to_numbers(computing(std::move(compute)), tensors,
                                                             are_numbers, promoted);
                return std::pair(applied.made, applied.operands);
            });
        },
        "compute"_a, "tensors"_a, "are_numbers"_a, "promoted"_a.none(), located);
    module.def("strong_operands", &cg::strong_operands, "tensors"_a, located);
    module.def(
        "as_numbers",
        [](nb::callable compute, const Tensors& tensors, const std::vector<bool>& are_free) {
            return with_pythons_errors(
                [&] { return cg::as_numbers(computing(std::move(compute)), tensors, are_free); });
        },
        "compute"_a, "tensors"_a, "are_free"_a = std::vector<bool>(), located);
    module.def("apart_from", &cg::apart_from, "tensors"_a, "are_known"_a = std::vector<bool>(),
               located);
    module.def("are_reached", &cg::are_reached, "made"_a, "ends"_a);
    module.def(
        "jacobian_at",
        [](nb::callable compute, const Tensors& given, size_t place, const std::string& function,
           const std::string& name, const std::vector<bool>& are_known) {
            return with_pythons_errors([&] {
                return cg::jacobian_at(computing(std::move(compute)), given, place, function, name,
                                       are_known);
            });
        },
        "compute"_a, "given"_a, "place"_a, "function"_a, "name"_a,
        "are_known"_a = std::vector<bool>(), located);
    module.def("check_differentiable", &cg::check_differentiable, "function"_a, "name"_a, "x"_a,
               "result"_a, located);
}

}  // namespace

void bind_cg(nb::module_& module) {
    using namespace nb::literals;
    const nb::call_guard<Located> located;
    cg::register_operations();
    module.def("jacobians", &cg::jacobians, "output"_a, "inputs"_a, located);
    module.def("pulled", &cg::pulled, "function"_a, "input"_a, "cotangent"_a, "local"_a, "x"_a,
               located);
    module.def("logspace", &cg::logspace, "outputs"_a, located);
    module.def(
        "call_with_pullback",
        [](const std::string& name, const Tensors& parameters, const Tensors& results,
           const Tensors& cotangents, const Tensors& gradients, const Tensors& arguments) {
            Tensors of_pullback = parameters;
            of_pullback.insert(of_pullback.end(), cotangents.begin(), cotangents.end());
            return cg::call_with_pullback(body(name, parameters, results),
                                          body(name + "_back", of_pullback, gradients), arguments);
        },
        "name"_a, "parameters"_a, "results"_a, "cotangents"_a, "gradients"_a, "arguments"_a,
        located);
    module.def("with_pullback", &cg::with_pullback, "name"_a, "inputs"_a, "values"_a,
               "cotangents"_a, "gradients"_a, located);
    bind_numbers(module);
    module.def("refuse_gradient", &cg::refuse_gradient, "x"_a, "message"_a, located);
}

}  // namespace composit::python
