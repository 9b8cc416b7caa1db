// torch.autograd.forward_ad: tangents that go along with values.
#include "casters.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "user_functions.h"
#include "values.h"

#include <utility>
#include <vector>

namespace composit::python {
namespace {

bool has_gradient(nb::handle tensor) { return is_recorded(torch_tensor(tensor)); }

// The tangents of a level, of which there is one at a time; guarded by the interpreter's lock. The
// tangent of what is computed of dual tensors is the derivative of its gradient by the gradient
// that is asked for, which is the product of the Jacobian and the tangents.
//
// The results of a Function have the tangents that its jvp gives: they are duals of their own, and
// its backward takes no part in the tangents of what is computed of them.
struct Dual {
    nb::object tensor, tangent;
    bool is_result = false;  // of a Function
};
struct DualLevel {
    bool is_entered = false;
    bool is_asking = false;  // for the tangent of a result
    std::vector<Dual> duals;
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

// Nothing goes through Functions with tangents while it lives.
struct Asking {
    Asking() { dual_level().is_asking = true; }
    ~Asking() { dual_level().is_asking = false; }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
};

// Whether a gradient of a tensor may go further than the level's own tensors.
bool goes_beyond_duals(nb::handle tensor) {
    if (!has_gradient(tensor)) return false;
    for (const Dual& dual : dual_level().duals) {
        const TensorObject* const held = as_tensor(dual.tensor);
        if (!dual.is_result && !held->is_leaf && is_recorded(held)) return true;
    }
    return false;
}

nb::object tangent_of_result(nb::handle tensor) {
    const eager::EnableGrad scope;
    const Asking asking;
    const DualLevel& level = dual_level();
    if (level.duals.empty()) return nb::none();
    const nb::object zeros_like = torch_function("zeros_like");
    const nb::object asked = zeros_like(tensor).attr("requires_grad_")();
    nb::list duals, linear, tangents;
    for (const Dual& dual : level.duals) duals.append(dual.tensor);
    const nb::tuple gradients = grad(tensor, duals, asked, {nb::none(), true, true, false});
    bool is_met = false, is_outer = false;
    for (size_t i = 0; i < nb::len(duals); ++i) {
        const nb::object gradient = gradients[i];
        if (gradient.is_none()) continue;
        is_met = true;
        if (!has_gradient(gradient)) continue;
        const nb::object& tangent = level.duals.at(i).tangent;
        linear.append(gradient);
        tangents.append(tangent);
        is_outer = is_outer || has_gradient(tangent);
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
    for (const Dual& dual : level.duals)
        if (dual.tensor.is(tensor)) known = dual.tangent;
    if (!known.is_valid() && !has_gradient(tensor)) {
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
    const nb::object dual = has_gradient(tensor)
                                ? provided("dual_of_recorded")(tensor)
                                : nb::object(tensor.attr("detach")().attr("requires_grad_")());
    dual_level().duals.push_back({dual, nb::borrow(tangent)});
    return dual;
}

// The tangents of a Function's arguments, where one has a tangent; else nothing. None for those
// that are no tensors, and zeros or None for those without.
nb::list tangents_of_arguments(const nb::tuple& args, bool has_zeros) {
    nb::list tangents;
    bool is_dual = false;
    for (nb::handle value : args) {
        const bool is_tensor = is_tensor_of_torch(value) && ir::is_inexact(type_seen(value).dtype);
        nb::object tangent = is_tensor ? nb::object(unpack_dual(value)[1]) : nb::none();
        is_dual = is_dual || !tangent.is_none();
        if (is_tensor && tangent.is_none() && has_zeros)
            tangent = torch_function("zeros_like")(value.attr("detach")());
        tangents.append(tangent);
    }
    return is_dual ? tangents : nb::list();
}

void check_tangent(nb::handle result, nb::handle tangent, size_t number) {
    user_check<RuntimeError>(is_tensor_of_torch(tangent), "expected Variable or None (got ",
                             Py_TYPE(tangent.ptr())->tp_name, ") for grad output ", number, ".");
    const ir::Shape shape = type_seen(result).shape, given = type_seen(tangent).shape;
    user_check<RuntimeError>(
        shape == given,
        "Trying to set a forward gradient that has a different size than that of the original "
        "Tensor, this is not supported. Tensor is of size [",
        join(shape), "] while the given forward gradient is of size [", join(given), "].");
}

}  // namespace

bool tangents_are_asked() { return dual_level().is_asking; }

bool give_tangents(const nb::object& function, const nb::object& context, const nb::tuple& args,
                   nb::handle result) {
    if (!dual_level().is_entered || dual_level().is_asking) return false;
    if (nb::cast<bool>(function.attr("_tangents_by_backward"))) return false;
    const nb::list tangents =
        tangents_of_arguments(args, nb::cast<bool>(context.attr("_materializes")));
    if (nb::len(tangents) == 0) return false;
    const nb::object saved = context.attr("_saved"), versions = context.attr("_versions");
    context.attr("save_for_backward")(*nb::object(context.attr("_saved_for_forward")));
    const nb::list found = as_parts(nb::object(function.attr("jvp")(context, *tangents)));
    context.attr("_saved") = saved;
    context.attr("_versions") = versions;
    const nb::list results = as_parts(result);
    user_check<RuntimeError>(
        nb::len(found) == nb::len(results),
        "Function's jvp returned an invalid number of forward gradients (expected ",
        nb::len(results), " but got ", nb::len(found), ")");
    for (size_t i = 0; i < nb::len(found); ++i) {
        const nb::object tangent = found[i], of = results[i];
        if (tangent.is_none() || !is_tensor_of_torch(of) || !has_gradient(of)) continue;
        check_tangent(of, tangent, i);
        dual_level().duals.push_back(
            {of, goes_beyond_duals(tangent) ? tangent : nb::object(tangent.attr("detach")()),
             true});
    }
    return true;
}

void bind_torch_duals(nb::module_& module) {
    module.def("enter_dual_level", enter_dual_level);
    module.def("exit_dual_level", exit_dual_level);
    module.def("make_dual", make_dual, nb::arg("tensor"), nb::arg("tangent"));
    module.def("unpack_dual", unpack_dual, nb::arg("tensor").none());
}

}  // namespace composit::python
