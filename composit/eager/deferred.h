// Nodes that are made when somebody asks for the graph.
//
// Programs that go through arrays element by element make a node for each step. Mostly nobody asks
// them for more than a number. So a step is noted: its number, what it was made of, and where. The
// graph that comes of it is the one that would have been made at once.
//
//     Ref<Deferred> x = cell->element(3);                        // of an array with a value
//     Ref<Deferred> y = Deferred::applied(row, x, Deferred::literal(0.5));
//     y->number<double>();                                       // no node was made
//     y->tensor();                                               // now there are three
#pragma once

#include "composit/base/ref.h"
#include "composit/eager/loops.h"
#include "composit/ir/constant_array.h"
#include "composit/ir/node.h"
#include "composit/ir/scalar/row.h"
#include "composit/numpy/index_plan.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace composit::eager {

using ir::DType;
using ir::Tensor;
using numpy::BasicPart;

class FunctionAtOnce;  // function_at_once.h

// Numbers of these dtypes are deferred: real ones, and none of 16 bits that are floats.
bool can_be_deferred(DType dtype);

// Safe in any thread, as nodes are.
class Deferred : public Counted<Deferred> {
  public:
    // A tensor that is there. It has a number where it has no dimension and the number is known.
    static Ref<Deferred> of(Tensor tensor);
    // Python's numbers: they promote by their kind only (NEP 50).
    static Ref<Deferred> literal(double value);
    static Ref<Deferred> literal(int64_t value);
    static Ref<Deferred> literal(bool value);
    static Ref<Deferred> literal(const Scalar& value);
    // A number of a dtype, by its bytes: a constant.
    static Ref<Deferred> scalar(DType dtype, uint64_t bits);
    // The element of an array at a place in row-major order, whose bytes are given.
    static Ref<Deferred> element(Ref<Deferred> array, DType dtype, int64_t place,
                                 const void* bytes);
    // A view of an array: the layout operations from `base` to `view` applied to it. Views of one
    // path share what `path` makes.
    static Ref<Deferred> path(const Tensor& base, const Tensor& view);
    // Of what `before`, a path, shows; null: of the array itself.
    static Ref<Deferred> path(BasicPart part, Ref<Deferred> before, DType dtype);
    static Ref<Deferred> view(Ref<Deferred> array, Ref<Deferred> path);
    Tensor shown_of(const Tensor& array) const;  // what a path shows
    // An array with another element, of its dtype, at a place where the bytes `before` were. It has
    // no number. `cell` is the place that holds it (see Versions).
    static Ref<Deferred> written(Ref<Deferred> array, int64_t place, Ref<Deferred> value,
                                 const void* before, uint32_t cell);
    // A row of the scalar table applied to numbers; `b` is null for rows of one operand. Null where
    // it has to be made as a node: there is no such loop, something is to be reported, or the
    // numbers lie on two devices.
    static Ref<Deferred> applied(const ir::scalar::RowRef& row, Ref<Deferred> a, Ref<Deferred> b);
    // The same of a number and one of Python's: row(x, literal), or row(literal, x).
    static Ref<Deferred> applied_to_literal(const ir::scalar::RowRef& row, Ref<Deferred> x,
                                            const Scalar& literal, bool literal_is_first);
    // The same for arrays, whose elements somebody else computed: it has no number.
    static Ref<Deferred> applied_to_arrays(const ir::scalar::RowRef& row, Ref<Deferred> a,
                                           Ref<Deferred> b, ir::ConstantArray value);
    // Numbers side by side, converted to one dtype: an array of one dimension.
    static Ref<Deferred> stacked(std::vector<Ref<Deferred>> numbers, ir::ConstantArray value);
    // A function of arrays and numbers that somebody computed at once. Null where the values of
    // such calls take much memory already: those of nodes are given up, where memory is short.
    static Ref<Deferred> called(std::shared_ptr<const FunctionAtOnce> function,
                                std::vector<Ref<Deferred>> operands, ir::ConstantArray value);
    bool keeps_value() const { return extra_ && extra_->value; }  // of an array
    // The same number as another dtype that has it, as ops::astype makes it.
    static Ref<Deferred> converted(const Ref<Deferred>& x, DType dtype);

    bool has_number() const { return has_number_; }
    // Where the node of what it is will lie.
    ir::DeviceNumber device() const { return device_; }
    // Whether both may be operands of one operation: they lie on one device, or one lies anywhere.
    bool goes_with(const Deferred& other) const;
    DType dtype() const { return dtype_; }
    bool is_weak() const { return is_weak_; }
    uint64_t bits() const { return bits_; }
    template <class T>
    T number() const {  // of its dtype
        T value;
        std::memcpy(&value, &bits_, sizeof value);
        return value;
    }
    const ir::TensorType& type() const;  // of what has a number
    // Whether it is more than a part of another one's description.
    bool stands_alone() const { return kind_ != Kind::literal && kind_ != Kind::part; }

    bool is_counted() const { return kind_ != Kind::literal; }  // among ir::living_nodes

    // The nodes are made by the first who asks. They are on the lines where they were noted, with
    // the numbers of that time, and keep their values.
    const Tensor& tensor() const {
        if (!is_made_.load(std::memory_order_acquire)) make();
        return tensor_;
    }
    bool is_made() const { return is_made_.load(std::memory_order_acquire); }
    // The node gave way to another one of the same value (history.h).
    void follow(const std::function<Tensor(const Tensor&)>& moved) const;

    // A cell (see Versions) that holds it is about to hold something else.
    void set_place(uint32_t cell) const;

    // Whoever stands for it in a front door, to be told of its tensor when that is made.
    void set_owner(void* owner) const { owner_ = owner; }
    void* owner() const { return owner_; }
    static void when_made(void (*tell)(const Deferred&));

    // Those that live now. No other thread may make any meanwhile.
    static std::vector<Ref<const Deferred>> living();

    static void release(const Deferred* deferred);  // iteratively
    static void tidy();  // new ones of this thread follow each other in memory
    static void* operator new(size_t bytes);
    static void operator delete(void* memory);

  private:
    friend class Forgetting;
    enum class Kind : uint8_t {
        tensor,
        literal,
        element,
        view,
        written,
        row,
        cast,
        stacked,
        call,
        part
    };

    Deferred(Kind kind, DType dtype);
    ~Deferred() = default;
    bool is_list() const { return kind_ == Kind::stacked || kind_ == Kind::call; }
    void lie_with(const Ref<Deferred>& operand);
    static Deferred* list_of(Kind kind, std::vector<Ref<Deferred>> items, DType dtype);
    std::vector<Tensor> items() const;  // of a list, in order
    void make() const;
    Tensor made() const;  // of operands that are made
    void keep_number_in(const ir::Node& node) const;
    // Without its operands: the caller's, or null.
    static Deferred* of_row(const ir::scalar::RowRef& row, std::span<const Scalar> operands);
    void become(Tensor tensor) const;  // its operands are needed no longer

    Kind kind_;
    DType dtype_;
    bool is_weak_ = false, has_number_ = true;
    ir::DeviceNumber device_ = ir::anywhere;
    mutable std::atomic<bool> is_made_{false};
    // Of a row: which operand is the literal in place_.
    enum class Literal : uint8_t { none, first, second } literal_ = Literal::none;
    DType literal_dtype_ = DType::float64;
    mutable uint32_t cell_ = 0;
    mutable uint32_t mark_ = 0;                // Forgetting's
    uint64_t bits_ = 0;                        // of what was written: the element before
    int64_t place_ = 0;                        // or a literal's bits
    const ir::scalar::RowRef* row_ = nullptr;  // of the table
    // Until the node is made. What is stacked, and a call's operands, are a list: parts are its
    // beginnings.
    mutable Ref<Deferred> first_, second_;
    mutable uint64_t number_;  // of the node; once it dies, a link
    ir::Interned line_;
    const ir::ErrorHandling* error_handling_;
    ir::Interned reported_as_;
    struct Extra {
        BasicPart part;           // of a path without tensors
        ir::ConstantArray value;  // of an array that operations made
        // Of a call.
        std::shared_ptr<const FunctionAtOnce> function = nullptr;
        int64_t bytes = 0;
        ~Extra();
    };
    std::unique_ptr<const Extra> extra_;  // few have one
    mutable Tensor tensor_;
    mutable void* owner_ = nullptr;
};

}  // namespace composit::eager
