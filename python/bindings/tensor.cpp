// Class LazyTensor: properties, indexing, evaluation. Its methods named as NumPy's functions are
// attached by composit/_methods.py, as they are those functions.
#include "arguments.h"
#include "bindings.h"
#include "calls_at_once.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/eager/as_strided.h"
#include "composit/eager/exposing.h"
#include "composit/eager/history.h"
#include "composit/eager/leaf_cell.h"
#include "composit/eager/small.h"
#include "composit/execute/execute.h"
#include "composit/ir/tracing.h"
#include "composit/numpy/bits.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/index_plan.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"
#include "content.h"
#include "elements.h"
#include "evaluated.h"
#include "indexing.h"
#include "interpreter_lock.h"
#include "location.h"
#include "node.h"
#include "provided.h"
#include "set_item.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace composit::python {

nb::object known_values(const LazyTensor& tensor) {
    if (const Deferred* const number = tensor.known_number()) {
        const ir::Array value(number->dtype(), {});
        const uint64_t bits = number->bits();
        std::memcpy(value.mutable_data(), &bits, static_cast<size_t>(value.bytes()));
        return ndarray_from(value);
    }
    if (const ir::ConstantArray values = tensor.cell()->written_values())
        return ndarray_from(values.value());
    if (ir::Array values = tensor.cell()->viewed_values()) return ndarray_from(std::move(values));
    return {};
}

namespace {

// Whether the only one who holds an object will let it go: weak references could give it to others.
bool is_about_to_go(nb::handle object) {
    if (Py_REFCNT(object.ptr()) != 1) return false;
    const Py_ssize_t offset = Py_TYPE(object.ptr())->tp_weaklistoffset;
    return offset > 0 &&
           !*reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object.ptr()) + offset);
}

// The values by a look. Of an object that is about to go, their memory belongs to the result.
nb::object looked_at(const LazyTensor& tensor, nb::handle object, const execute::Options& options) {
    ir::Array value;
    {
        const Tensor held = tensor.tensor();
        const Released released;
        value = std::move(eager::look({held}, options)[0]);
    }
    eager::shorten_history();
    if (object.is_valid() && is_about_to_go(object)) nb::inst_ptr<LazyTensor>(object)->let_go();
    return ndarray_from(std::move(value));
}

}  // namespace

nb::object evaluated(const LazyTensor& tensor, const execute::Options& options) {
    if (nb::object known = known_values(tensor); known.is_valid()) return known;
    return looked_at(tensor, {}, options);
}

nb::object evaluated_last(nb::handle object, const execute::Options& options) {
    auto& tensor = *nb::inst_ptr<LazyTensor>(object);
    if (tensor.known_number() || !is_about_to_go(object)) return evaluated(tensor, options);
    if (ir::ConstantArray written = tensor.cell()->written_values()) {
        tensor.let_go();
        ir::Array value = written.value();
        written = {};  // nobody else holds them, unless another tensor does
        return ndarray_from(std::move(value));
    }
    if (nb::object known = known_values(tensor); known.is_valid()) return known;
    return looked_at(tensor, object, options);
}

namespace {

// Whether NumPy gives a scalar, which is no view.
bool is_of_scalar(const Tensor& found, const numpy::Index& index) {
    return found.rank() == 0 && std::none_of(index.begin(), index.end(), [](const auto& entry) {
               return std::holds_alternative<numpy::Ellipsis>(entry);
           });
}

// The object becomes a view of what it was, under another shape or dtype: others see the old one.
void reshape_in_place(LazyTensor& self, const std::vector<int64_t>& shape) {
    Ref<Cell> view = Cell::make_view(numpy::reshape(self.tensor(), shape), self.cell());
    if (!view)
        throw nb::attribute_error(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with "
            "the desired shape.");
    self.set_cell(std::move(view));
}
void recast_in_place(LazyTensor& self, ir::DType dtype) {
    if (dtype != self.type().dtype)
        self.set_cell(Cell::make_appearance(bits_as(dtype), self.cell()));
}

void make_zeros(nb::pointer_and_handle<LazyTensor> made, const std::vector<int64_t>& shape,
                ir::DType dtype) {
    auto* content = new (made.p) LazyTensor(Cell::make(numpy::zeros(shape, dtype)));
    content->self = made.h.ptr();
}

void bind_properties(nb::class_<LazyTensor>& type) {
    type.def_prop_rw(
        "shape", [](const LazyTensor& self) { return tuple_from(self.type().shape); },
        reshape_in_place);
    type.def_prop_rw(
        "dtype", [](const LazyTensor& self) { return dtype_object(self.type().dtype); },
        recast_in_place);
    const auto rank = [](const LazyTensor& self) { return self.type().shape.size(); };
    type.def_prop_ro("rank", rank);
    type.def_prop_ro("ndim", rank);
    type.def_prop_ro("size",
                     [](const LazyTensor& self) { return ir::element_count(self.type().shape); });
    type.def_prop_ro("itemsize",
                     [](const LazyTensor& self) { return ir::size_of(self.type().dtype); });
    type.def_prop_ro("nbytes", [](const LazyTensor& self) {
        return ir::element_count(self.type().shape) * ir::size_of(self.type().dtype);
    });
    type.def_prop_ro(
        "strides",
        [](const LazyTensor& self) {
            eager::Strides strides = self.cell()->strides();
            for (int64_t& stride : strides) stride *= ir::size_of(self.type().dtype);
            return tuple_from(strides);
        },
        "Bytes between neighbours along each axis.");
    type.def_prop_rw(
        "is_writeable", [](const LazyTensor& self) { return !self.is_read_only; },
        [](LazyTensor& self, bool value) { self.is_read_only = !value; },
        "NumPy's flags.writeable, of this object.");
    type.def("check_writeable", &LazyTensor::check_writeable,
             "ValueError, in NumPy's words, where it is read-only.");
    type.def("is_contiguous_in", [](const LazyTensor& self, bool by_columns) {
        const ir::Shape& shape = self.type().shape;
        return by_columns ? eager::is_column_major(shape, self.cell()->strides())
                          : self.cell()->is_row_major();
    });
    type.def_prop_ro("name", [](const LazyTensor& self) { return self.tensor().name(); });
    type.def_prop_ro("location",
                     [](const LazyTensor& self) { return self.tensor().node().location(); });
    type.def_prop_ro(
        "is_weak", [](const LazyTensor& self) { return self.type().weak; },
        "Whether this is a Python scalar, which promotes by its kind only (NEP 50).");
    type.def_prop_ro("node",
                     [](const LazyTensor& self) { return NodeHandle{self.tensor().node_ref()}; });
    type.def_prop_ro("output_index",
                     [](const LazyTensor& self) { return self.tensor().output_index(); });
    type.def_prop_ro(
        "T",
        [](const LazyTensor& self) { return wrap_view(numpy::transpose(self.tensor()), self); },
        nb::call_guard<Located>());
}

// Whether a gradient goes from it to what is differentiated. Without that, no node is asked for.
bool is_differentiated(const LazyTensor& self) {
    return ir::DifferentiationScope::is_open() && ir::DifferentiationScope::reaches(self.tensor());
}

// The values for who computes with them outside of the graph.
nb::object taken_out(const LazyTensor& self) {
    check_not_differentiated(self);
    return evaluated(self);
}

// The values in memory that the tensor shares from now on, where it can; else as taken_out.
nb::object exposed(const LazyTensor& self) {
    check_not_differentiated(self);
    ir::Array shared;
    if (!self.is_read_only && !is_scalar(nb::handle(self.self)) && self.cell()->lies_on_host()) {
        const Released released;
        shared = eager::exposed(self.cell());
    }
    return shared ? ndarray_over(shared) : evaluated(self);
}

// memoryview(x): the values, evaluated now, in memory of their own.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    view->obj = nullptr;
    try {
        const nb::object array = taken_out(self_of(self));
        return PyObject_GetBuffer(array.ptr(), view, flags);
    } catch (...) {
        set_python_error();
        return -1;
    }
}

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

// self[key] of known arrays, where the key is one of integers or a mask; else not valid.
nb::object taken_at_once(nb::handle self, nb::handle key) {
    if (!key.type().is(tensor_type()) || !nb::inst_ready(key)) return {};
    const ir::TensorType& type = content_of<LazyTensor>(key).type();
    if (type.shape.empty()) return {};
    if (type.dtype == ir::DType::boolean) return chosen_at_once(self, key);
    return ir::is_integer(type.dtype) ? item_at_once(self, key) : nb::object();
}

}  // namespace

void check_not_differentiated(const LazyTensor& self) {
    user_check<TypeError>(
        !is_differentiated(self),
        "an array of a tensor's values would be a constant, through which no gradient goes, and "
        "the tensor depends on what is differentiated. Use composit's functions, or "
        "composit.nn.stop_gradient(x) where no gradient is wanted.");
}

void bind_tensor(nb::module_& module) {
    nb::class_<LazyTensor> type(module, "LazyTensor", nb::is_weak_referenceable(),
                                nb::type_slots(buffer_slots),
                                "An array that is not computed yet: a node of a graph.");
    set_tensor_type(type);
    type.def("__init__", make_zeros, nb::arg("shape"), nb::arg("dtype") = ir::DType::float64,
             nb::call_guard<Located>(), "Zeros.");
    bind_properties(type);
    type.def(
        "__getitem__",
        [](nb::handle object, nb::handle key) {
            const auto& self = self_of(object);
            if (const auto position = position_from(key, self.type().shape))
                return wrap_element(ops::element(self.tensor(), *position));
            if (nb::object found = taken_at_once(object, key); found.is_valid()) return found;
            const numpy::Index index = index_from(key);
            if (nb::object view = known_view(self, index); view.is_valid()) return view;
            const Tensor found = numpy::get_item(self.tensor(), index);
            return is_of_scalar(found, index) ? wrap_element(found) : wrap_view(found, self);
        },
        nb::arg("key").none(), nb::call_guard<Located>());
    type.def("__setitem__", set_item, nb::arg("key").none(), nb::arg("value").none(),
             nb::call_guard<Located>());
    type.def("__len__", [](const LazyTensor& self) {
        user_check<TypeError>(!self.type().shape.empty(), "len() of unsized object");
        return self.type().shape[0];
    });
    type.def("__hash__", [](const LazyTensor& self) {
        return static_cast<Py_ssize_t>(reinterpret_cast<uintptr_t>(&self) >> 4);
    });
    type.def(
        "has_value",
        [](const LazyTensor& self) {
            return self.known_number() || self.cell()->seen() ||
                   !numpy::depends_on_placeholder(self.tensor());
        },
        "Whether it can be evaluated: nothing that it depends on is a placeholder.");
    type.def(
        "is_differentiated", is_differentiated,
        "Whether a function is being differentiated, and a gradient goes from this tensor to what "
        "it is differentiated by.");
    type.def(
        "evaluated", [](const LazyTensor& self) { return evaluated(self); },
        "The values, as an ndarray.");
    type.def(
        "exposed", exposed, nb::call_guard<Located>(),
        "The values as an ndarray of memory that the tensor shares with it from now on, where it "
        "can; else a copy.");
    type.def(
        "taken_out", taken_out, nb::call_guard<Located>(),
        "The values, as an ndarray, for who computes with them outside of the graph. TypeError "
        "for what depends on what is differentiated.");
    type.def(
        "root", [](const LazyTensor& self) { return wrap_root(self); },
        "The tensor that this one is a view of; None if it is no view.");
    type.def(
        "copied",
        [](const LazyTensor& self, bool by_columns) {
            if (!self.known_number() && !by_columns)
                if (Ref<Cell> known = Cell::make_known_copy(*self.cell()))
                    return wrap_cell(std::move(known));
            return wrap_copy(self.tensor(), by_columns);
        },
        nb::arg("by_columns") = false,
        "Another object for the same node: writing one leaves the other as it is.");
    type.def(
        "replaced",
        [](const LazyTensor& self, const Tensor& tensor) {
            const ir::TensorType& type = self.type();
            user_check(tensor.shape() == type.shape, "replaced: the tensor has shape ",
                       tensor.shape(), ". Shape ", type.shape, " is required.");
            user_check<TypeError>(tensor.dtype() == type.dtype, "replaced: the tensor has dtype ",
                                  tensor.dtype(), ". Dtype ", type.dtype, " is required.");
            self.replace(tensor);
        },
        nb::call_guard<Located>(),
        "Writes a tensor of the same shape and dtype over this one, as out= does.");
    type.def(
        "become", [](LazyTensor& self, const Tensor& tensor) { self.set_cell(Cell::make(tensor)); },
        "Makes this object another tensor; views of it stay what they are.");
    type.def(
        "is_same",
        [](const LazyTensor& self, const LazyTensor& other) {
            return self.tensor() == other.tensor();
        },
        "Whether both are the same node and output.");
    type.def(
        "is_in_memory_of",
        [](const LazyTensor& self, const LazyTensor& other) {
            return self.cell()->memory() == other.cell()->memory();
        },
        "Whether both see one memory: what is written through one is seen by the other.");
    module.def(
        "memory_of",
        [](const LazyTensor& tensor) {
            const eager::Cell& cell = *tensor.cell();
            const eager::Cell* const memory = cell.memory();
            const auto width = static_cast<int64_t>(ir::size_of(tensor.type().dtype));
            const int64_t first = cell.is_plain() ? 0 : cell.region().offset;
            const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(memory));
            return nb::make_tuple(nb::int_(address) * nb::int_(int64_t{1} << 48), first * width,
                                  ir::element_count(memory->type().shape) * width);
        },
        nb::arg("tensor"),
        "A number that names the memory that the tensor lies in, as long as it is there; the bytes "
        "before the tensor's first element; and all its bytes.");
    type.def_prop_ro(
        "is_plain", [](const LazyTensor& self) { return self.cell()->is_plain(); },
        "Whether its memory is its own: it is no view, and shows nothing else otherwise.");
    type.def(
        "memory",
        [](nb::handle self) {
            const Ref<Cell>& cell = self_of(self).cell();
            return cell->is_plain() ? nb::borrow(self) : wrap_cell(Ref<Cell>(cell->memory()));
        },
        "The tensor of the memory that it sees: itself if that is its own.");
    type.def_prop_ro(
        "sees_selection", [](const LazyTensor& self) { return self.cell()->sees_selection(); },
        "Whether it may show an element of its memory twice.");
    type.def_prop_ro(
        "memory_size", [](const LazyTensor& self) { return eager::memory_size(*self.cell()); },
        "How many elements the memory has that its strides refer to.");
    type.def_prop_ro(
        "lies_in_memory",
        [](const LazyTensor& self) { return self.cell()->laid_in() == self.cell()->memory(); },
        "Whether its strides are those of its elements in the memory that it sees.");
    type.def_prop_ro(
        "offset", [](const LazyTensor& self) { return self.cell()->region().offset; },
        "Where its first element lies in that memory, in elements.");
    type.def(
        "copied_in_order",
        [](const LazyTensor& self) {
            return wrap_cell(Cell::make_in_order_of(*self.cell(), self.tensor()));
        },
        "Another object for the same node, whose axes follow each other in memory as its own.");
    type.def_prop_ro(
        "has_node",
        [](const LazyTensor& self) {
            const Deferred* const number = self.known_number();
            return number ? number->is_made() : self.cell()->has_node();
        },
        "Whether there is a node for it; else one is made when somebody asks for it.");
    type.def_prop_ro(
        "is_known",
        [](const LazyTensor& self) {
            return self.known_number() || self.cell()->seen() || eager::known(self.tensor());
        },
        "Whether its value is there.");
    type.def(
        "alias", [](const LazyTensor& self) { return wrap_cell(Cell::make_alias(self.cell())); },
        "Another tensor that sees the memory of this one.");
    type.def(
        "leaf", [](const LazyTensor& self) { return wrap_cell(eager::leaf_in(self.cell())); },
        "A leaf in the memory of this one: a node of its own, through which no gradient goes.");
    type.def(
        "viewed_constant",
        [](const LazyTensor& self) -> nb::object {
            const Cell& cell = *self.cell();
            ir::Array values = cell.viewed_values();
            if (!values) return nb::none();
            return wrap_cell(Cell::make_in_order_of(cell, ir::constant(std::move(values))));
        },
        "Of a view of known values: a constant of what it shows, whose axes follow each other in "
        "memory as the view's do, found without a plan; else None.");
    type.def(
        "read_from",
        [](nb::handle self) {
            const Ref<Cell>& cell = self_of(self).cell();
            const Cell* const read = cell->leaf_below();
            return read == cell.get() ? nb::borrow(self) : wrap_cell(Ref<Cell>(read));
        },
        "What operations read that read it: a leaf that it is, or sees, or else the memory.");
    module.def(
        "check_overlap",
        [](const LazyTensor& target, const LazyTensor& operand, bool may_be_same) {
            eager::check_overlap(*target.cell(), *operand.cell(), may_be_same);
        },
        nb::arg("target"), nb::arg("operand"), nb::arg("may_be_same") = true,
        nb::call_guard<Located>(), "As PyTorch checks what it writes in place.");
    module.def(
        "laid_out",
        [](const LazyTensor& x, const eager::Strides& strides) {
            return wrap_cell(Cell::make(x.tensor(), strides));
        },
        "Another object for the same node, in memory of its own at steps of so many elements.");
    module.def(
        "laid_in_order_of",
        [](const Tensor& x, const LazyTensor& other) {
            return wrap_cell(Cell::make_in_order_of(*other.cell(), x));
        },
        "Another object for the same node, of the other's shape, in memory of its own where its "
        "axes follow each other as the other's do.");
    module.def(
        "laid_like",
        [](const Tensor& x, const LazyTensor& like) {
            return wrap_cell(
                Cell::make(x, eager::strides_of_copy(like.type().shape, like.cell()->strides())));
        },
        "Another object for the same node, of like's shape, in memory of its own as a copy of "
        "`like` has it.");
    module.def(
        "view",
        [](const Tensor& tensor, const LazyTensor& parent) { return wrap_view(tensor, parent); },
        "The object for a tensor that shares memory with `parent`.");
    module.def(
        "whole_view",
        [](const LazyTensor& self) {
            const Tensor& tensor = self.tensor();
            return wrap_view(ops::reshape(tensor, tensor.shape()), self);
        },
        "A view of all elements, with a node of its own.");
}

}  // namespace composit::python
