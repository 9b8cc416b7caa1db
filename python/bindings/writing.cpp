#include "writing.h"

#include "at_once.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/as_strided.h"
#include "composit/eager/recording.h"
#include "composit/eager/saved_values.h"
#include "composit/eager/writing.h"
#include "composit/ir/body.h"
#include "content.h"
#include "location.h"
#include "tape.h"

#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using eager::TapeNode;

Ref<Cell> cell_of(nb::handle tensor) {
    const nb::object lazy = lazy_of(tensor);
    return content_of<LazyTensor>(lazy).cell();
}

nb::handle root_or_itself(nb::handle tensor) {
    PyObject* const root = as_tensor(tensor)->root;
    return is_there(root) ? nb::handle(root) : tensor;
}

[[noreturn]] void refuse_one_of_several(const TensorObject* target) {
    const std::string maker = is_there(target->record) ? *record_in(target->record).name()
                                                       : "a function of several views";
    fail<RuntimeError>("Output ", target->number - 1, " of ", maker,
                       " is a view and is being modified inplace. This view is the output of a "
                       "function that returns multiple views. Such functions do not allow the "
                       "output views to be modified inplace. You should replace the inplace "
                       "operation by an out-of-place one.");
}

}  // namespace

void check_writable(nb::handle tensor, bool is_view) {
    const TensorObject* const target = torch_tensor(tensor);
    if (!eager::is_recording()) return;
    const char* const said = " that requires grad is being used in an in-place operation.";
    user_check<RuntimeError>(!target->is_leaf || is_view,
                             target->number < 0 ? "a view of a leaf" : "a leaf", " Variable", said);
    if (!as_tensor(root_or_itself(tensor))->is_leaf) return;
    if (target->number > 0) refuse_one_of_several(target);
    fail<RuntimeError>("a view of a leaf Variable", said);
}

bool may_see_others(nb::handle tensor) {
    const TensorObject* const self = torch_tensor(tensor);
    return is_there(self->root) || self->is_shared || is_there(self->twin);
}

namespace {

bool lie_together(nb::handle one, nb::handle other) {
    return as_tensor(one)->lazy && as_tensor(other)->lazy &&
           cell_of(one)->memory() == cell_of(other)->memory();
}

}  // namespace

// Tensors of a trace have no memory yet, but that of their root. A view stays where it is when its
// root gets other memory.
bool share_memory(nb::handle one, nb::handle other) {
    torch_tensor(one);
    torch_tensor(other);
    const nb::handle a = root_or_itself(one), b = root_or_itself(other);
    return a.is(b) || lie_together(a, b) || lie_together(one, other);
}

void check_overlap_with(nb::handle target, nb::handle operand) {
    if (!is_tensor_of_torch(operand) || !share_memory(target, operand)) return;
    const Located located;
    const Ref<Cell> written = cell_of(target);
    eager::check_overlap(*written, *cell_of(operand), true);
}

// What memory holds of a result: no gradient goes from there to what it was made of, unless the
// result is recorded.
nb::object stored(nb::handle result) {
    const TensorObject* const made = torch_tensor(result);
    nb::object lazy = lazy_of(result);
    if (!made->is_tainted || is_recorded(made)) return lazy;
    return wrap_copy(eager::without_gradient(content_of<LazyTensor>(lazy).tensor()));
}

void overwrite(nb::handle target, const ir::Tensor& value, bool has_gradient) {
    TensorObject* const self = torch_tensor(target);
    interrupt_trace();
    const OwnerOfMemory memory = owner_of_memory(target);
    TensorObject* const owner = as_tensor(memory.tensor);
    eager::Write write;
    write.target = cell_of(target);
    write.owner = cell_of(memory.tensor);
    write.has_gradient = has_gradient;
    // Otherwise the tensor whose memory this was lies elsewhere now.
    const bool lies_there = !is_there(owner->root);
    if (!lies_there) write.owner = Ref<Cell>(write.owner->memory());
    const bool is_seen = memory.is_known && eager::is_recording();
    if (owner->is_leaf)
        write.of_owner = eager::Write::Owner::leaf;
    else if (!lies_there || (is_recorded(owner) && !is_seen))
        write.of_owner = eager::Write::Owner::unseen;
    if (has_gradient && !memory.is_known) write.alias = cell_of(root_or_itself(target));
    const Tensor written = eager::value_to_write(write.target->tensor(), value);
    find_errors_of_call(written);
    eager::write(write, written);
    if (owner->is_leaf) {
        owner->is_pending = !ir::is_constant(write.owner->tensor().node());
        if (owner->is_pending) enter(memory.tensor);
    }
    counter_of(self)->count();
    if (ir::is_constant(write.target->tensor().node())) return;
    self->is_pending = self->is_leaf;
    enter(target);
    // The target may be a view, or what `.data` gave, which dies before values are computed.
    if (!owner->is_leaf && !memory.tensor.is(target)) enter(memory.tensor);
}

namespace {

// What such an operation overwrites gets a gradient of zeros.
bool is_keeping(const std::string& name) { return name == "fill" || name == "copy"; }

Ref<TapeNode> node_of(PyObject* record) { return tape_node(is_there(record) ? record : Py_None); }

void record_write(nb::handle target, nb::handle result, const std::string& name) {
    TensorObject* const self = as_tensor(target);
    const ir::Interned named = ir::intern(eager::record_name(name));
    const bool is_recording = eager::is_recording();
    const bool is_root = !is_there(self->root), has_record = is_there(self->record);
    if (is_recorded(as_tensor(result))) {
        std::vector<Ref<TapeNode>> operands = {tape_node(record_of(result))};
        if (name == "copy" && is_recording && has_record) operands.push_back(node_of(self->record));
        const nb::object record = make_record(named, std::move(operands));
        if (!is_root) {
            TensorObject* const root = as_tensor(self->root);
            if (!is_there(root->record) && root->is_tainted)  // what is not written stays as it is
                eager::hold_back(*cell_of(self->root));
            static const ir::Interned slices = ir::intern("CopySlices");
            const nb::object whole =
                make_record(slices, {node_of(root->record), tape_node(record)});
            put(root->record, whole);
            put(self->record_of_root, whole);
        }
        put(self->record, record);
    } else if (is_keeping(name) && is_recording && is_root && has_record) {
        put(self->record, make_record(named, {node_of(self->record)}));
    } else if (is_root && !self->is_leaf && (!has_record || is_recording)) {
        drop(self->record);
        self->is_tainted = is_there(self->twin);
    }
}

}  // namespace

void replace(nb::handle target, nb::handle result, const std::string& name) {
    const TensorObject* const made = torch_tensor(result);
    const TensorObject* const self = torch_tensor(target);
    if (!made->lazy && !is_recorded(made)) materialize_by_structure(result);
    interrupt_trace();
    const bool has_gradient = is_recorded(made);
    const bool is_written_with_gradient =
        eager::is_recording() && (has_gradient || is_recorded(self));
    if (is_written_with_gradient && self->number != 0) refuse_one_of_several(self);
    record_write(target, result, name);
    const nb::object held = stored(result);
    overwrite(target, content_of<LazyTensor>(held).tensor(), is_written_with_gradient);
    if (has_gradient && is_there(made->record))
        eager::moved_into(record_in(made->record), savable(target));
}

namespace {

nb::object write(nb::handle target, nb::handle result, const std::string& name) {
    check_writable(target, false);
    eager::check_result_in_place(type_seen(target), type_seen(result));
    replace(target, result, name);
    return nb::borrow(target);
}

void check_in_place(nb::handle target, const nb::tuple& args, const nb::dict& named) {
    const TensorObject* const self = torch_tensor(target);
    if (self->is_leaf || is_there(self->root)) check_writable(target, false);
    if (!may_see_others(target)) return;
    check_overlap_with(target, target);
    for (nb::handle value : args) check_overlap_with(target, value);
    for (auto [name, value] : named) check_overlap_with(target, value);
}

nb::object written_in_place(nb::handle target, nb::handle result, const nb::tuple& args,
                            const std::string& name) {
    bool is_operand = false;
    for (nb::handle value : args) is_operand = is_operand || value.is(result);
    if (!is_operand && assigned(target, result, false)) return nb::borrow(target);
    return write(target, result, name);
}

void share(nb::handle owner, nb::handle name) {
    PyObject*& names = as_tensor(owner)->twins;
    if (!is_there(names)) put(names, nb::list());
    if (PyList_GET_SIZE(names) > 8)
        for (Py_ssize_t i = PyList_GET_SIZE(names); i-- > 0;)
            if (PyWeakref_GetObject(PyList_GET_ITEM(names, i)) == Py_None &&
                PySequence_DelItem(names, i) != 0)
                throw nb::python_error();
    append(names, nb::steal(PyWeakref_NewRef(name.ptr(), nullptr)));
}

}  // namespace

void lie_in(nb::handle tensor, nb::handle other, nb::handle lazy) {
    TensorObject* const self = torch_tensor(tensor);
    torch_tensor(other);
    const nb::object owner = owner_of_memory(other).tensor;
    const bool is_back = owner.is(tensor) || as_tensor(owner)->root == tensor.ptr() ||
                         twin_of(as_tensor(owner)).is(tensor);
    tensor.attr("_lazy") = lazy;
    if (is_there(self->root)) self->counter = {};
    drop(self->root);
    drop(self->record_of_root);
    self->number = 0;
    drop(self->twin);
    if (is_back) return;
    put(self->twin, nb::steal(PyWeakref_NewRef(owner.ptr(), nullptr)));
    share(owner, tensor);
}

nb::object twin_of(const TensorObject* tensor) {
    if (!is_there(tensor->twin)) return {};
    PyObject* const twin = PyWeakref_GetObject(tensor->twin);
    return twin == Py_None ? nb::object() : nb::borrow(twin);
}

OwnerOfMemory owner_of_memory(nb::handle of) {
    OwnerOfMemory found{nb::borrow(of), true};
    for (;;) {
        const TensorObject* const tensor = as_tensor(found.tensor);
        nb::object holder;
        if (is_there(tensor->root)) {
            holder = nb::borrow(tensor->root);
        } else if (is_there(tensor->twin)) {
            holder = twin_of(tensor);
            found.is_known = false;
        }
        if (!holder.is_valid() || cell_of(found.tensor)->memory() != cell_of(holder)->memory())
            return found;
        found.tensor = std::move(holder);
    }
}

void bind_writing(nb::module_& module) {
    nb::module_ inner = module.def_submodule("writing", "Writes of composit.torch's tensors.");
    const nb::call_guard<Located> located;
    inner.def("check_writable", check_writable, nb::arg("target"), nb::arg("is_view") = false,
              located,
              "RuntimeError for leaves that require gradients, and views of them, where it is "
              "recorded. `is_view`: a view of the target is written.");
    inner.def("may_see_others", may_see_others, nb::arg("tensor"),
              "Whether its memory may be seen by other tensors, too.");
    inner.def("share_memory", share_memory, nb::arg("one"), nb::arg("other"),
              "Whether both lie in one memory.");
    inner.def(
        "check_overlap",
        [](nb::handle target, nb::handle operands) {
            torch_tensor(target);
            for (nb::handle operand : operands) check_overlap_with(target, operand);
        },
        nb::arg("target"), nb::arg("operands"), located,
        "RuntimeError where elements of the target are one in memory, or are some, but not all, of "
        "an operand's.");
    inner.def(
        "is_alias",
        [](nb::handle one, nb::handle other) {
            torch_tensor(one);
            torch_tensor(other);
            const Ref<Cell> cell = cell_of(one);
            return eager::is_same_place(*cell, *cell_of(other));
        },
        nb::arg("one"), nb::arg("other"), "Whether both see the same elements of one memory.");
    inner.def("stored", stored, nb::arg("result"), located, "What memory holds of a result.");
    inner.def(
        "overwrite",
        [](nb::handle target, const LazyTensor& value, bool has_gradient) {
            overwrite(target, value.tensor(), has_gradient);
        },
        nb::arg("target"), nb::arg("value"), nb::arg("has_gradient") = false, located,
        "Puts a value, in the target's dtype and shape, in the target's place and its "
        "views'. Where autograd does not see it, gradients go on as if nothing had been "
        "written. `has_gradient`: gradients go from the target to what the value is made of.");
    inner.def("replace", replace, nb::arg("target"), nb::arg("result"), nb::arg("name"), located,
              "The target becomes the result, record and all.");
    inner.def("write", write, nb::arg("target"), nb::arg("result"), nb::arg("name"), located,
              "An operation in place: the target becomes the result, which may be recorded.");
    inner.def("check_in_place", check_in_place, nb::arg("target"), nb::arg("args"),
              nb::arg("named"), located, "What an operation in place asks of its operands.");
    inner.def("written_in_place", written_in_place, nb::arg("target"), nb::arg("result"),
              nb::arg("args"), nb::arg("name"), located,
              "The target with the result of an operation in place, which was made of `args`.");
    inner.def("assigned", assigned, nb::arg("target"), nb::arg("result"),
              nb::arg("is_detached") = false,
              "Writes a result that nothing else holds to the target, without its node. False "
              "where that has to be done with nodes: nothing has changed then.\n\n`is_detached` "
              "says that gradients do not go from the target to what the result depends on.");
    inner.def("lie_in", lie_in, nb::arg("tensor"), nb::arg("other"), nb::arg("lazy"),
              "Makes a tensor another name, which holds `lazy`, for the memory of another tensor. "
              "Writes reach both; autograd tells them apart.");
    inner.def(
        "has_twin", [](nb::handle tensor) { return twin_of(torch_tensor(tensor)).is_valid(); },
        nb::arg("tensor"), "Whether the tensor that it was detached from lives.");
}

}  // namespace composit::python
