// torch.autograd.functional: Jacobians, Hessians and products with them; tangents that go along
// with values, torch.autograd.forward_ad.
#include "casters.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "flags.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "user_functions.h"
#include "values.h"

#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

bool requires_gradient(nb::handle tensor) { return is_recorded(torch_tensor(tensor)); }

nb::tuple tensors_of_user(nb::handle value) {
    return is_tensor_of_torch(value) ? nb::make_tuple(value) : nb::tuple(nb::borrow(value));
}

// How gradients are taken.
struct Taking {
    std::string name;  // of the function that the user called
    bool create_graph = false, is_strict = false;
};

// A call of the user's function: its arguments as tensors to differentiate by, and its results.
struct UsersCall {
    nb::list inputs;
    nb::object outputs;
};

UsersCall called_for_gradients(const nb::object& function, nb::handle inputs, const Taking& how) {
    UsersCall made;
    size_t number = 0;
    for (nb::handle x : tensors_of_user(inputs)) {
        user_check<TypeError>(is_tensor_of_torch(x), how.name, ": input ", number, " is a ",
                              KindOf{x}, ". Tensors are required.");
        ++number;
    }
    const eager::EnableGrad scope;
    for (nb::handle x : tensors_of_user(inputs)) {
        if (how.create_graph && requires_gradient(x))
            made.inputs.append(x.attr("clone")());
        else
            made.inputs.append(x.attr("detach")().attr("clone")().attr("requires_grad_")());
    }
    made.outputs = function(*made.inputs);
    return made;
}

nb::object given_back(const nb::list& values, bool is_one, bool create_graph) {
    nb::list found;
    for (nb::handle x : values)
        found.append(create_graph ? nb::borrow(x) : nb::object(x.attr("detach")()));
    return is_one ? nb::object(found[0]) : nb::object(nb::tuple(found));
}

nb::list zeros_for_none(nb::handle gradients, const nb::list& inputs, const Taking& how) {
    nb::list found;
    for (size_t i = 0; i < nb::len(inputs); ++i) {
        const nb::object gradient =
            gradients.is_none() ? nb::none() : nb::object(nb::borrow(gradients)[i]);
        user_check<RuntimeError>(!gradient.is_none() || !how.is_strict, how.name,
                                 ": the output does not depend on an input, and strict is True");
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
    return zeros_for_none(grad(chosen, inputs, given, options), inputs, how);
}

// What flows into tensors: what is given, or one into a single element.
nb::list flows_for_user(nb::handle given, const nb::list& like, const Taking& how) {
    nb::list flows;
    if (given.is_none()) {
        user_check<RuntimeError>(
            nb::len(like) == 1 && ir::element_count(type_seen(like[0]).shape) == 1, how.name,
            ": The vector v can only be None if the user-provided function returns a single Tensor "
            "with a single element.");
        flows.append(torch_function("ones_like")(nb::object(like[0])));
        return flows;
    }
    flows = nb::list(tensors_of_user(given));
    for (size_t i = 0; i < std::min(nb::len(flows), nb::len(like)); ++i) {
        const nb::object size = nb::tuple(nb::object(flows[i].attr("shape")));
        const nb::object wanted = nb::tuple(nb::object(like[i].attr("shape")));
        user_check<RuntimeError>(size.equal(wanted), how.name, ": v has size ", Said{size},
                                 ". The size ", Said{wanted}, " is required.");
    }
    return flows;
}

nb::tuple vjp_for_user(const nb::object& function, nb::handle inputs, nb::handle v,
                       const Taking& how) {
    const UsersCall call = called_for_gradients(function, inputs, how);
    const nb::list outputs(tensors_of_user(call.outputs));
    const nb::list found =
        gradients_for_user(outputs, call.inputs, flows_for_user(v, outputs, how), how);
    return nb::make_tuple(given_back(outputs, is_tensor_of_torch(call.outputs), how.create_graph),
                          given_back(found, is_tensor_of_torch(inputs), how.create_graph));
}

// The gradient of a gradient that is linear in it.
nb::tuple jvp_for_user(const nb::object& function, nb::handle inputs, nb::handle v,
                       const Taking& how) {
    const UsersCall call = called_for_gradients(function, inputs, how);
    const nb::list outputs(tensors_of_user(call.outputs));
    const nb::list flows = flows_for_user(v, call.inputs, how);
    nb::list linear, pulled;
    {
        const eager::EnableGrad scope;
        for (nb::handle y : outputs)
            linear.append(torch_function("zeros_like")(y).attr("requires_grad_")());
        pulled = gradients_for_user(outputs, call.inputs, linear, {how.name, true, how.is_strict});
    }
    const nb::list found =
        gradients_for_user(pulled, linear, flows, {how.name, how.create_graph, false});
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
    for (nb::handle y : tensors_of_user(call.outputs)) {
        nb::list rows;
        {
            const eager::EnableGrad scope;
            rows = jacobian_rows(y, call.inputs, how);
        }
        found.append(given_back(rows, is_tensor_of_torch(inputs), how.create_graph));
    }
    return is_tensor_of_torch(call.outputs) ? nb::object(found[0]) : nb::object(nb::tuple(found));
}

// A function that returns one number, without dimensions.
nb::object scalar_function(const nb::object& function, const std::string& name) {
    return nb::cpp_function([function, name](const nb::args& args) {
        const nb::object found = function(*args);
        user_check<RuntimeError>(
            is_tensor_of_torch(found) && ir::element_count(type_seen(found).shape) == 1, name,
            ": The function given to ", name,
            " should return a single Tensor with a single element.");
        return nb::object(found.attr("reshape")(nb::tuple()));
    });
}

// The gradients of a function by all of its arguments.
nb::object slope_function(const nb::object& function, bool is_one) {
    return nb::cpp_function([function, is_one](const nb::args& args) {
        nb::tuple found;
        {
            const eager::EnableGrad scope;
            const nb::object value = function(*args);
            found = grad(value, args, nb::none(), {nb::none(), true, true, false});
        }
        const nb::list made = zeros_for_none(found, nb::list(args), {"hessian", true, false});
        return is_one ? nb::object(made[0]) : nb::object(nb::tuple(made));
    });
}

nb::object hessian_for_user(const nb::object& function, nb::handle inputs, const Taking& how) {
    const bool is_one = is_tensor_of_torch(inputs);
    const size_t count = nb::len(tensors_of_user(inputs));
    const nb::object slope =
        slope_function(scalar_function(function, how.name), is_one || count == 1);
    const nb::object found =
        jacobian_for_user(slope, inputs, {"jacobian", how.create_graph, how.is_strict});
    if (is_one || count > 1) return found;
    const bool is_row = PyTuple_Check(found.ptr()) && is_tensor_of_torch(nb::object(found[0]));
    return is_row ? nb::object(nb::make_tuple(found)) : found;
}

// The value, and v times the Hessian, from the one side or the other.
nb::tuple product_with_hessian(const nb::object& function, nb::handle inputs, nb::handle v,
                               const Taking& how, bool by_vjp) {
    const nb::tuple given = tensors_of_user(inputs);
    const nb::object checked = scalar_function(function, how.name);
    const nb::object slope = slope_function(checked, nb::len(given) == 1);
    const nb::object value = checked(*given);
    const Taking inner{by_vjp ? "vjp" : "jvp", how.create_graph, how.is_strict};
    const nb::tuple both =
        by_vjp ? vjp_for_user(slope, inputs, v, inner) : jvp_for_user(slope, inputs, v, inner);
    return nb::make_tuple(how.create_graph ? value : nb::object(value.attr("detach")()),
                          nb::object(both[1]));
}

// ----- forward mode

// The tangents of a level, of which there is one at a time; guarded by the interpreter's lock. The
// tangent of what is computed of dual tensors is the derivative of its gradient by the gradient
// that is asked for, which is the product of the Jacobian and the tangents.
struct DualLevel {
    bool is_entered = false;
    std::vector<std::pair<nb::object, nb::object>> duals;
};
DualLevel& dual_level() {
    static DualLevel& level = *new DualLevel;
    return level;
}

void enter_dual_level() {
    user_check<RuntimeError>(!dual_level().is_entered,
                             "Nested forward mode AD is not supported at the moment");
    dual_level().is_entered = true;
}

void exit_dual_level() {
    user_check<RuntimeError>(dual_level().is_entered,
                             "Trying to exit a forward AD level but no level is entered.");
    dual_level().is_entered = false;
    dual_level().duals.clear();
}

// Whether a gradient of a tensor may go further than the level's own tensors.
bool goes_beyond_duals(nb::handle tensor) {
    if (!requires_gradient(tensor)) return false;
    for (const auto& [dual, tangent] : dual_level().duals) {
        const TensorObject* const held = as_tensor(dual);
        if (!held->is_leaf && is_recorded(held)) return true;
    }
    return false;
}

nb::object tangent_of_result(nb::handle tensor) {
    const eager::EnableGrad scope;
    const DualLevel& level = dual_level();
    if (level.duals.empty()) return nb::none();
    const nb::object zeros_like = torch_function("zeros_like");
    const nb::object asked = zeros_like(tensor).attr("requires_grad_")();
    nb::list duals, linear, tangents;
    for (const auto& [dual, tangent] : level.duals) duals.append(dual);
    const nb::tuple gradients = grad(tensor, duals, asked, {nb::none(), true, true, false});
    bool is_met = false, is_outer = false;
    for (size_t i = 0; i < nb::len(duals); ++i) {
        const nb::object gradient = gradients[i];
        if (gradient.is_none()) continue;
        is_met = true;
        if (!requires_gradient(gradient)) continue;
        const nb::object& tangent = level.duals.at(i).second;
        linear.append(gradient);
        tangents.append(tangent);
        is_outer = is_outer || requires_gradient(tangent);
    }
    if (!is_met) return nb::none();
    nb::object made = nb::none();
    if (nb::len(linear) > 0)
        made = grad(linear, asked, tangents, {nb::none(), true, true, false})[0];
    if (made.is_none()) return zeros_like(tensor.attr("detach")());
    return is_outer || goes_beyond_duals(made) ? made : nb::object(made.attr("detach")());
}

// The value, with its gradient by what is outside of the level; and the tangent.
nb::tuple unpack_dual(nb::handle tensor) {
    const DualLevel& level = dual_level();
    if (!level.is_entered || !is_tensor_of_torch(tensor)) return nb::make_tuple(tensor, nb::none());
    nb::object known;
    for (const auto& [dual, tangent] : level.duals)
        if (dual.is(tensor)) known = tangent;
    if (!known.is_valid() && !requires_gradient(tensor)) {
        if (as_tensor(tensor)->is_tainted && !level.duals.empty() &&
            ir::is_floating(type_seen(tensor).dtype))
            refuse_unbuilt(
                "unpack_dual: the tensor was computed under no_grad, where tangents are not built. "
                "Recording (enable_grad) is required.");
        return nb::make_tuple(tensor, nb::none());
    }
    const nb::object primal =
        goes_beyond_duals(tensor) ? nb::borrow(tensor) : nb::object(tensor.attr("detach")());
    return nb::make_tuple(primal, known.is_valid() ? known : tangent_of_result(tensor));
}

nb::object make_dual(nb::handle tensor, nb::handle tangent) {
    user_check<RuntimeError>(dual_level().is_entered,
                             "Trying to create a dual Tensor for forward AD but no level exists, "
                             "make sure to enter_dual_level() first.");
    const auto check = [](const char* what, nb::handle one) {
        user_check<ValueError>(
            ir::is_inexact((torch_tensor(one), type_seen(one).dtype)), "Expected ", what,
            " to be floating point or complex, but got: ", Said{nb::object(one.attr("dtype"))});
    };
    check("primal", tensor);
    check("tangent", tangent);
    const ir::TensorType type = type_seen(tensor), of_tangent = type_seen(tangent);
    user_check<RuntimeError>(type.shape == of_tangent.shape && type.dtype == of_tangent.dtype,
                             "make_dual: the tangent is ", Said{nb::object(tangent.attr("dtype"))},
                             "[", join(of_tangent.shape), "] for ",
                             Said{nb::object(tensor.attr("dtype"))}, "[", join(type.shape),
                             "]. The same is required.");
    user_check<RuntimeError>(
        unpack_dual(tensor)[1].is_none(),
        "make_dual: the tensor has a tangent already. One without is required.");
    const eager::EnableGrad scope;
    const nb::object dual = requires_gradient(tensor)
                                ? provided("dual_of_recorded")(tensor)
                                : nb::object(tensor.attr("detach")().attr("requires_grad_")());
    dual_level().duals.emplace_back(dual, nb::borrow(tangent));
    return dual;
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
            nb::arg("func"), nb::arg("inputs"), nb::arg("v").none(), nb::arg("create_graph"),
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
                         TruthFlag strict) {
                return call(function, inputs, Taking{name, create_graph, strict});
            },
            nb::arg("func"), nb::arg("inputs"), nb::arg("create_graph"), nb::arg("strict"));
    };
    add_matrix("jacobian", jacobian_for_user);
    add_matrix("hessian", hessian_for_user);
    module.def("enter_dual_level", enter_dual_level);
    module.def("exit_dual_level", exit_dual_level);
    module.def("make_dual", make_dual, nb::arg("tensor"), nb::arg("tangent"));
    module.def("unpack_dual", unpack_dual, nb::arg("tensor").none());
}

}  // namespace composit::python
