// composit/cg/*.h, into module composit._core.cg.
#include "bindings.h"
#include "casters.h"
#include "composit/cg/jacobians.h"
#include "composit/cg/logspace.h"
#include "location.h"

namespace composit::python {
namespace {

using Tensors = std::vector<Tensor>;

std::shared_ptr<const ir::Body> body(const std::string& name, const Tensors& parameters,
                                     const Tensors& results) {
    return std::make_shared<const ir::Body>(ir::Body{name, parameters, results});
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
    module.def("refuse_gradient", &cg::refuse_gradient, "x"_a, "message"_a, located);
}

}  // namespace composit::python
