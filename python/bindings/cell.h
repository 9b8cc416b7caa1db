// A Python tensor is a cell that holds a node: what LazyTensor objects point to, and how they are
// made, found again and written to (semantics.md 9 and 10).
#pragma once

#include "composit/base/ref.h"
#include "composit/ir/node.h"

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

namespace composit::python {

namespace nb = nanobind;
using ir::Tensor;

// A tensor that shows another one's elements otherwise (the real parts of complex numbers, bits as
// another dtype): what is seen of a source, and the source after something else was written there.
struct Appearance {
    std::function<Tensor(const Tensor& source)> seen;
    std::function<Tensor(const Tensor& source, const Tensor& written)> source_after;
};

// A place that holds a tensor. A view's tensor is a path of layout operations from the tensor of
// its root: it is read again when the root was written, and writing it writes the root. So it is
// with an appearance and its source; it can be the root of views.
class Cell : public Counted<Cell> {
  public:
    static Ref<Cell> make(Tensor tensor) { return Ref<Cell>(new Cell(std::move(tensor), {}, {})); }
    // `tensor` was made from what `parent` holds by layout operations alone (see is_layout_path).
    static Ref<Cell> make_view(Tensor tensor, const Ref<Cell>& parent);
    static Ref<Cell> make_appearance(Appearance appearance, const Ref<Cell>& source);
    static void release(const Cell* cell) { delete cell; }

    const Tensor& tensor() const;       // now
    void replace(Tensor tensor) const;  // shape and dtype are those of the old one
    bool is_view() const { return static_cast<bool>(root_); }
    const Cell* root() const { return root_ ? root_.get() : this; }
    Tensor places() const;  // int64: the number of each element in the root, in row-major order

  private:
    Cell(Tensor tensor, Ref<Cell> root, Tensor base)
        : tensor_(std::move(tensor)), root_(std::move(root)), base_(std::move(base)) {}
    Cell(Appearance appearance, Ref<Cell> source)
        : tensor_(appearance.seen(source->tensor())),
          base_(source->tensor()),
          source_(std::move(source)),
          appearance_(std::make_unique<const Appearance>(std::move(appearance))) {}
    ~Cell() = default;

    // What tensor_ was made from, of which it is a path or an appearance.
    const Cell* origin() const { return root_ ? root_.get() : source_.get(); }

    mutable Tensor tensor_;
    Ref<Cell> root_;       // never a view itself
    mutable Tensor base_;  // what the origin held when tensor_ was made
    Ref<Cell> source_;
    std::unique_ptr<const Appearance> appearance_;
};

// Whether `to` is `from`, seen through slices, transposes, reshapes, splits and broadcasts.
bool is_layout_path(const Tensor& from, const Tensor& to);

// What a Python object of class LazyTensor contains.
struct LazyTensor {
    Ref<Cell> cell;
    PyObject* self = nullptr;            // the object, for the table of live ones
    const ir::Node* key_node = nullptr;  // under which it stands there
    int key_index = 0;
    mutable const ir::Node* known_node = nullptr;  // whose value at_once.cpp keeps for it

    explicit LazyTensor(Ref<Cell> held) : cell(std::move(held)) {}
    ~LazyTensor();
    LazyTensor(const LazyTensor&) = delete;
    LazyTensor& operator=(const LazyTensor&) = delete;
    const Tensor& tensor() const { return cell->tensor(); }
    void replace(const Tensor& tensor) const;  // the cell's, and errors that are wanted at once
};

// The class LazyTensor, which bind_tensor makes.
void set_tensor_type(nb::handle type);
nb::handle tensor_type();
inline bool is_tensor(nb::handle value) {
    return PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(tensor_type().ptr()));
}

// The one live object of an untouched (node, output index), or a new one.
nb::object wrap(const Tensor& tensor);
// A new object whose cell nothing else names: for functions that promise a copy.
nb::object wrap_copy(const Tensor& tensor);
// An object that shares memory with `parent` in NumPy's sense, where `tensor` is a path from it.
nb::object wrap_view(const Tensor& tensor, const LazyTensor& parent);
// The object of a view's root: the one that is there, or a new one; None for what is no view.
nb::object wrap_root(const LazyTensor& view);
// The bits of elements as another dtype (numpy_appearances.cpp).
Appearance bits_as(ir::DType dtype);
// An object that shows `source` otherwise: writing it writes the source.
nb::object wrap_appearance(Appearance appearance, const LazyTensor& source);

}  // namespace composit::python
