// composit/ops/ops.h: the tensor primitives themselves, and calls of named bodies.
#include "composit/ops/ops.h"

#include "bindings.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "location.h"

namespace composit::python {
namespace {

using Integers = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

ops::Combiner combiner_from(const std::string& name) {
    for (int i = 0; i < 8; ++i) {
        const auto combiner = static_cast<ops::Combiner>(i);
        if (ir::kernel::name(combiner) == name) return combiner;
    }
    fail<KeyError>("combiner '", name, "' does not exist. One of sum, product, maximum, minimum, ",
                   "any, all, argmax, argmin is required.");
}

Tensors called(const std::string& name, const Tensors& parameters, const Tensors& results,
               const Tensors& arguments) {
    auto body = std::make_shared<ir::Body>(ir::Body{name, parameters, results});
    return ops::call(std::move(body), arguments);
}

void bind_layout(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("reshape", &ops::reshape, located);
    module.def("transpose", &ops::transpose, located);
    module.def("broadcast_to", &ops::broadcast_to, located);
    module.def("slice", &ops::slice, located);
    module.def("pad", &ops::pad, located);
    module.def("concatenate", &ops::concatenate, located);
    module.def("split", &ops::split, located);
    module.def("windows", &ops::windows, located);
    module.def("fold", &ops::fold, located);
    module.def("iota", &ops::iota, located);
    module.def("full", &ops::full, located);
    module.def("gather", &ops::gather, located);
    module.def("scatter", &ops::scatter, located);
}

}  // namespace

void bind_ops(nb::module_& module) {
    using namespace nb::literals;
    const nb::call_guard<Located> located;
    ops::register_operations();
    nb::module_ inner = module.def_submodule("ops", "The tensor primitives.");
    bind_layout(inner);
    inner.def(
        "map",
        [](const std::string& row, const Tensors& operands) { return ops::map(row, operands); },
        located);
    inner.def("astype", &ops::astype, located);
    inner.def("bitcast", &ops::bitcast, located);
    inner.def(
        "reduce",
        [](const std::string& combiner, const Tensor& x, const Integers& axes, bool keepdims) {
            return ops::reduce(combiner_from(combiner), x, axes, keepdims);
        },
        located);
    inner.def(
        "scan",
        [](const std::string& combiner, const Tensor& x, int64_t axis) {
            return ops::scan(combiner_from(combiner), x, axis);
        },
        located);
    inner.def(
        "contract",
        [](const Tensor& a, const Tensor& b, const Integers& batch_a, const Integers& batch_b,
           const Integers& contracted_a, const Integers& contracted_b) {
            return ops::contract(a, b, {batch_a, batch_b, contracted_a, contracted_b});
        },
        "a"_a, "b"_a, "batch_a"_a, "batch_b"_a, "contracted_a"_a, "contracted_b"_a, located);
    inner.def(
        "convolve",
        [](const Tensor& x, const Tensor& filters, const Integers& strides,
           const Integers& padding_low, const Integers& padding_high,
           const Integers& input_dilation, const Integers& filter_dilation, int64_t groups) {
            return ops::convolve(
                x, filters,
                {strides, padding_low, padding_high, input_dilation, filter_dilation, groups});
        },
        located);
    inner.def("call", called, "name"_a, "parameters"_a, "results"_a, "arguments"_a, located);
}

}  // namespace composit::python
