// Tracing functions with placeholders, and what the transforms make of them.
#include "composit/functional/functional.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/body.h"
#include "composit/ir/tracing.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <memory>

namespace composit {
namespace {

struct Traced {
    Tensors inputs, outputs;
};

Tensors strong(const Tensors& arguments) {
    Tensors result;
    for (const Tensor& x : arguments) result.push_back(numpy::strong(x));
    return result;
}

// The placeholder where the argument lies that it stands for, if that is a device.
Tensor where_it_lies(const Tensor& placeholder, const Tensor& argument) {
    const ir::DeviceNumber device = argument.node().device();
    const bool is_in_host_memory = device == ir::anywhere || device == ir::on_cpu;
    return is_in_host_memory ? placeholder : ops::transfer(placeholder, ir::device_name(device));
}

// f of placeholders typed as the arguments.
Traced trace(const Function& f, const Tensors& arguments) {
    const ir::TraceScope scope;
    Traced traced;
    Tensors passed;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const Tensor& x = arguments[i];
        const std::string name = x.name().empty() ? text("x", i) : x.name();
        traced.inputs.push_back(ir::input(name, x.dtype(), x.shape()));
        passed.push_back(where_it_lies(traced.inputs.back(), x));
    }
    traced.outputs = strong(f(passed));
    return traced;
}

// f of the arguments themselves, as nodes of their own: what is looked at within has its value, as
// far as the arguments have theirs.
Traced called(const Function& f, const Tensors& arguments) {
    const ir::TraceScope scope;
    Traced traced;
    for (const Tensor& x : arguments) traced.inputs.push_back(ops::with_values(x, x));
    const ir::DifferentiationScope differentiation(traced.inputs);
    traced.outputs = strong(f(traced.inputs));
    return traced;
}

Tensors ones_like(const Tensors& tensors) {
    Tensors result;
    for (const Tensor& x : tensors)
        result.push_back(ops::full(x.shape(), ir::constant(Array::scalar(x.dtype(), 1))));
    return result;
}

Tensors joined(Tensors a, const Tensors& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// The first `count`, and the rest.
std::pair<Tensors, Tensors> parted(const Tensors& all, size_t count) {
    const auto middle = all.begin() + static_cast<long>(count);
    return {Tensors(all.begin(), middle), Tensors(middle, all.end())};
}

}  // namespace

std::vector<Array> evaluate(const Tensors& outputs, const execute::Options& options) {
    return execute::evaluate(outputs, options);
}

Array evaluate(const Tensor& output, const execute::Options& options) {
    return execute::evaluate({output}, options)[0];
}

execute::Compiled compile_function(const Function& f, const Tensors& examples,
                                   const execute::Options& options, const std::string& name) {
    Traced traced = trace(f, strong(examples));
    return execute::Compiled(name, traced.inputs, traced.outputs, options);
}

Gradients value_and_gradients(const Function& f, const Tensors& arguments,
                              const std::vector<int64_t>& argnums) {
    const Tensors given = strong(arguments);
    const Traced traced = called(f, given);
    Tensors wanted;
    for (int64_t argnum : argnums) {
        const auto count = static_cast<int64_t>(given.size());
        user_check<TypeError>(argnum >= -count && argnum < count, "grad: argnum ", argnum,
                              " of a function of ", count, " arguments does not exist.");
        const Tensor& x = traced.inputs[static_cast<size_t>(argnum < 0 ? argnum + count : argnum)];
        user_check<TypeError>(ir::is_inexact(x.dtype()),
                              "grad requires real- or complex-valued inputs (input dtype that is a "
                              "sub-dtype of np.inexact), but got ",
                              x.dtype(), " for argument ", argnum, ".");
        wanted.push_back(x);
    }
    user_check<TypeError>(!traced.outputs.empty(), "grad: the function returned nothing.");
    const Tensor& value = traced.outputs[0];
    user_check<TypeError>(value.rank() == 0,
                          "Gradient only defined for scalar-output functions. "
                          "Output had shape: ",
                          value.shape(), ".");
    user_check<TypeError>(ir::is_floating(value.dtype()),
                          "grad requires real-valued outputs (output "
                          "dtype that is a sub-dtype of np.floating), but got ",
                          value.dtype(), ".");
    const Tensors gradients =
        errors_as("grad", [&] { return transforms::vjp({value}, ones_like({value}), wanted); });
    const Tensors all = ir::substitute(joined(traced.outputs, gradients), traced.inputs, given);
    auto [values, results] = parted(all, traced.outputs.size());
    return {values, results};
}

std::pair<Tensors, Pullback> vjp_function(const Function& f, const Tensors& primals) {
    const Tensors given = strong(primals);
    const auto traced = std::make_shared<const Traced>(called(f, given));
    const Tensors values = ir::substitute(traced->outputs, traced->inputs, given);
    return {values, [traced, given](const Tensors& cotangents) {
                const Tensors gradients =
                    transforms::vjp(traced->outputs, strong(cotangents), traced->inputs);
                return ir::substitute(gradients, traced->inputs, given);
            }};
}

std::pair<Tensors, Tensors> jvp_function(const Function& f, const Tensors& primals,
                                         const Tensors& tangents) {
    const Tensors given = strong(primals);
    const Traced traced = called(f, given);
    const Tensors results = errors_as(
        "jvp", [&] { return transforms::jvp(traced.outputs, traced.inputs, strong(tangents)); });
    return parted(ir::substitute(joined(traced.outputs, results), traced.inputs, given),
                  traced.outputs.size());
}

Tensors vmap_function(const Function& f, const Tensors& arguments, const InAxes& in_axes,
                      int64_t out_axis) {
    user_check(in_axes.size() == arguments.size(), "vmap: in_axes has ", in_axes.size(),
               " entries for ", arguments.size(), " arguments. One for each is required.");
    Tensors inputs, batched, passed;
    int64_t size = -1;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const Tensor x = numpy::strong(arguments[i]);
        if (!in_axes[i]) {
            passed.push_back(x);
            continue;
        }
        batched.push_back(
            numpy::moveaxis(x, numpy::normalize_axis("vmap", *in_axes[i], x.rank()), 0));
        const Shape& shape = batched.back().shape();
        user_check(size < 0 || size == shape[0],
                   "vmap got inconsistent sizes for array axes to be "
                   "mapped: ",
                   size, " and ", shape[0], " (argument ", i, ").");
        size = shape[0];
        inputs.push_back(ir::input(text("x", i), x.dtype(), Shape(shape.begin() + 1, shape.end())));
        passed.push_back(where_it_lies(inputs.back(), x));
    }
    user_check(!inputs.empty(), "vmap must have at least one non-None value in in_axes.");
    const auto made = [&] {
        const ir::TraceScope scope;
        return strong(f(passed));
    };
    Tensors results = transforms::vmap(made(), inputs, batched);
    for (Tensor& x : results)
        x = numpy::moveaxis(x, 0, numpy::normalize_axis("vmap", out_axis, x.rank()));
    return results;
}

}  // namespace composit
