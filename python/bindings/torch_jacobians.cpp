// torch.autograd.functional: Jacobians, Hessians and products with them.
#include "casters.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "composit/ir/depth_first.h"
#include "exact_errors.h"
#include "flags.h"
#include "flows.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "tape_hooks.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "user_functions.h"
#include "values.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

bool requires_gradient(nb::handle tensor) { return is_recorded(torch_tensor(tensor)); }

// How gradients are taken.
struct Taking {
    std::string name;  // of the function that the user called
    bool create_graph = false, is_strict = false;
    // What depends on no input where strict is True, and what its derivative is called.
    std::string subject = "The output";
    const char* derivative = "jacobian";  // null: it may be constant
    std::optional<size_t> output = {};    // whose row it is: PyTorch calls it an input
    bool is_vectorized = false;
};

constexpr const char* not_allowed = ". This is not allowed in strict mode";

// A tensor, or a tuple of them, as a tuple. TypeError, PyTorch's words, for others: the function's
// inputs, its outputs, or v.
nb::tuple tensors_of_user(nb::handle value, const char* what, const std::string& function) {
    const bool is_tuple = PyTuple_Check(value.ptr());
    const nb::tuple parts = is_tuple ? nb::borrow<nb::tuple>(value) : nb::make_tuple(value);
    for (size_t i = 0; i < nb::len(parts); ++i) {
        const nb::object part = parts[i];
        exact_check(
            PyExc_TypeError, is_tensor_of_torch(part), "The ", what, " given to ", function,
            " must be either a Tensor or a tuple of Tensors but the ",
            is_tuple ? composit::text("value at index ", i) : composit::text("given ", what),
            " has type ", Said{part.type()}, ".");
    }
    return parts;
}

constexpr const char* outputs_words = "outputs of the user-provided function";

// A call of the user's function: its arguments as tensors to differentiate by, and its results.
struct UsersCall {
    nb::list inputs;
    nb::object outputs;
};

// What the user's function returned: tensors, and where strict is True computed of the inputs.
nb::tuple check_outputs(nb::handle outputs, const Taking& how) {
    const nb::tuple parts = tensors_of_user(outputs, outputs_words, how.name);
    size_t number = 0;
    for (nb::handle y : parts)
        exact_check(PyExc_RuntimeError, !how.is_strict || requires_gradient(y), "Output ", number++,
                    " of the user-provided function does not require gradients. The outputs must "
                    "be computed in a differentiable manner from the input when running in strict "
                    "mode.");
    return parts;
}

UsersCall called_for_gradients(const nb::object& function, nb::handle inputs, const Taking& how) {
    UsersCall made;
    const nb::tuple given = tensors_of_user(inputs, "inputs", how.name);
    const eager::EnableGrad scope;
    for (nb::handle x : given) {
        if (how.create_graph && requires_gradient(x))
            made.inputs.append(x.attr("clone")());
        else
            made.inputs.append(x.attr("detach")().attr("clone")().attr("requires_grad_")());
    }
    made.outputs = function(*made.inputs);
    check_outputs(made.outputs, how);
    return made;
}

// What the values of tensors are computed of, where gradients go the same way. Records alone say of
// more that it may be.
std::unordered_set<const ir::Node*> computed_of(const nb::list& tensors) {
    std::vector<Tensor> from;
    for (nb::handle tensor : tensors)
        if (requires_gradient(tensor)) from.push_back(held_by(tensor));
    std::unordered_set<const ir::Node*> met;
    ir::depth_first(from, [&](const ir::Node& node) {
        return met.insert(&node).second && node.operation().name != "stop_gradient";
    });
    return met;
}

bool depends_on(const nb::list& tensors, nb::handle input) {
    return computed_of(tensors).contains(&held_by(input).node());
}

// Whether a tensor with a record is computed of something that gradients stop at: a leaf, as it is
// or was, or the result of a Function.
bool depends_on_leaves(nb::handle tensor) {
    nb::list one, record;
    one.append(tensor);
    record.append(record_of(tensor));
    const auto met = computed_of(one);
    const auto is_met = [&](const Tensor& x) { return met.contains(&x.node()); };
    const BelowRecords below = below_records(record);
    for (nb::handle leaf : below.leaves) {
        const Tensor now = held_by(leaf);
        const std::vector<Tensor> before = leaf_of(leaf).readings().before(now);
        if (is_met(now) || std::any_of(before.begin(), before.end(), is_met)) return true;
    }
    for (nb::handle each : below.records) {
        if (!is_function_record(each)) continue;
        for (nb::handle node : each.attr("outputs"))
            if (!node.is_none() && is_met(content_of<LazyTensor>(node).tensor())) return true;
    }
    return false;
}

// A derivative that is the same wherever it is taken has no record, as in PyTorch.
nb::object given_back(const nb::list& values, bool is_one, bool create_graph) {
    nb::list found;
    for (nb::handle x : values) {
        const bool is_kept = create_graph && (!requires_gradient(x) || depends_on_leaves(x));
        found.append(is_kept ? nb::borrow(x) : nb::object(x.attr("detach")()));
    }
    return is_one ? nb::object(found[0]) : nb::object(nb::tuple(found));
}

bool depends_on_any(nb::handle tensor, const nb::list& inputs) {
    nb::list tensors;
    tensors.append(tensor);
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](nb::handle input) { return depends_on(tensors, input); });
}

void check_derivative(nb::handle found, const nb::list& inputs, size_t number, const Taking& how) {
    exact_check(PyExc_RuntimeError, depends_on_any(found, inputs), "The ", how.derivative,
                " of the user-provided function is independent of input ", number, not_allowed,
                " when create_graph=True.");
}

nb::list zeros_for_none(nb::handle gradients, const nb::list& inputs, const Taking& how) {
    nb::list found;
    for (size_t i = 0; i < nb::len(inputs); ++i) {
        const nb::object gradient =
            gradients.is_none() ? nb::none() : nb::object(nb::borrow(gradients)[i]);
        exact_check(PyExc_RuntimeError, !gradient.is_none() || !how.is_strict, how.subject,
                    " of the user-provided function is independent of input ", i, not_allowed, ".");
        if (how.is_strict && how.create_graph && how.derivative)
            check_derivative(gradient, inputs, how.output.value_or(i), how);
        found.append(gradient.is_none() ? torch_function("zeros_like")(nb::object(inputs[i]))
                                        : gradient);
    }
    return found;
}

nb::list gradients_for_user(const nb::list& outputs, const nb::list& inputs, const nb::list& flows,
                            const Taking& how) {
    nb::list chosen, given;
    for (size_t i = 0; i < std::min(nb::len(outputs), nb::len(flows)); ++i) {
        if (!requires_gradient(outputs[i])) continue;
        chosen.append(nb::object(outputs[i]));
        given.append(nb::object(flows[i]));
    }
    if (nb::len(chosen) == 0) return zeros_for_none(nb::none(), inputs, how);
    GradOptions options{nb::bool_(true), how.create_graph, true, false};
    nb::list found(grad(chosen, inputs, given, options));
    for (size_t i = 0; how.is_strict && i < nb::len(found); ++i)
        if (!depends_on(chosen, inputs[i])) found[i] = nb::none();
    return zeros_for_none(found, inputs, how);
}

// What flows into tensors, one tensor or a tuple: what is given, or one into a single element,
// which `source` gives then.
nb::list flows_for_user(nb::handle given, const nb::list& like, bool is_tuple, const char* source,
                        const std::string& function) {
    nb::list flows;
    if (given.is_none()) {
        exact_check(PyExc_RuntimeError,
                    nb::len(like) == 1 && ir::element_count(type_seen(like[0]).shape) == 1,
                    "The vector v can only be None if the ", source,
                    " a single Tensor with a single element.");
        flows.append(torch_function("ones_like")(nb::object(like[0])));
        return flows;
    }
    flows = nb::list(tensors_of_user(given, "v", function));
    const size_t count = nb::len(like);
    exact_check(PyExc_RuntimeError, nb::len(flows) == count || is_tuple,
                "The given v should contain a single Tensor.");
    exact_check(PyExc_RuntimeError, nb::len(flows) == count,
                "v is a tuple of invalid length: should be ", count, " but got ", nb::len(flows),
                ".");
    for (size_t i = 0; i < count; ++i) {
        const nb::object size = flows[i].attr("shape"), wanted = like[i].attr("shape");
        exact_check(PyExc_RuntimeError, size.equal(wanted),
                    is_tuple ? composit::text("Entry ", i, " in ") : "",
                    "v has invalid size: should be ", Said{wanted}, " but got ", Said{size}, ".");
    }
    return flows;
}
constexpr const char* of_input = "input to the user-provided function is";
constexpr const char* of_output = "user-provided function returns";

nb::tuple vjp_for_user(const nb::object& function, nb::handle inputs, nb::handle v,
                       const Taking& how) {
    const UsersCall call = called_for_gradients(function, inputs, how);
    const nb::list outputs(check_outputs(call.outputs, how));
    const bool is_tuple = PyTuple_Check(call.outputs.ptr());
    const nb::list found = gradients_for_user(
        outputs, call.inputs, flows_for_user(v, outputs, is_tuple, of_output, how.name), how);
    return nb::make_tuple(given_back(outputs, is_tensor_of_torch(call.outputs), how.create_graph),
                          given_back(found, is_tensor_of_torch(inputs), how.create_graph));
}

// The gradient of a gradient that is linear in it.
nb::tuple jvp_for_user(const nb::object& function, nb::handle inputs, nb::handle v,
                       const Taking& how) {
    const nb::list given(tensors_of_user(inputs, "inputs", how.name));
    const nb::list flows =
        flows_for_user(v, given, PyTuple_Check(inputs.ptr()), of_input, how.name);
    const UsersCall call = called_for_gradients(function, inputs, how);
    const nb::list outputs(check_outputs(call.outputs, how));
    nb::list linear, pulled;
    {
        const eager::EnableGrad scope;
        for (nb::handle y : outputs)
            linear.append(torch_function("zeros_like")(y).attr("requires_grad_")());
        Taking by_inputs = how;
        by_inputs.create_graph = true;
        by_inputs.derivative = nullptr;
        pulled = gradients_for_user(outputs, call.inputs, linear, by_inputs);
    }
    const nb::list found =
        gradients_for_user(pulled, linear, flows, {how.name, how.create_graph, false});
    for (size_t i = 0; how.is_strict && how.create_graph && i < nb::len(found); ++i)
        check_derivative(found[i], call.inputs, i, how);
    const bool is_one = is_tensor_of_torch(call.outputs);
    return nb::make_tuple(given_back(outputs, is_one, how.create_graph),
                          given_back(found, is_one, how.create_graph));
}

nb::object in_shape(nb::handle tensor, ir::Shape shape, const ir::Shape& more) {
    shape.insert(shape.end(), more.begin(), more.end());
    return tensor.attr("reshape")(tuple_from(shape));
}

// The Jacobian of one output by each input.
nb::list jacobian_rows(nb::handle output, const nb::list& inputs, const Taking& how) {
    if (!how.is_vectorized && ir::is_complex(type_seen(output).dtype)) check_real_output(output);
    const ir::Shape shape = type_seen(output).shape;
    const int64_t count = ir::element_count(shape);
    nb::list flat;
    flat.append(output.attr("reshape")(-1));
    const nb::object units =
        torch_function("eye")(count, nb::arg("dtype") = nb::object(output.attr("dtype")),
                              nb::arg("device") = nb::object(output.attr("device")));
    std::vector<nb::list> columns(nb::len(inputs));
    for (int64_t i = 0; i < count; ++i) {
        nb::list flow;
        flow.append(units[i]);
        const nb::list row = gradients_for_user(flat, inputs, flow, how);
        for (size_t j = 0; j < columns.size(); ++j) columns[j].append(nb::object(row[j]));
    }
    nb::list found;
    for (size_t j = 0; j < columns.size(); ++j)
        found.append(in_shape(torch_function("stack")(columns[j]), shape,
                              type_seen(nb::object(inputs[j])).shape));
    return found;
}

nb::object jacobian_for_user(const nb::object& function, nb::handle inputs, const Taking& how) {
    const UsersCall call = called_for_gradients(function, inputs, how);
    nb::list found;
    for (nb::handle y : tensors_of_user(call.outputs, outputs_words, how.name)) {
        nb::list rows;
        {
            const eager::EnableGrad scope;
            Taking of_output = how;
            of_output.output = nb::len(found);
            of_output.subject = composit::text("Output ", nb::len(found));
            rows = jacobian_rows(y, call.inputs, of_output);
        }
        found.append(given_back(rows, is_tensor_of_torch(inputs), how.create_graph));
    }
    return is_tensor_of_torch(call.outputs) ? nb::object(found[0]) : nb::object(nb::tuple(found));
}

// A function that returns one number, without dimensions.
nb::object scalar_function(const nb::object& function, const Taking& how) {
    return nb::cpp_function([function, how](const nb::args& args) {
        const nb::object found = function(*args);
        // The value alone is computed of other tensors.
        const bool is_strict = how.is_strict && std::any_of(args.begin(), args.end(), [](auto x) {
                                   return is_tensor_of_torch(x) && requires_gradient(x);
                               });
        const nb::tuple parts =
            check_outputs(found, {how.name, false, is_strict, how.subject, how.derivative, {}});
        exact_check(PyExc_RuntimeError, is_tensor_of_torch(found) && nb::len(parts) == 1,
                    "The function given to ", how.name, " should return a single Tensor");
        exact_check(PyExc_RuntimeError, ir::element_count(type_seen(found).shape) == 1,
                    "The Tensor returned by the function given to ", how.name,
                    " should contain a single element");
        return nb::object(found.attr("reshape")(nb::tuple()));
    });
}

// The gradients of a function by all of its arguments, each of which depends on one of them where
// strict is True. `value`, where it is not null, becomes that of the function.
nb::object slope_function(const nb::object& function, bool is_one, const Taking& how,
                          nb::object* value = nullptr) {
    return nb::cpp_function([function, is_one, how, value](const nb::args& args) {
        const nb::list inputs(args);
        const eager::EnableGrad scope;
        nb::list values, flows;
        values.append(function(*args));
        if (value) *value = values[0];
        flows.append(torch_function("ones_like")(nb::object(values[0])));
        // A slope of 0 of the Hessian is one that depends on nothing.
        const bool is_hessian = how.name == "hessian";
        const nb::list made = gradients_for_user(
            values, inputs, flows,
            {how.name, true, how.is_strict && !is_hessian, how.subject, nullptr, {}});
        for (size_t i = 0; how.is_strict && i < nb::len(made); ++i)
            exact_check(PyExc_RuntimeError, depends_on_any(made[i], inputs),
                        "While computing the hessian, found that the jacobian of the user-provided "
                        "function with respect to input ",
                        i, " is independent of the input", not_allowed,
                        ". You should ensure that your function is twice differentiable and that "
                        "the jacobian depends on the inputs (this would be violated by a linear "
                        "function for example).");
        return is_one ? nb::object(made[0]) : nb::object(nb::tuple(made));
    });
}

nb::object hessian_for_user(const nb::object& function, nb::handle inputs, const Taking& how) {
    const bool is_one = is_tensor_of_torch(inputs);
    const size_t count = nb::len(tensors_of_user(inputs, "inputs", how.name));
    const nb::object slope =
        slope_function(scalar_function(function, how), is_one || count == 1, how);
    const nb::object found =
        jacobian_for_user(slope, inputs, {"jacobian", how.create_graph, how.is_strict});
    if (is_one || count > 1) return found;
    const bool is_row = PyTuple_Check(found.ptr()) && is_tensor_of_torch(nb::object(found[0]));
    return is_row ? nb::object(nb::make_tuple(found)) : found;
}

// The value, and v times the Hessian, from the one side or the other.
nb::tuple product_with_hessian(const nb::object& function, nb::handle inputs, nb::handle v,
                               const Taking& how, bool by_vjp) {
    const nb::tuple given = tensors_of_user(inputs, "inputs", how.name);
    const bool is_tuple = PyTuple_Check(inputs.ptr());
    const nb::list flows = flows_for_user(v, nb::list(given), is_tuple, of_input, how.name);
    const nb::object checked = scalar_function(function, how);
    nb::object value;
    const nb::object slope = slope_function(checked, nb::len(given) == 1, how, &value);
    const Taking inner{by_vjp ? "vjp" : "jvp", how.create_graph, how.is_strict,
                       "The jacobian",         "hessian",        {}};
    const nb::object along = nb::len(flows) == 1 ? nb::object(flows[0]) : nb::tuple(flows);
    const nb::tuple both = by_vjp ? vjp_for_user(slope, inputs, along, inner)
                                  : jvp_for_user(slope, inputs, along, inner);
    return nb::make_tuple(how.create_graph ? value : nb::object(value.attr("detach")()),
                          nb::object(both[1]));
}

// jacobian and hessian: a way of going through the function that is there, in PyTorch's words.
void check_strategy(const std::string& name, const std::string& strategy, bool is_vectorized,
                    const Taking& how) {
    const bool is_forward = strategy == "forward-mode", is_jacobian = name == "jacobian";
    exact_check(PyExc_AssertionError, is_forward || strategy == "reverse-mode",
                "Expected strategy to be either \"forward-mode\" or \"reverse-mode\".",
                is_jacobian ? " Hint: If your function has more outputs than inputs, "
                              "\"forward-mode\" tends to be more performant. Otherwise, prefer to "
                              "use \"reverse-mode\"."
                            : "");
    const auto together = [&](bool holds, const char* one, const char* other, const char* instead) {
        exact_check(PyExc_RuntimeError, !holds, "torch.autograd.functional.jacobian: `", one,
                    "` and `", other, "` are not supported together", instead);
    };
    exact_check(PyExc_NotImplementedError, !is_forward || !how.create_graph,
                "torch.autograd.functional.jacobian: `create_graph=True` and "
                "`strategy=\"forward-mode\"` are not supported together (yet). Please either set "
                "`create_graph=False` or `strategy=\"reverse-mode\"`.");
    together(is_forward && how.is_strict, "strict=True", "strategy=\"forward-mode\"",
             " (yet). Please either set `strict=False` or `strategy=\"reverse-mode\"`.");
    together(is_vectorized && how.is_strict, "strict=True", "vectorized=True",
             ". Please either set `strict=False` or `vectorize=False`.");
    exact_check(PyExc_NotImplementedError, !is_forward || is_vectorized,
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly "
                "implemented for `vectorize=True`.");
}

}  // namespace

void bind_torch_jacobians(nb::module_& module) {
    const auto add_product = [&](const char* name, auto call) {
        module.def(
            name,
            [name, call](const nb::object& function, nb::handle inputs, nb::handle v,
                         TruthFlag create_graph, TruthFlag strict) {
                return call(function, inputs, v, Taking{name, create_graph, strict});
            },
            nb::arg("func"), nb::arg("inputs").none(), nb::arg("v").none(), nb::arg("create_graph"),
            nb::arg("strict"));
    };
    add_product("vjp", vjp_for_user);
    add_product("jvp", jvp_for_user);
    const auto add_product_with_hessian = [&](const char* name, bool by_vjp) {
        add_product(name, [by_vjp](const nb::object& function, nb::handle inputs, nb::handle v,
                                   const Taking& how) {
            return product_with_hessian(function, inputs, v, how, by_vjp);
        });
    };
    add_product_with_hessian("vhp", true);
    add_product_with_hessian("hvp", false);
    const auto add_matrix = [&](const char* name, auto call) {
        module.def(
            name,
            [name, call](const nb::object& function, nb::handle inputs, TruthFlag create_graph,
                         TruthFlag strict, TruthFlag vectorize, const std::string& strategy) {
                Taking how{name, create_graph, strict};
                how.is_vectorized = vectorize;
                check_strategy(name, strategy, vectorize, how);
                return call(function, inputs, how);
            },
            nb::arg("func"), nb::arg("inputs").none(), nb::arg("create_graph"), nb::arg("strict"),
            nb::arg("vectorize"), nb::arg("strategy"));
    };
    add_matrix("jacobian", jacobian_for_user);
    add_matrix("hessian", hessian_for_user);
}

}  // namespace composit::python
