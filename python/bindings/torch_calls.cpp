// Operations of composit.torch with nodes: what a function over LazyTensors gives over Tensors, and
// what of it the tape keeps.
#include "torch_calls.h"

#include "arrays.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "composit/ir/operation.h"
#include "content.h"
#include "level.h"
#include "location.h"
#include "tape.h"
#include "torch_objects.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

// PyTorch's names of arguments that have another one here, and those that mean nothing here.
constexpr std::array<std::pair<const char*, const char*>, 3> other_argument_names = {
    {{"axis", "dim"}, {"keepdims", "keepdim"}, {"self", "input"}}};
constexpr std::array ignored_arguments = {"device",        "layout",       "pin_memory",
                                          "memory_format", "non_blocking", "generator"};

nb::object core(const char* name) {
    static const auto* const module =
        new nb::module_(nb::module_::import_("composit._core"));  // lives for ever
    return module->attr(name);
}

nb::object of_nn(const char* name) {
    static const auto* const module = new nb::object(core("nn"));
    return module->attr(name);
}

nb::object of_writing(const char* name) { return core("writing").attr(name); }

void add_tensors(nb::handle value, nb::list& found) {
    for (const nb::object& tensor : tensors_within(value)) found.append(tensor);
}

}  // namespace

void note_read(nb::handle tensor) {
    TensorObject* const object = torch_tensor(tensor);
    const bool is_root = !is_there(object->root);
    const nb::object leaf = is_root ? nb::borrow(tensor) : nb::borrow(object->root);
    TensorObject* const fields = as_tensor(leaf);
    if (!fields->is_leaf) return;
    if (fields->is_pending) core("materialize")(leaf);
    const nb::object lazy = lazy_of(tensor);
    const ir::Tensor held =
        is_root ? content_of<LazyTensor>(lazy).tensor()
                : content_of<LazyTensor>(nb::object(lazy.attr("read_from")())).tensor();
    // A view sees the memory that the leaf had, if the leaf was given another one.
    if (ir::is_constant(held.node()) || held.node().operation().name == "stop_gradient")
        leaf_of(leaf).readings().note(held);
}

nb::list as_parts(nb::handle value) {
    nb::list parts;
    if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()))
        for (nb::handle part : value) parts.append(part);
    else
        parts.append(value);
    return parts;
}

nb::object wrapped_tensor(const ir::Tensor& value) {
    nb::object made = new_tensor();
    made.attr("_lazy") = wrap_array(value);
    enter(made);
    return made;
}

ir::Tensor held_by(nb::handle tensor) {
    torch_tensor(tensor);
    const nb::object lazy = lazy_of(tensor);
    return content_of<LazyTensor>(lazy).tensor();
}

nb::object torch_function(const char* name) { return provided("torch_functions")[name]; }

void refuse_unbuilt(const std::string& text) {
    PyErr_SetString(PyExc_NotImplementedError, with_location(text).c_str());
    throw nb::python_error();
}

namespace {

// Whether a tensor is a view that was made before its source became a leaf. It counts as recorded,
// but its values are the source's, to which no gradient goes through it.
bool is_view_from_before(const TensorObject* tensor) {
    return !tensor->is_leaf && !is_there(tensor->record) && is_there(tensor->root) &&
           as_tensor(tensor->root)->is_leaf;
}

// What functions over LazyTensors take in place of an argument.
nb::object operand_for(nb::handle value, bool is_detached) {
    if (is_tensor_of_torch(value)) {
        const nb::object lazy = lazy_of(value);
        const TensorObject* const tensor = as_tensor(value);
        const bool is_cut = is_detached && ((tensor->is_tainted && !is_recorded(tensor)) ||
                                            is_view_from_before(tensor));
        return is_cut ? of_nn("stop_gradient")(lazy) : lazy;
    }
    if (PyList_CheckExact(value.ptr()) || PyTuple_CheckExact(value.ptr())) {
        const Level level(" in an argument");
        nb::list items;
        for (const nb::handle item : value) items.append(operand_for(item, is_detached));
        return PyList_CheckExact(value.ptr()) ? nb::object(items) : nb::object(nb::tuple(items));
    }
    if (value.type().is(provided("torch_size"))) return nb::tuple(nb::borrow(value));
    if (value.type().is(provided("torch_dtype"))) return value.attr("numpy");
    user_check<TypeError>(
        !value.type().is(numpy_attribute("ndarray")),
        with_location("an ndarray is given. A Tensor is required; torch.from_numpy makes one."));
    return nb::borrow(value);
}

}  // namespace

// The same in other memory, with a node of its own, so that a value that was saved of the copy is
// told apart from one of what was copied. Gradients go through it where it is recorded.
nb::object of_its_own(nb::handle lazy, bool is_recorded) {
    nb::object made = lazy.attr("copied_in_order")();
    made.attr("replaced")(is_recorded ? of_nn("with_values")(lazy, lazy)
                                      : core("own_constant")(lazy));
    return made;
}

// A view's results: elements are tensors without dimensions, which see the source's memory. A
// recorded view of the whole has a node of its own: a leaf may get other data than it.
nb::object as_views(nb::handle result, nb::handle source, bool is_recorded) {
    if (PyList_Check(result.ptr()) || PyTuple_Check(result.ptr())) {
        nb::list parts;
        for (const nb::handle part : result) parts.append(as_views(part, source, is_recorded));
        return nb::tuple(parts);
    }
    if (is_tensor(result) && is_recorded && nb::cast<bool>(result.attr("is_same")(source)))
        return core("whole_view")(source);
    if (nb::isinstance(result, core("LazyScalar"))) return core("view")(result, source);
    return nb::borrow(result);
}

namespace {

// What a call was made of, for its results.
struct Made {
    const nb::list& found;  // tensors among its arguments
    nb::object record;      // None: nothing is recorded
    bool is_tainted, is_view;
};

nb::object tensor_of(nb::object lazy, const Made& call) {
    const auto is_same = [&](nb::handle tensor) {
        return nb::cast<bool>(lazy.attr("is_same")(lazy_of(tensor)));
    };
    nb::object root;
    if (call.is_view && nb::cast<bool>(lazy.attr("is_in_memory_of")(lazy_of(call.found[0])))) {
        const nb::object source = call.found[0];
        root = is_there(as_tensor(source)->root) ? nb::borrow(as_tensor(source)->root) : source;
        as_tensor(root)->is_shared = 1;
    } else if (!nb::cast<bool>(lazy.attr("is_plain")) ||
               std::any_of(call.found.begin(), call.found.end(), is_same)) {
        lazy = of_its_own(lazy, !call.record.is_none());
    }
    nb::object tensor = new_tensor();
    TensorObject* const fields = as_tensor(tensor);
    tensor.attr("_lazy") = lazy;
    if (root.is_valid()) {
        // Setting the root shares its counter of writes.
        tensor.attr("_root") = root;
        tensor.attr("_record_of_root") = root.attr("_record");
    }
    const bool is_float = ir::is_inexact(content_of<LazyTensor>(lazy).type().dtype);
    if (!call.record.is_none() && is_float)
        tensor.attr("_record") = call.record;
    else if (!call.record.is_none() || call.is_tainted)
        fields->is_tainted = 1;
    enter(tensor);
    return tensor;
}

nb::object tensors_of(nb::handle result, const Made& call) {
    if (is_tensor(result)) return tensor_of(nb::borrow(result), call);
    if (!PyList_Check(result.ptr()) && !PyTuple_Check(result.ptr())) return nb::borrow(result);
    nb::list parts;
    long long number = 0;
    for (const nb::handle part : result) {
        const nb::object made = tensors_of(part, call);
        ++number;
        if (call.is_view && is_tensor_of_torch(made) && is_there(as_tensor(made)->root))
            as_tensor(made)->number = number;
        parts.append(made);
    }
    if (nb::hasattr(result, "_fields")) return result.type()(*parts);
    return result.type()(parts);
}

// What the operation saves for its gradient.
void save(const nb::object& record, const nb::object& function, const Arguments& arguments,
          nb::handle result) {
    nb::list operands, given, results;
    const auto add = [&](const nb::object& place, nb::handle value) {
        given.append(nb::make_tuple(place, value));
        nb::list found;
        add_tensors(value, found);
        for (const nb::handle tensor : found)
            operands.append(nb::make_tuple(place, tensor, is_recorded(as_tensor(tensor))));
    };
    for (size_t i = 0; i < arguments.by_place.size(); ++i) add(nb::int_(i), arguments.by_place[i]);
    for (const auto& [name, value] : arguments.by_name) add(nb::borrow(name), value);
    add_tensors(result, results);
    provided("save_operation")(record, function, operands, results, given);
}

nb::object written_out(const std::string& name, nb::object out, nb::handle result) {
    if (PyTuple_Check(out.ptr())) {
        const size_t count = std::min(nb::len(out), nb::len(result));
        for (size_t i = 0; i < count; ++i)
            written_out(name, nb::object(out[i]), nb::object(result[i]));
        return out;
    }
    user_check<RuntimeError>(
        !is_recorded(torch_tensor(out)) && !is_recorded(torch_tensor(result)),
        with_location(composit::text(name,
                                     "(): functions with out=... arguments don't support automatic "
                                     "differentiation, but one of the arguments requires grad.")));
    const nb::object stored = of_writing("stored")(result);
    if (nb::object(out.attr("shape")).equal(result.attr("shape")))
        of_writing("overwrite")(out, stored);
    else
        out.attr("_lazy") = core("laid_like")(stored, lazy_of(result));
    return out;
}

// Errors of functions over LazyTensors in PyTorch's classes. The arguments of another try, where
// operands of several devices are moved to one; else it throws.
nb::object after_error(nb::python_error& error, const nb::object& function,
                       const Arguments& arguments) {
    if (error.matches(core("NotSupported"))) throw;
    const auto raise = [&](PyObject* kind) {
        const nb::str said(error.value());
        PyErr_SetObject(kind, said.ptr());
        throw nb::python_error();
    };
    if (error.matches(PyExc_ValueError)) {
        if (error.matches(PyExc_IndexError)) raise(PyExc_IndexError);
        raise(error.matches(core("PyTorchValueError")) ? PyExc_ValueError : PyExc_RuntimeError);
    }
    if (!error.matches(PyExc_RuntimeError)) throw;
    const nb::object again =
        on_one_device(error.value(), function, arguments.by_place, arguments.by_name);
    if (again.is_none()) throw;
    return again;
}

}  // namespace

nb::object call_now(const nb::object& function, const std::string& name, bool is_view,
                    const nb::tuple& args, const nb::dict& kwargs) {
    const Arguments arguments = settled_arguments(args, kwargs);
    nb::object out = nb::none();
    if (arguments.by_name.contains("out")) {
        out = arguments.by_name["out"];
        nb::del(nb::borrow<nb::dict>(arguments.by_name)["out"]);
    }
    nb::list found, plain, recorded;
    nb::dict named;
    for (const nb::handle value : arguments.by_place) add_tensors(value, found);
    for (const auto& [key, value] : arguments.by_name) add_tensors(value, found);
    if (eager::is_recording())
        for (const nb::handle tensor : found)
            if (is_recorded(as_tensor(tensor))) recorded.append(tensor);
    const bool is_recording = recorded.size() > 0;
    for (const nb::handle tensor : recorded) note_read(tensor);
    for (const nb::handle value : arguments.by_place)
        plain.append(operand_for(value, is_recording));
    for (const auto& [key, value] : arguments.by_name)
        named[key] = operand_for(value, is_recording);
    nb::object result, again;
    try {
        const IgnoredErrors scope;
        // Numbers of Python that it computes are not rounded as the caller rounds.
        result = core("called_in_operation")(function, *plain, **named);
        if (!function.is(provided("transfer_between_devices")))
            result = provided("joined_places")(result, plain);
        if (is_view) result = as_views(result, plain[0], is_recording);
    } catch (nb::python_error& error) {
        again = after_error(error, function, arguments);
    }
    if (again.is_valid()) {
        nb::dict options = nb::borrow<nb::dict>(nb::object(again[1]));
        if (!out.is_none()) options["out"] = out;
        return call_now(function, name, is_view, nb::tuple(nb::object(again[0])), options);
    }
    const auto passes_none = [](nb::handle tensor) {
        return as_tensor(tensor)->is_tainted || is_recorded(as_tensor(tensor));
    };
    Made call{found, nb::none(),
              !is_recording && std::any_of(found.begin(), found.end(), passes_none), is_view};
    if (is_recording) {
        nb::list operands;
        for (const nb::handle tensor : recorded) operands.append(record_of(tensor));
        call.record = core("GradFn")(core("record_name")(name), operands);
    }
    if (is_tensor_of_torch(out))
        of_writing("check_overlap")(out, nb::make_tuple(out) + nb::tuple(found));
    result = tensors_of(result, call);
    if (!call.record.is_none() && nb::cast<bool>(call.record.attr("saves_values")))
        save(call.record, function, arguments, result);
    return out.is_none() ? result : written_out(name, out, result);
}

namespace {

// NumPy's names, which PyTorch takes for its own where a function has none of that name.
constexpr std::array<std::pair<const char*, const char*>, 4> names_of_numpy = {
    {{"x", "input"}, {"a", "input"}, {"x1", "input"}, {"x2", "other"}}};

// A named input stands where the function has it, behind what else is named before it.
Arguments with_input_in_place(const nb::list& own, nb::list args, nb::dict kwargs) {
    const nb::str input("input");
    size_t place = 0;
    while (!nb::object(own[place]).equal(input)) ++place;
    bool is_named = args.size() < place;
    for (size_t i = args.size(); i < place; ++i)
        is_named = is_named && kwargs.contains(nb::object(own[i]));
    if (!is_named) return {nb::tuple(args), kwargs};
    const size_t given = args.size();
    for (size_t i = given; i <= place; ++i) {
        const nb::object name = own[i];
        args.append(nb::object(kwargs[name]));
        nb::del(kwargs[name]);
    }
    return {nb::tuple(args), kwargs};
}

// Arguments by the names that a function has, of which `own` are all; `known` are PyTorch's other
// names for them, where * stands for those that the function takes one by one.
nb::tuple renamed_arguments(const nb::list& own, const nb::dict& known, const nb::tuple& given,
                            const nb::dict& kwargs) {
    const auto has = [&](nb::handle name) {
        return PySequence_Contains(own.ptr(), name.ptr()) == 1;
    };
    nb::list args;
    for (nb::handle value : given) args.append(value);
    nb::dict made;
    for (const auto& [key, value] : kwargs) {
        nb::object target = known.get(key, nb::borrow(key));
        if (!has(target))
            for (const auto& [theirs, ours] : names_of_numpy)
                if (target.equal(nb::str(theirs))) {
                    target = nb::str(ours);
                    break;
                }
        if (target.equal(nb::str("*")))
            args.append(value);
        else
            made[target] = value;
    }
    Arguments all{nb::tuple(args), made};
    const nb::str input("input");
    if (made.contains(input) && has(input) && !nb::object(own[0]).equal(input))
        all = with_input_in_place(own, args, made);
    return nb::make_tuple(all.by_place, all.by_name);
}

}  // namespace

Arguments settled_arguments(const nb::tuple& args, const nb::dict& kwargs) {
    Arguments made{args, {}};
    if (kwargs.size() == 0) return made;
    for (const auto& [key, value] : kwargs) {
        nb::object name = nb::borrow(key);
        for (const auto& [theirs, ours] : other_argument_names)
            if (name.equal(nb::str(theirs))) name = nb::str(ours);
        made.by_name[name] = value;
    }
    provided("check_device")(made.by_name.get("device", nb::none()));
    for (const char* name : ignored_arguments)
        if (made.by_name.contains(name)) nb::del(made.by_name[name]);
    if (made.by_name.contains("input")) {
        const nb::object input = made.by_name["input"];
        nb::del(made.by_name["input"]);
        made.by_place = nb::tuple(nb::make_tuple(input) + args);
    }
    return made;
}

void bind_torch_calls(nb::module_& module) {
    module.def(
        "argument_names",
        [] {
            nb::dict names;
            for (const auto& [theirs, ours] : other_argument_names) names[theirs] = ours;
            nb::list ignored;
            for (const char* name : ignored_arguments) ignored.append(name);
            return nb::make_tuple(names, nb::tuple(ignored));
        },
        "(PyTorch's names of arguments that have another one here, those that mean nothing here).");
    module.def("note_read", note_read, nb::arg("tensor"),
               "A recorded operation reads the tensor: what the leaf holds that it is, or is a "
               "view of, is noted.");
    module.def(
        "settled_arguments",
        [](const nb::tuple& args, const nb::dict& kwargs) {
            const Arguments made = settled_arguments(args, kwargs);
            return nb::make_tuple(made.by_place, made.by_name);
        },
        nb::arg("args"), nb::arg("kwargs"),
        "Arguments under the names that functions here have, without those that mean nothing "
        "here.");
    module.def("renamed_arguments", renamed_arguments, nb::arg("own"), nb::arg("known"),
               nb::arg("args"), nb::arg("kwargs"),
               "Arguments by the names that a function has, of which `own` are all, and `known` "
               "other names for them.");
    module.def("of_its_own", of_its_own, nb::arg("lazy"), nb::arg("is_recorded"),
               "The same in other memory, with a node of its own. Gradients go through it where "
               "it is recorded.");
    module.def("as_views", as_views, nb::arg("result"), nb::arg("source"), nb::arg("is_recorded"),
               "A view's results: elements see the source's memory, too.");
    module.def("call_now", call_now, nb::arg("function"), nb::arg("name"), nb::arg("is_view"),
               nb::arg("args"), nb::arg("kwargs"),
               "The function's result over Tensors, with nodes.");
}

}  // namespace composit::python
