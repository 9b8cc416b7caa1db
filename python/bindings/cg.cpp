// composit/cg/*.h, into module composit._core.cg.
#include "bindings.h"
#include "casters.h"
#include "composit/cg/call_arguments.h"
#include "composit/cg/jacobians.h"
#include "composit/cg/logspace.h"
#include "composit/cg/numbers.h"
#include "composit/cg/picture.h"
#include "location.h"
#include "node.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

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

// The kind of what is given ("" for operations), name, value, whether it is a result, places of the
// modules' calls around it, places of its children.
using PictureRow = std::tuple<std::string, std::string, std::string, bool, std::vector<size_t>,
                              std::vector<size_t>>;

nb::tuple picture_of_rows(const std::vector<PictureRow>& rows,
                          const std::vector<std::string>& modules) {
    using Kind = cg::PictureNode::Kind;
    std::vector<cg::PictureNode> nodes;
    for (const auto& [kind, name, value, is_result, calls, children] : rows)
        nodes.push_back({kind.empty()          ? Kind::operation
                         : kind == "variable"  ? Kind::variable
                         : kind == "parameter" ? Kind::parameter
                                               : Kind::constant,
                         name, value, is_result, calls, children});
    const ir::Picture picture = cg::picture_of(nodes, modules);
    nb::list edges;
    for (const ir::PictureEdge& edge : picture.edges)
        edges.append(nb::make_tuple(edge.source, edge.sink));
    return nb::make_tuple(items_of_picture(picture.items), edges);
}

// The value of each input, and the surplus of those in order.
nb::tuple values_for(nb::handle function, const nb::tuple& values, const nb::dict& named) {
    std::vector<std::string> inputs, names;
    for (const nb::handle input : nb::object(function.attr("inputs")))
        inputs.push_back(nb::cast<std::string>(input.attr("short_name")));
    nb::list given(values);
    for (const auto& [name, value] : named) {
        names.push_back(nb::cast<std::string>(name));
        given.append(value);
    }
    nb::list taken;
    for (const size_t place :
         cg::places_of_values(nb::cast<std::string>(function.attr("functional_name")), inputs,
                              nb::len(values), names))
        taken.append(given[place]);
    nb::list surplus;
    for (size_t i = inputs.size(); i < nb::len(values); ++i) surplus.append(values[i]);
    return nb::make_tuple(nb::tuple(taken), surplus);
}

void bind_calls_of_modules(nb::module_& module) {
    module.def("picture", &picture_of_rows, nb::arg("rows"), nb::arg("modules"));
    module.def("values_for", &values_for, nb::arg("function"), nb::arg("values"), nb::arg("named"));
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
    bind_calls_of_modules(module);
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
