// What composit.torch's tensors do beside functions of graphs: operations that were not met before,
// elements that are written, leaves, data, hooks, and tensors in other places.
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "composit/eager/writing.h"
#include "composit/ir/body.h"
#include "composit/ir/dtype_traits.h"
#include "composit/nn/differentiation.h"
#include "content.h"
#include "conversion_arguments.h"
#include "flags.h"
#include "following.h"
#include "level.h"
#include "location.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "trace_keys.h"
#include "values.h"
#include "writing.h"

#include <nanobind/stl/string.h>

#include <string>
#include <utility>

namespace composit::python {
namespace {

nb::object function_of_core(const char* name) {
    static const auto* const module =
        new nb::module_(nb::module_::import_("composit._core"));  // lives for ever
    return module->attr(name);
}

const Tensor& tensor_in(nb::handle lazy) { return content_of<LazyTensor>(lazy).tensor(); }

bool is_in_set(const char* set, nb::handle value) {
    const int found = PySet_Contains(provided(set).ptr(), value.ptr());
    if (found < 0) throw nb::python_error();
    return found == 1;
}

// Leaves that were written are constants before a trace meets them. Whether there were some.
bool compute_pending(const nb::tuple& args) {
    nb::list pending;
    for (nb::handle value : args)
        if (is_tensor_of_torch(value) && as_tensor(value)->is_pending) pending.append(value);
    if (nb::len(pending) == 0 || PyList_GET_ITEM(world().capturing->ptr(), 0) == Py_True)
        return false;
    function_of_core("materialize")(*pending);
    return true;
}

// The result of a function that was not met at this point of the trace.
nb::object call_unknown(const nb::object& function, const std::string& name, bool is_view,
                        nb::tuple args, nb::dict kwargs) {
    const nb::dict others = nb::borrow<nb::dict>(provided("other_operands"));
    if (nb::len(others) > 0) {
        nb::list given{args};
        for (nb::handle value : kwargs.values()) given.append(value);
        for (nb::handle value : given)
            if (PyObject* const called = PyDict_GetItem(others.ptr(), value.type().ptr()))
                return nb::handle(called)(name, args, kwargs);
    }
    static const auto* const check = new nb::object(function_of_core("check_operands"));
    (*check)(name, args, kwargs,
             nb::borrow<nb::dict>(provided("torch_methods")).contains(name.c_str()));
    if (nb::len(kwargs) > 0) {
        const nb::object both = provided("renamed_arguments")(function, name, args, kwargs);
        args = nb::borrow<nb::tuple>(nb::object(both[0]));
        kwargs = nb::borrow<nb::dict>(nb::object(both[1]));
    }
    if (is_in_set("pure_functions", function)) {
        if (compute_pending(args)) {
            const nb::object again = provided("torch_call");
            return again(function, name, is_view, args, kwargs);
        }
        TraceObject* const now = world().trace_of_now();
        if (now->is_open && is_recorded_here()) {
            nb::object trace = nb::borrow(reinterpret_cast<PyObject*>(now));
            return recorded(std::move(trace), function, name, is_view, args, kwargs);
        }
    }
    return call_now(function, name, is_view, args, kwargs);
}

// ----- elements read and written

nb::object get_item_of_torch(nb::handle self, nb::handle index) {
    const nb::object function = provided("get_item_function");
    PyObject* const values[] = {self.ptr(), index.ptr()};
    nb::object known = follow(function, values, 2, nullptr);
    if (known.is_valid()) return known;
    const nb::tuple read = read_index(index);
    const nb::object at = read[0];
    const bool is_basic = nb::cast<bool>(nb::object(read[1]));
    const char* const name = PyLong_Check(at.ptr()) ? "select" : is_basic ? "slice" : "index";
    return call_function(function, name, is_basic, nb::make_tuple(self, at));
}

// The elements become another tensor's.
nb::object copy_into(nb::handle self, nb::object source) {
    check_writable(self, false);
    if (!is_tensor_of_torch(source)) source = torch_function("tensor")(source);
    if (may_see_others(self)) {
        check_overlap_with(self, self);
        check_overlap_with(self, source);
    }
    const nb::object made = call_function(
        provided("copying_function"), "copy", false,
        nb::make_tuple(source, self.attr("dtype"), tuple_from(type_seen(self).shape)));
    replace(self, made, "copy");
    return nb::borrow(self);
}

bool is_mask(nb::handle index) {
    return is_tensor_of_torch(index) && type_seen(index).dtype == ir::DType::boolean;
}

// RuntimeError where some, but not all, of the elements that are written are the value's; by arrays
// of indices any.
void check_assigned(nb::handle self, nb::handle index, bool is_basic, nb::handle value) {
    if (is_basic) {
        const eager::NoGrad scope;
        check_overlap_with(get_item_of_torch(self, index), value);
        return;
    }
    // A number is read before anything is written.
    if (ir::element_count(type_seen(value).shape) != 1)
        function_of_core("check_overlap")(lazy_of(self), lazy_of(value), false);
}

void set_item_of_torch(nb::handle self, nb::handle given, nb::object value) {
    const nb::tuple read = read_index(given);
    const nb::object index = read[0];
    const bool is_basic = nb::cast<bool>(nb::object(read[1]));
    check_writable(self, is_basic);
    if (nb::isinstance(value, numpy_attribute("ndarray")))
        value = provided("torch_from_numpy")(value);
    const bool is_tensor = is_tensor_of_torch(value);
    const bool is_filled = is_tensor && type_seen(value).shape.empty() && is_mask(index);
    if (is_filled && ir::is_complex(type_seen(value).dtype) &&
        !ir::is_complex(type_seen(self).dtype)) {
        set_item_of_torch(self, given, value.attr("item")());  // which has to be a real number
        return;
    }
    if (!is_basic && is_tensor && !is_filled)
        function_of_core("check_operands")("index_put", nb::make_tuple(self, nb::tuple(), value),
                                           nb::dict(), true);
    user_check<TypeError>(!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr()),
                          "can't assign a ", KindOf{value}, " to a tensor");
    TensorObject* const target = torch_tensor(self);
    if (is_basic && (is_there(target->root) || target->lazy)) {
        const nb::object lazy = lazy_of(self);
        if (content_of<LazyTensor>(lazy).cell()->sees_selection()) {
            copy_into(get_item_of_torch(self, index), value);
            return;
        }
    }
    if (is_tensor && share_memory(self, value)) check_assigned(self, index, is_basic, value);
    const bool has_gradient = eager::is_recording() &&
                              (is_recorded(target) || (is_tensor && is_recorded(as_tensor(value))));
    const nb::object made = call_function(provided("set_item_function"), "copy_slices", false,
                                          nb::make_tuple(self, index, value));
    if (has_gradient) {
        replace(self, made, "copy_slices");
    } else if (!assigned(self, made, false)) {
        const nb::object held = stored(made);
        overwrite(self, tensor_in(held));
    }
}

// A list of indices as an array of integers, or of truths. Floats are cut off, as PyTorch does.
nb::object array_of_indices(nb::handle list) {
    const nb::object array = numpy_attribute("asarray")(list);
    const nb::object type = array.attr("dtype");
    const std::string kind = nb::str(nb::object(type.attr("kind"))).c_str();
    if (nb::cast<int64_t>(nb::object(array.attr("size"))) == 0)
        return array.attr("astype")("int64");
    if (kind == "b" || kind == "i" || kind == "u") return array;
    user_check<TypeError>(kind != "c", "'complex' object cannot be interpreted as an integer");
    user_check<TypeError>(kind == "f", "new(): invalid data type '", kind == "U" ? "str" : "object",
                          "'");
    constexpr double beyond = 9223372036854775808.0;  // the first that is no int64
    const nb::object size = numpy_attribute("abs")(array).attr("max")();
    user_check<RuntimeError>(nb::cast<double>(size.attr("item")()) < beyond,
                             "value cannot be converted to type int64 without overflow");
    return array.attr("astype")("int64");
}

// RuntimeError, PyTorch's, where one value is written at a mask of bytes, which is not filled.
// Other indices beside it may be basic.
void check_filled(nb::handle index, nb::handle value) {
    const nb::tuple parts =
        PyTuple_Check(index.ptr()) ? nb::borrow<nb::tuple>(index) : nb::make_tuple(index);
    const bool is_one =
        !is_tensor(value) || ir::element_count(content_of<LazyTensor>(value).type().shape) == 1;
    size_t arrays = 0, masks = 0;
    for (nb::handle part : parts) {
        arrays += is_tensor(part) || PyList_Check(part.ptr());
        if (!is_tensor(part)) continue;
        const ir::TensorType& type = content_of<LazyTensor>(part).type();
        masks += type.dtype == ir::DType::uint8 && !type.shape.empty();
    }
    user_check<RuntimeError>(!is_one || arrays != 1 || masks != 1,
                             "masked_fill_ only supports boolean masks, but got mask with dtype "
                             "unsigned char");
}

// One of torch's indices as composit.numpy's: lists are index arrays, also in tuples.
nb::object index_of_arrays(nb::handle index) {
    if (PyTuple_Check(index.ptr())) {
        const Level level(" in an index");
        nb::list parts;
        for (nb::handle part : index) parts.append(index_of_arrays(part));
        return nb::tuple(parts);
    }
    if (PyList_Check(index.ptr()) || PyRange_Check(index.ptr())) return array_of_indices(index);
    if (!is_tensor(index)) return nb::borrow(index);
    const ir::DType dtype = content_of<LazyTensor>(index).type().dtype;
    if (dtype == ir::DType::uint8) return index.attr("astype")("bool");
    const bool is_index =
        dtype == ir::DType::int64 || dtype == ir::DType::int32 || dtype == ir::DType::boolean;
    user_check<IndexError>(is_index,
                           "tensors used as indices must be long, int, byte or bool tensors");
    return nb::borrow(index);
}

// ----- leaves

void begin_as_leaf(nb::handle tensor) {
    TensorObject* const self = torch_tensor(tensor);
    const nb::object lazy = lazy_of(tensor);
    self->is_leaf = 1;
    self->is_pending = !ir::is_constant(tensor_in(lazy).node());
    self->is_tainted = 0;
    enter(tensor);
}

// Makes it a leaf whose gradient is wanted, in the memory where it lies.
void make_leaf(nb::handle tensor) {
    TensorObject* const self = torch_tensor(tensor);
    interrupt_trace();
    // Its node is of its own, so that gradients stop there and go nowhere else.
    const nb::object lazy = lazy_of(tensor);
    if (nb::cast<bool>(nb::object(lazy.attr("is_plain")))) {
        const Located scope;
        content_of<LazyTensor>(lazy).replace(nn::stop_gradient(tensor_in(lazy)));
    } else {
        const nb::object root = is_there(self->root) ? nb::borrow(self->root) : nb::object();
        lie_in(tensor, tensor, lazy.attr("leaf")());
        if (root.is_valid()) {
            self->number = -1;
            share_counter(self, as_tensor(root));
        }
    }
    begin_as_leaf(tensor);
}

void set_requires_grad(nb::handle tensor, TruthFlag requires_grad) {
    TensorObject* const self = torch_tensor(tensor);
    interrupt_trace();
    if (!requires_grad) {
        user_check<RuntimeError>(!is_there(self->record),
                                 "you can only change requires_grad flags of leaf variables.");
        self->is_tainted = self->is_tainted || self->is_leaf;
        self->is_leaf = 0;
        self->number = 0;
        return;
    }
    if (is_recorded(self)) return;
    const nb::object lazy = lazy_of(tensor);
    user_check<RuntimeError>(ir::is_inexact(tensor_in(lazy).dtype()),
                             "only Tensors of floating point dtype can require gradients");
    make_leaf(tensor);
}

void set_gradient(nb::handle tensor, nb::handle value) {
    TensorObject* const self = torch_tensor(tensor);
    if (value.is_none()) {
        drop(self->grad);
        return;
    }
    user_check<TypeError>(is_tensor_of_torch(value),
                          "assigned grad expected to be a Tensor or None but got grad of type ",
                          Py_TYPE(value.ptr())->tp_name);
    user_check<RuntimeError>(!value.is(tensor), "can't assign Variable as its own grad");
    const ir::TensorType given = type_seen(value), own = type_seen(tensor);
    user_check<RuntimeError>(
        given.dtype == own.dtype, "attempting to assign a gradient with dtype '",
        ir::cpp_type_name(given.dtype), "' to a tensor with grad_dtype '",
        ir::scalar_type_name(own.dtype), "'. The gradient must match the tensor's dtype.");
    user_check<RuntimeError>(given.shape == own.shape, "attempting to assign a gradient of size '[",
                             join(given.shape), "]' to a tensor of size '[", join(own.shape),
                             "]'. Please ensure that the gradient and the tensor are the same "
                             "size");
    const nb::object there = value.attr("device"), here = tensor.attr("device");
    user_check<RuntimeError>(there.equal(here),
                             "assigned grad has data located on a different device: ", Said{there},
                             ", and the tensor on ", Said{here}, ". Move it with .to(device).");
    put(self->grad, value);
}

// The tensor gets other elements.
void set_data(nb::handle tensor, nb::handle value) {
    TensorObject* const self = torch_tensor(tensor);
    TensorObject* const other = torch_tensor(value);
    const auto cell = [](nb::handle of) {
        const nb::object lazy = lazy_of(of);
        return content_of<LazyTensor>(lazy).cell();
    };
    if (other->lazy && self->lazy) {
        const Ref<Cell> held = cell(value);
        if (eager::is_same_place(*held, *cell(tensor))) return;  // x.data += 1: it is there
    }
    // So that no nodes are made of what came before.
    if (!other->lazy && !is_recorded(other)) materialize_by_structure(value);
    interrupt_trace();
    const nb::object lazy = lazy_of(value);
    if (self->is_leaf) {  // views of it see the old memory
        const nb::object before = lazy_of(tensor);
        leaf_of(tensor).readings().note(tensor_in(before));
        lie_in(tensor, value, lazy.attr("leaf")());
        counter_of(self)->move_into(counter_of(other));
        begin_as_leaf(tensor);
        return;
    }
    if (is_recorded(self)) {
        const nb::object before = lazy_of(tensor);
        const Located scope;
        tensor.attr("_lazy") =
            wrap_array(nn::with_values(tensor_in(before), nn::stop_gradient(tensor_in(lazy))));
        tensor.attr("_root") = nb::none();
    } else {
        lie_in(tensor, value, lazy.attr("alias")());
        self->is_tainted = 1;
    }
    enter(tensor);
}

// ----- hooks

nb::object register_hook(nb::handle tensor, nb::handle hook) {
    TensorObject* const self = torch_tensor(tensor);
    user_check<RuntimeError>(is_recorded(self),
                             "cannot register a hook on a tensor that doesn't require gradient");
    const nb::object handle = provided("hook_handle");
    if (self->is_leaf) {
        if (!is_there(self->hooks)) put(self->hooks, nb::dict());
        return handle(nb::handle(self->hooks), hook);
    }
    interrupt_trace();
    if (!is_there(self->record) || !record_of(tensor).is(nb::handle(self->record)))
        refuse_unbuilt("register_hook: hooks of views of what was written are not built.");
    const nb::object record = nb::borrow(self->record), lazy = lazy_of(tensor);
    nb::object points = record.attr("hook_points");
    if (points.is_none()) {
        points = nb::list();
        record.attr("hook_points") = points;
    }
    for (nb::handle point : points) {
        const nb::object held = point.attr("lazy");
        if (&tensor_in(held).node() == &tensor_in(lazy).node())
            return handle(point.attr("hooks"), hook);
    }
    const nb::object point = provided("hook_point")(lazy.attr("copied")());
    points.attr("append")(point);
    return handle(point.attr("hooks"), hook);
}

nb::object register_hook_after_gradients(nb::handle tensor, nb::handle hook) {
    TensorObject* const self = torch_tensor(tensor);
    user_check<RuntimeError>(
        self->is_leaf, is_recorded(self)
                           ? "post accumulate grad hooks cannot be registered on non-leaf tensors"
                           : "cannot register a hook on a tensor that doesn't require gradient");
    if (!is_there(self->post_hooks)) put(self->post_hooks, nb::dict());
    return provided("hook_handle")(nb::handle(self->post_hooks), hook);
}

// ----- in other places

// Tensor.to: on another device, in another dtype, or as another tensor is.
nb::object converted(nb::handle tensor, const nb::tuple& args, const nb::dict& kwargs) {
    const ConversionWanted wanted = read_conversion(args, kwargs);
    const nb::object &dtype = wanted.dtype, &device = wanted.device;
    nb::object made = nb::borrow(tensor);
    if (!dtype.is_none() && !dtype.is(nb::object(made.attr("dtype"))))
        made = call_function(provided("casting_function"), "to_copy", false,
                             nb::make_tuple(made, dtype));
    if (!device.is_none()) {
        const std::string place = full_device_name(device);
        if (place != place_of_seen(made)) made = provided("moved_to_device")(made, place);
    }
    return wanted.is_copy && made.is(tensor) ? nb::object(made.attr("clone")()) : made;
}

// ----- operations of traces once more

// The function's result over the LazyTensors at the places of a trace.
nb::object operation_over(nb::handle operation, nb::handle trace, nb::handle state,
                          nb::handle lazies) {
    const bool is_view = nb::cast<bool>(nb::object(operation.attr("is_view")));
    const bool sees_source =
        is_view && lazies.is(nb::handle(reinterpret_cast<TraceObject*>(trace.ptr())->lazies));
    const nb::object detached = state.attr("detached");
    nb::list plain;
    nb::dict options;
    for (nb::handle value : nb::object(state.attr("operands")))
        plain.append(operand_of_trace(trace, value, detached, lazies, sees_source));
    for (const auto& [name, value] : nb::borrow<nb::dict>(nb::object(state.attr("named"))))
        options[name] = operand_of_trace(trace, value, detached, lazies, sees_source);
    nb::object result = function_of_core("called_in_operation")(
        nb::object(operation.attr("function")), *plain, **options);  // as call_now does
    result = provided("joined_places")(result, plain);
    const bool is_recorded = !nb::object(state.attr("sources")).is_none();
    if (is_view) return as_views(result, nb::object(plain[0]), is_recorded);
    if (!is_tensor(result)) return result;
    nb::list operands;
    for (nb::handle value : plain) operands.append(value);
    for (const auto& [name, value] : options) operands.append(value);
    return shares_memory(result, operands) ? of_its_own(result, is_recorded) : result;
}

}  // namespace

nb::object call_function(const nb::object& function, const char* name, bool is_view,
                         const nb::tuple& args) {
    return provided("torch_call")(function, name, is_view, args, nb::dict());
}

void bind_torch_operations(nb::module_& module) {
    module.def("call_unknown", call_unknown, nb::arg("function"), nb::arg("name"),
               nb::arg("is_view"), nb::arg("args"), nb::arg("kwargs"),
               "The result of a function that was not met at this point of the trace.");
    module.def("operation_over", operation_over, nb::arg("operation"), nb::arg("trace"),
               nb::arg("state"), nb::arg("lazies"),
               "The result of a trace's operation over the LazyTensors at its places.");
    module.def("get_item", get_item_of_torch, nb::arg("tensor"), nb::arg("index").none());
    module.def("set_item", set_item_of_torch, nb::arg("tensor"), nb::arg("index").none(),
               nb::arg("value").none());
    module.def(
        "copy_into",
        [](nb::handle tensor, nb::handle other, nb::handle src) {
            user_check<TypeError>(other.is_none() != src.is_none(),
                                  "copy_: other and src are both given, or neither. One is "
                                  "required.");
            return copy_into(tensor, nb::borrow(src.is_none() ? other : src));
        },
        nb::arg("tensor"), nb::arg("other").none(), nb::arg("src").none(),
        "The elements become another tensor's.");
    module.def("check_filled", check_filled, nb::arg("index").none(), nb::arg("value"),
               "RuntimeError where one value is written at a mask of bytes.");
    module.def("index_of_arrays", index_of_arrays, nb::arg("index").none(),
               "One of torch's indices as composit.numpy's.");
    module.def("begin_as_leaf", begin_as_leaf, nb::arg("tensor"));
    module.def("make_leaf", make_leaf, nb::arg("tensor"),
               "Makes it a leaf whose gradient is wanted, in the memory where it lies.");
    module.def("set_requires_grad", set_requires_grad, nb::arg("tensor"), nb::arg("requires_grad"));
    module.def("set_gradient", set_gradient, nb::arg("tensor"), nb::arg("value").none());
    module.def("set_data", set_data, nb::arg("tensor"), nb::arg("value"));
    module.def("register_hook", register_hook, nb::arg("tensor"), nb::arg("hook"));
    module.def("register_hook_after_gradients", register_hook_after_gradients, nb::arg("tensor"),
               nb::arg("hook"));
    module.def("converted", converted, nb::arg("tensor"), nb::arg("args"), nb::arg("kwargs"),
               "Tensor.to: on another device, in another dtype, or as another tensor is.");
}

}  // namespace composit::python
