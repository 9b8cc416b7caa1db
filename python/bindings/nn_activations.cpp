// Activations of composit/nn, into module composit._core.nn.
#include "casters.h"
#include "composit/nn/activations.h"
#include "composit/nn/operations.h"
#include "location.h"
#include "nn.h"

namespace composit::python {

void bind_nn_activations(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto of_one = [&](const char* name, Tensor (*function)(const Tensor&)) {
        module.def(name, function, located);
    };
    of_one("relu", nn::relu);
    of_one("sigmoid", nn::sigmoid);
    of_one("silu", nn::silu);
    of_one("tanh", nn::tanh);
    of_one("relu6", nn::relu6);
    of_one("selu", nn::selu);
    of_one("mish", nn::mish);
    of_one("hardsigmoid", nn::hardsigmoid);
    of_one("hardswish", nn::hardswish);
    of_one("softsign", nn::softsign);
    of_one("tanhshrink", nn::tanhshrink);
    of_one("logsigmoid", nn::logsigmoid);
    const auto with_number = [&](const char* name, Tensor (*function)(const Tensor&, double)) {
        module.def(name, function, located);
    };
    with_number("leaky_relu", nn::leaky_relu);
    with_number("elu", nn::elu);
    with_number("celu", nn::celu);
    with_number("softshrink", nn::softshrink);
    with_number("hardshrink", nn::hardshrink);
    const auto with_two = [&](const char* name, Tensor (*function)(const Tensor&, double, double)) {
        module.def(name, function, located);
    };
    with_two("hardtanh", nn::hardtanh);
    with_two("softplus", nn::softplus);
    with_two("threshold", nn::threshold);
    module.def("prelu", &nn::prelu, located);
    module.def("glu", &nn::glu, located);
    module.def(
        "gelu",
        [](const Tensor& x, const std::string& approximate) { return nn::gelu(x, approximate); },
        located);
    module.def(
        "rrelu",
        [](const Tensor& x, double lower, double upper, const MaybeOperand& key) {
            return nn::rrelu(x, lower, upper, key);
        },
        located);
}

}  // namespace composit::python
