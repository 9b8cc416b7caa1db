// Variables: eager in manners, as PyTorch's tensors are, over graphs that are computed when a value
// is asked for.
//
//     Variable w = Variable::parameter(initial);
//     Variable loss = apply([](const Tensor& w, const Tensor& x) { return sum(w * x); }, w, x);
//     loss.backward();
//     update({w}, nn::sgd_optimizer(0.1));
//
// They stand on cells, as composit.numpy's arrays do: views share memory, values are remembered.
//
//     Variable a(numbers);
//     if (a.at({0}).number() > a.at({1}).number()) swap(a.at({0}), a.at({1}));
//
// composit/eager/operators.h has `a * b`, `a += b` and the like.
#pragma once

#include "composit/eager/cell.h"
#include "composit/ir/array.h"
#include "composit/ir/node.h"
#include "composit/nn/training.h"
#include "composit/numpy/indexing.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace composit::eager {

// Copies are the same variable. Not to be used by two threads at once, nor are its views.
class Variable {
  public:
    Variable(Array value);    // NOLINT: an array is a variable
    Variable(Tensor tensor);  // NOLINT: so is a tensor
    // One whose gradient is wanted.
    [[nodiscard]] static Variable parameter(Array value);

    [[nodiscard]] const Tensor& tensor() const;  // the node it holds now
    // Computed at most once, in one plan with what lives beside it and has no value yet.
    [[nodiscard]] Array value() const;
    // The value of its only element. ValueError for other numbers of elements, and complex ones.
    [[nodiscard]] double number() const;
    [[nodiscard]] bool is_parameter() const;

    // A part that shares its memory: at({i}), at({Slice{0, 3}, j}). Where NumPy copies (indices
    // that are tensors), a variable of its own. IndexError as numpy::get_item.
    [[nodiscard]] Variable at(const numpy::Index& index) const;
    // The same elements in the same memory, through which no gradient goes.
    [[nodiscard]] Variable detached() const;
    // The elements become those of `value`, cast and broadcast to this variable's dtype and shape,
    // in all that share its memory. Gradients go on to what the value was made of; a parameter, and
    // what is part of one, gets the values alone, and keeps the gradients of what was read before.
    // ValueError where the shape does not fit, and where elements repeat.
    void assign(const Variable& value) const;
    // A number in each: x.at({i}).assign(2.5).
    template <class T>
        requires std::is_arithmetic_v<T>
    void assign(T number) const {
        assign(Variable(numpy::Operand(number).tensor()));
    }
    // The same elements in memory of its own. Gradients go through.
    [[nodiscard]] Variable copied() const;

    // Adds to the gradients of the parameters that this variable of one element was made from, as
    // they were when it was made. ValueError where it was made from none, or has another number of
    // elements.
    void backward() const;
    // The gradients that were added up, where there are any: values, through which no other
    // gradient goes. ValueError for what is no parameter.
    [[nodiscard]] std::optional<Tensor> gradient() const;
    void forget_gradient() const;

    struct State;

  private:
    struct Memory;
    explicit Variable(std::shared_ptr<State> state) : state_(std::move(state)) {}
    friend Variable made(Tensor tensor, const std::vector<Variable>& operands);
    // Of an element, a number that is known: false where `assign` has to take another way.
    bool write_number(const Variable& value) const;
    void add_sources_of(const Variable& value) const;

    std::shared_ptr<State> state_;
};

// The variable of a tensor that was made from operands' tensors.
[[nodiscard]] Variable made(Tensor tensor, const std::vector<Variable>& operands);

// What a function of tensors makes of variables.
template <class Function, class... Variables>
[[nodiscard]] Variable apply(const Function& function, const Variables&... variables) {
    static_assert((std::is_same_v<Variables, Variable> && ...));
    return made(function(variables.tensor()...), {variables...});
}

// The values of two variables of one dtype and shape change places.
void swap(const Variable& a, const Variable& b);

// One step of all parameters that have gradients, computed at once.
void update(const std::vector<Variable>& parameters, const nn::OptimizerFunction& optimizer);

}  // namespace composit::eager
