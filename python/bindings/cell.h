// A Python tensor is a cell (composit/eager/cell.h): what LazyTensor objects point to, and how they
// are made and found again (semantics.md 9 and 10).
#pragma once

#include "composit/base/ref.h"
#include "composit/eager/cell.h"

#include <nanobind/nanobind.h>

#include <functional>
#include <optional>

namespace composit::python {

namespace nb = nanobind;
using ir::Tensor;

using eager::Appearance;
using eager::Cell;
using eager::Deferred;

// What a Python object of class LazyTensor contains: a cell, or a number whose node may not be made
// yet.
struct LazyTensor {
    PyObject* self = nullptr;            // the object, for the table of live ones
    const ir::Node* key_node = nullptr;  // under which it stands there
    int key_index = 0;
    bool is_read_only = false;  // as NumPy's flags.writeable of one array; views of it are, too

    explicit LazyTensor(Ref<Cell> held) : cell_(std::move(held)) {}
    explicit LazyTensor(Ref<Deferred> number) : number_(std::move(number)) {
        number_->set_owner(this);
    }
    ~LazyTensor();
    LazyTensor(const LazyTensor&) = delete;
    LazyTensor& operator=(const LazyTensor&) = delete;
    const Tensor& tensor() const { return cell_ ? cell_->tensor() : number_->tensor(); }
    const ir::TensorType& type() const { return cell_ ? cell_->type() : number_->type(); }
    const Ref<Cell>& cell() const {
        if (!cell_) cell_ = Cell::make(number_->tensor());
        return cell_;
    }
    void set_cell(Ref<Cell> cell);  // it is another tensor from now on
    void let_go();                  // it will be asked for nothing any more
    // As an operand of numbers that are computed at once; null where it is no known number.
    Ref<Deferred> number() const {
        return number_ ? number_ : type().shape.empty() ? cell_->number() : Ref<Deferred>();
    }
    // The same where that takes no search.
    const Deferred* known_number() const { return number_.get(); }
    void replace(const Tensor& tensor) const;  // the cell's, after errors that are wanted now
    void check_writeable() const;              // ValueError; for what the program writes

  private:
    mutable Ref<Cell> cell_;
    Ref<Deferred> number_;  // of scalars, which nobody writes to
};

// What answers for NumPy's scalars: elements, full reductions, results of no dimension. Nobody
// writes into one. Of a class for each kind of number, as Python's abstract numbers ask for.
struct LazyScalar : LazyTensor {
    using LazyTensor::LazyTensor;
    bool is_element = false;  // of an array: hashed by its value
};
struct LazyInteger : LazyScalar {
    using LazyScalar::LazyScalar;
};
struct LazyFloating : LazyScalar {
    using LazyScalar::LazyScalar;
};
struct LazyComplexFloating : LazyScalar {
    using LazyScalar::LazyScalar;
};

// The class LazyTensor, which bind_tensor makes.
void set_tensor_type(nb::handle type);
nb::handle tensor_type();
// Those of scalars (scalars.cpp).
nb::handle scalar_type(ir::DType dtype);
bool is_scalar(nb::handle value);
inline bool is_tensor(nb::handle value) {
    return value.type().is(tensor_type()) || is_scalar(value) ||
           PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(tensor_type().ptr()));
}
// What a method's first argument contains. TypeError: it is no tensor, as in LazyTensor.__add__(1,
// 2).
const LazyTensor& self_of(nb::handle object);

// The one live object of an untouched (node, output index), or a new one: a scalar where it has no
// dimension, as the results of NumPy's functions are.
nb::object wrap(const Tensor& tensor);
// The same for a result of an elementwise function, whose memory is laid out as that of its
// operands (some of which may be no tensors).
nb::object wrap_elementwise(const Tensor& tensor, PyObject* const* operands, size_t count);
// wrap, for functions that make arrays of no dimension.
nb::object wrap_array(const Tensor& tensor);
// An element of an array.
nb::object wrap_element(const Tensor& tensor);
// The object of a number.
nb::object wrap_number(Ref<Deferred> number, bool is_element = false);
// A new object whose cell nothing else names: for functions that promise a copy. Its memory is
// row-major or column-major.
nb::object wrap_copy(const Tensor& tensor, bool by_columns = false);
// An object that shares memory with `parent` in NumPy's sense, where `tensor` is a path from it
// that strides describe; else one with memory of its own.
nb::object wrap_view(const Tensor& tensor, const LazyTensor& parent);
// The same for a basic index of a known array, without nodes; not valid where that cannot be.
nb::object wrap_known_view(numpy::BasicPart part, const LazyTensor& parent);
// The object of a view's root: the one that is there, or a new one; None for what is no view.
nb::object wrap_root(const LazyTensor& view);
// The bits of elements as another dtype (numpy_appearances.cpp).
Appearance bits_as(ir::DType dtype);
// An object that shows elements of `source` that `function` selects, some more than once: where
// it may be written, that writes the source.
nb::object wrap_selection(std::function<Tensor(const Tensor&)> function, const LazyTensor& source,
                          bool is_read_only, std::optional<eager::Region> region = {});
// An object that shows `source` otherwise: writing it writes the source.
nb::object wrap_appearance(Appearance appearance, const LazyTensor& source,
                           std::optional<eager::Region> region = {});
// An object of class LazyTensor for a cell.
nb::object wrap_cell(Ref<Cell> cell);

}  // namespace composit::python
