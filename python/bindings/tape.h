// The tape of composit.torch (composit/eager/tape.h): records are Python objects of class GradFn,
// and leaves are tensors, so that the cycle collector sees what refers to what.
#pragma once

#include "composit/eager/saved_values.h"
#include "composit/eager/tape.h"
#include "torch_objects.h"

#include <utility>
#include <vector>

namespace composit::python {

// A tensor that gradients are added up for. The tensor owns it; references to it are the tensor's.
class TensorLeaf final : public eager::Leaf {
  public:
    explicit TensorLeaf(PyObject* tensor) : tensor_(tensor) {}
    void retain() const noexcept override { Py_INCREF(tensor_); }
    bool drop() const noexcept override {
        Py_DECREF(tensor_);
        return false;
    }
    ir::Tensor now() const override;
    PyObject* tensor() const { return tensor_; }

  private:
    PyObject* tensor_;
};

// A record within its Python object, whose references are the record's.
class RecordOfObject final : public eager::Record {
  public:
    RecordOfObject(PyObject* object, ir::Interned name, std::vector<Ref<eager::TapeNode>> operands)
        : Record(name, std::move(operands)), object_(object) {}
    ~RecordOfObject() override = default;
    void retain() const noexcept override { Py_INCREF(object_); }
    bool drop() const noexcept override {
        Py_DECREF(object_);
        return false;
    }
    PyObject* object() const { return object_; }

  private:
    PyObject* object_;
};

bool is_record(nb::handle value);
const RecordOfObject& record_in(nb::handle object);
// Lets go of all that it refers to; walking it again is an error.
void free_record(nb::handle object);
nb::object make_record(ir::Interned name, std::vector<Ref<eager::TapeNode>> operands);

const TensorLeaf& leaf_of(nb::handle tensor);
// What a function of the core was given in place of a tensor of composit.torch, or of a GradFn, is
// a TypeError.
TensorObject* torch_tensor(nb::handle value);
const RecordOfObject& checked_record(nb::handle value);
// What stands for an operand on the tape: a tensor (a leaf), a record, or None.
Ref<eager::TapeNode> tape_node(nb::handle operand);
// The operand that a node of the tape stands for.
nb::handle operand_of(const eager::TapeNode* node);
// Whether gradients go through the tensor.
bool is_recorded(const TensorObject* tensor);
// What stands for the tensor in the records of operations on it: itself where it is a leaf, the
// record, or None.
nb::object record_of(nb::handle tensor);

// The tensor as a value that may be saved. What stands for one that nobody holds any more has what
// it held, its record, and what it was a view of as attributes (composit/torch/steps.py).
eager::Savable savable(nb::handle value);

// The counter of the writes into the tensor's memory.
const Ref<eager::VersionCounter>& counter_of(TensorObject* tensor);
// The tensor is another name for the memory of `source`.
void share_counter(TensorObject* tensor, TensorObject* source);

// What lies below outputs with these records.
struct BelowRecords {
    nb::list leaves;  // and tensors that retain gradients
    nb::list records;
};
BelowRecords below_records(nb::handle operands);
// Says which records lead to one of the tensors.
eager::Reaching reaching(nb::handle tensors);
// RuntimeError where a value that one of the records saved was written since.
void check_saved(const nb::list& records, const eager::Reaching* reaching);
// The gradients of tensors for what flows into outputs, of leaves as they were when operations read
// them, made of the values that are where the records' operations saved some, through Functions and
// hooks. Where anomalies are looked for, RuntimeError for the first operation whose gradient is
// NaN. `starts` are the records and leaves of the outputs, `records` all below these.
struct FoundGradients {
    nb::list gradients;
    std::vector<bool> comes;  // false: the gradient is None, which stands there as zeros
};
FoundGradients gradients(const std::vector<ir::Tensor>& outputs,
                         const std::vector<ir::Tensor>& flows, nb::handle inputs, nb::handle starts,
                         const nb::list& records, bool is_recording,
                         const eager::Reaching* reaching);

// PyTorch's torch.autograd.grad, without checks of what is not built (tape_gradients.cpp).
struct GradOptions {
    nb::object retain_graph = nb::none();
    bool create_graph = false, allow_unused = false, with_zeros = false;
};
nb::tuple grad(nb::handle outputs, nb::handle inputs, nb::handle flows, const GradOptions& options);

void bind_tape_records(nb::module_& module);  // tape_records.cpp

}  // namespace composit::python
