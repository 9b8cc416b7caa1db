// Calls of composit.torch's modules that have hooks: hooks before and after, hooks of gradients
// around.
#include "arguments.h"
#include "composit/base/error.h"
#include "flags.h"
#include "modules.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "torch_objects.h"

#include <array>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

// Those that hold hooks of a module: of all modules, and itself.
std::array<nb::object, 2> holders_of(nb::handle module) {
    return {provided("hooks_of_all_modules"), nb::borrow(module)};
}

bool has(nb::handle set, nb::handle item) {
    const int found = PySequence_Contains(set.ptr(), item.ptr());
    if (found < 0) throw nb::python_error();
    return found == 1;
}

nb::object called_with(nb::handle function, const nb::tuple& args, const nb::dict& named) {
    nb::object made = nb::steal(PyObject_Call(function.ptr(), args.ptr(), named.ptr()));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

nb::tuple as_tuple(nb::object value) {
    return PyTuple_Check(value.ptr()) ? nb::borrow<nb::tuple>(value) : nb::make_tuple(value);
}

// The arguments that a hook before the call leaves.
void call_before(nb::handle module, nb::handle hook, bool with_named, nb::tuple& args,
                 nb::dict& named) {
    const nb::object changed = with_named ? hook(module, args, named) : hook(module, args);
    if (changed.is_none()) return;
    if (!with_named) {
        args = as_tuple(changed);
        return;
    }
    user_check<RuntimeError>(
        PyTuple_Check(changed.ptr()) && PyTuple_GET_SIZE(changed.ptr()) == 2,
        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got ",
        Said{changed}, ".");
    args = nb::tuple(nb::object(changed[0]));
    named = nb::borrow<nb::dict>(nb::object(changed[1]));
}

nb::object call_after(nb::handle module, nb::handle holder, nb::handle number, nb::handle hook,
                      const nb::tuple& args, const nb::dict& named, nb::handle result) {
    if (has(holder.attr("_forward_hooks_with_kwargs"), number))
        return hook(module, args, named, result);
    return hook(module, args, result);
}

nb::object called_module(nb::handle module, nb::handle called, nb::tuple& args, nb::dict& named) {
    const std::array<nb::object, 2> holders = holders_of(module);
    bool is_watched = false;
    for (const nb::object& holder : holders) {
        const nb::object with_named = holder.attr("_forward_pre_hooks_with_kwargs");
        for (const auto& [number, hook] : items_now(group_in(holder, "_forward_pre_hooks")))
            call_before(module, hook, has(with_named, number), args, named);
    }
    for (const nb::object& holder : holders)
        is_watched = is_watched || nb::len(group_in(holder, "_backward_hooks")) > 0 ||
                     nb::len(group_in(holder, "_backward_pre_hooks")) > 0;
    nb::object watch;
    if (is_watched) {
        watch = provided("watched_call")(module);
        args = nb::tuple(nb::object(watch.attr("entered")(args)));
    }
    nb::object result = called_with(module.attr("forward"), args, named);
    for (const nb::object& holder : holders)
        for (const auto& [number, hook] : items_now(group_in(holder, "_forward_hooks"))) {
            called.attr("add")(number);
            const nb::object changed =
                call_after(module, holder, number, hook, args, named, result);
            if (!changed.is_none()) result = changed;
        }
    return is_watched ? nb::object(watch.attr("left")(result)) : result;
}

// After an exception: those hooks that were registered with always_call and were not called.
void call_always(nb::handle module, nb::handle called, const nb::tuple& args,
                 const nb::dict& named) {
    for (const nb::object& holder : holders_of(module))
        for (const auto& [number, hook] : items_now(group_in(holder, "_forward_hooks"))) {
            if (!has(holder.attr("_forward_hooks_always_called"), number) || has(called, number))
                continue;
            try {
                call_after(module, holder, number, hook, args, named, nb::none());
            } catch (nb::python_error& error) {
                if (!error.matches(PyExc_Exception)) throw;
                const std::string text =
                    std::string(
                        "module forward hook with ``always_call=True`` raised an exception "
                        "that was silenced as another error was raised in forward: ") +
                    nb::str(error.value()).c_str();
                if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 2) < 0) throw nb::python_error();
            }
        }
}

nb::object call_with_hooks(nb::handle module, nb::tuple args, nb::dict named) {
    const nb::set called;
    const nb::tuple given = args;
    const nb::dict given_named = named;
    try {
        return called_module(module, called, args, named);
    } catch (nb::python_error& error) {
        if (error.matches(PyExc_Exception)) call_always(module, called, given, given_named);
        throw;
    }
}

// ----- gradients

// Where tensors stand among values, if gradients go through one of them; else empty.
nb::list places_of_recorded(const nb::tuple& values) {
    nb::list places;
    bool is_any = false;
    for (size_t i = 0; i < nb::len(values); ++i) {
        const nb::object value = values[i];
        if (!is_tensor_of_torch(value)) continue;
        places.append(i);
        is_any = is_any || is_recorded(as_tensor(value));
    }
    return is_any ? places : nb::list();
}

// Values at places, in a row of that length of others.
nb::tuple at_places(nb::handle values, nb::handle places, const nb::tuple& others) {
    nb::list made(others);
    size_t i = 0;
    for (nb::handle place : places) made[nb::cast<size_t>(place)] = values[i++];
    return nb::tuple(made);
}

nb::tuple nones(size_t count) {
    nb::list made;
    for (size_t i = 0; i < count; ++i) made.append(nb::none());
    return nb::tuple(made);
}

nb::tuple chosen(const nb::tuple& values, nb::handle places) {
    nb::list made;
    for (nb::handle place : places) made.append(nb::object(values[nb::cast<size_t>(place)]));
    return nb::tuple(made);
}

// What the hooks of a module make of the gradients of its results, which stand at `places` among
// `count`. The hooks of the arguments' gradients see it alone where no argument has one.
nb::tuple gradients_of_results(nb::handle call, nb::handle gradients) {
    const nb::object places = call.attr("outputs"), module = call.attr("module");
    const auto count = nb::cast<size_t>(call.attr("results"));
    nb::tuple flowing = at_places(gradients, places, nones(count));
    for (nb::handle hook : nb::list(nb::object(call.attr("pre_hooks")))) {
        const nb::object changed = hook(module, flowing);
        if (!changed.is_none()) flowing = as_tuple(changed);
    }
    user_check<RuntimeError>(nb::len(flowing) == count,
                             "Backward pre hook returned an invalid number of grad_output, got ",
                             nb::len(flowing), ", but expected ", count);
    nb::object(nb::borrow(call)).attr("grad_output") = flowing;
    if (nb::len(nb::object(call.attr("inputs"))) == 0)
        for (nb::handle hook : nb::list(nb::object(call.attr("hooks")))) {
            const nb::object changed =
                hook(module, nones(nb::cast<size_t>(call.attr("length"))), flowing);
            user_check<RuntimeError>(changed.is_none(),
                                     "Backward hook for Modules where no input requires gradient "
                                     "should always return None or None for all gradients.");
        }
    return chosen(flowing, places);
}

// The same of the gradients of its arguments.
nb::tuple gradients_of_arguments(nb::handle call, nb::handle gradients) {
    const nb::object places = call.attr("inputs"), module = call.attr("module");
    const auto count = nb::cast<size_t>(call.attr("length"));
    nb::tuple flowing = at_places(gradients, places, nones(count));
    const nb::object results = call.attr("grad_output");
    for (nb::handle hook : nb::list(nb::object(call.attr("hooks")))) {
        const nb::object changed = hook(module, flowing, results);
        if (!changed.is_none()) flowing = as_tuple(changed);
        user_check<RuntimeError>(nb::len(flowing) == count,
                                 "Backward hook returned an invalid number of grad_input, got ",
                                 nb::len(flowing), ", but expected ", count);
    }
    return chosen(flowing, places);
}

}  // namespace

void bind_module_calls(nb::module_& module) {
    module.def("call_with_hooks", call_with_hooks, nb::arg("module"), nb::arg("args"),
               nb::arg("named"),
               "What the module's forward gives, with all hooks. An exception calls those hooks "
               "that were registered with always_call and were not called before it.");
    module.def("places_of_recorded", places_of_recorded, nb::arg("values"),
               "Where tensors stand, if gradients go through one of them; else empty.");
    module.def("at_places", at_places, nb::arg("values"), nb::arg("places"), nb::arg("others"),
               "Values at places, in a row of others.");
    module.def("gradients_of_results", gradients_of_results, nb::arg("call"), nb::arg("gradients"));
    module.def("gradients_of_arguments", gradients_of_arguments, nb::arg("call"),
               nb::arg("gradients"));
}

}  // namespace composit::python
