// Writes in place through one of the names of a memory, as autograd sees them: what the memory
// holds afterwards, and where the gradients of its names go. PyTorch's rules.
//
//     write({view, memory}, value);                            // gradients go on to the value
//     write({view, memory, {}, Write::Owner::unseen}, value);  // and here to what was there before
#pragma once

#include "composit/eager/cell.h"
#include "composit/ir/node.h"

namespace composit::eager {

struct Write {
    // What gradients through the owner of the memory are to be afterwards.
    enum class Owner {
        plain,   // those of what was written
        leaf,    // its own: the owner is a parameter, at which gradients stop
        unseen,  // those of what it held, as if nothing had been written
    };

    Ref<Cell> target;  // the name that is written through: the memory's cell, or a view of it
    Ref<Cell> owner;   // the cell of the tensor that the memory belongs to
    // Another name of the memory, which the target is or sees, whose gradients go to the value
    // though those of the owner do not: PyTorch's detached tensor. Null: there is none.
    Ref<Cell> alias{};
    Owner of_owner = Owner::plain;
    // Gradients go through the target to what the value was made of, though the owner does not see
    // the write.
    bool has_gradient = false;
};

// Puts `value`, cast to the target's dtype, broadcast to its shape and moved to its device, in the
// target's place. Everything that shares the memory sees it. A leaf holds a value that nobody has
// computed yet where the value was none: who owns it computes it before the next operation reads
// it. Errors as those of numpy::astype, ops::broadcast_to and Cell::replace.
void write(const Write& write, const Tensor& value);

// The value as the target's memory takes it.
[[nodiscard]] Tensor value_to_write(const Tensor& target, const Tensor& value);

// Writes through a name of a memory whose gradients, and those of its views, flow into the value
// from now on. The gradients of other names of the memory do not. `target` is the name or a view of
// it.
void write_with_gradient(const Cell& name, const Cell& target, const Tensor& value);

// No gradient goes through it from now on to what it was made of. It is no view.
void hold_back(const Cell& cell);

// What memory holds of a value through which no gradient is to go: another constant, or the value
// with its gradient stopped.
[[nodiscard]] Tensor without_gradient(const Tensor& value);

// Whether both see the same elements of one memory, in the same order.
[[nodiscard]] bool is_same_place(const Cell& a, const Cell& b);

// What an operation in place asks of its result, as PyTorch does. RuntimeError where the result is
// of a kind (bool, integer, floating, complex) that the target's dtype cannot hold, and where it
// has another shape.
void check_result_in_place(const ir::TensorType& target, const ir::TensorType& result);

}  // namespace composit::eager
