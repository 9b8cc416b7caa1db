// composit/random/*.h, into module composit._core.random.
#include "random.h"

#include "casters.h"
#include "composit/random/distributions.h"
#include "location.h"

namespace composit::python {

using ir::DType;
using ir::Shape;
using numpy::Operand;
using MaybeShape = std::optional<Shape>;

void bind_random(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("key", nb::overload_cast<uint64_t>(&random::key), located);
    module.def("split", &random::split, located);
    module.def("fold_in", &random::fold_in, located);
    module.def("bits", &random::bits, located);
    module.def(
        "uniform",
        [](const Tensor& key, const Shape& shape, DType dtype, const MaybeOperand& minval,
           const MaybeOperand& maxval) {
            return random::uniform(key, shape, dtype, minval, maxval);
        },
        located);
    const auto plain = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& key, const Shape& shape, DType dtype) {
                return function(key, shape, dtype);
            },
            located);
    };
    plain("normal", random::normal);
    plain("exponential", random::exponential);
    plain("laplace", random::laplace);
    plain("logistic", random::logistic);
    plain("gumbel", random::gumbel);
    plain("rademacher", random::rademacher);
    module.def("truncated_normal", &random::truncated_normal, located);
    module.def(
        "bernoulli",
        [](const Tensor& key, const Operand& p, const MaybeShape& shape) {
            return random::bernoulli(key, p, shape);
        },
        nb::arg(), nb::arg(), nb::arg().none(), located);
    module.def("gamma", &random::gamma, located);
    module.def("gamma_slope", &random::gamma_slope, located);
    module.def("randint", &random::randint, located);
    module.def("categorical", &random::categorical, located);
}

}  // namespace composit::python
