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
#include "composit/eager/recording.h"
#include "composit/ir/array.h"
#include "composit/ir/node.h"
#include "composit/nn/training.h"
#include "composit/numpy/indexing.h"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
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
    // Whether no recorded operation made it (PyTorch's is_leaf): parameters, and all through which
    // no gradient goes.
    [[nodiscard]] bool is_leaf() const;
    // How often its memory was written, by any of its names but data().
    [[nodiscard]] int64_t version() const;

    // A part that shares its memory: at({i}), at({Slice{0, 3}, j}). Where NumPy copies (indices
    // that are tensors), a variable of its own. IndexError as numpy::get_item.
    [[nodiscard]] Variable at(const numpy::Index& index) const;
    // The same elements in the same memory, through which no gradient goes.
    [[nodiscard]] Variable detached() const;
    // The same, of which writes are not counted (PyTorch's x.data): they are no error where an
    // operation saved what is overwritten; its gradient is made of what is there then.
    [[nodiscard]] Variable data() const;
    // The elements become those of `value`, cast and broadcast to this variable's dtype and shape,
    // in all that share its memory. Gradients go on to what the value was made of; a parameter, and
    // what is part of one, gets the values alone, and keeps the gradients of what was read before.
    // So does anything within NoGrad, or through detached() and data(). ValueError where the shape
    // does not fit, and where elements repeat.
    void assign(const Variable& value) const;
    // A number in each: x.at({i}).assign(2.5).
    template <class T>
        requires std::is_arithmetic_v<T>
    void assign(T number) const {
        assign(Variable(numpy::Operand(number).tensor()));
    }
    // The same elements in memory of its own. Gradients go through.
    [[nodiscard]] Variable copied() const;

    // Adds to the gradients of the parameters that this variable was made from, as they were when
    // operations read them. `gradient` is what flows into it, of its shape and dtype: ones where it
    // has one element and none is given. The records of its operations are freed, unless
    // `retain_graph` keeps them for another backward.
    // ValueError where it was made from no parameter, or has another number of elements and no
    // gradient is given. RuntimeError, in PyTorch's words, where its records were freed, or where a
    // value that an operation saved (see `apply`) was written since.
    void backward(const std::optional<Tensor>& gradient = {}, bool retain_graph = false) const;
    // The gradients that were added up, where there are any: values, through which no other
    // gradient goes. ValueError for what is no parameter.
    [[nodiscard]] std::optional<Tensor> gradient() const;
    void forget_gradient() const;
    // Calls `hook` with each gradient before it is added to a parameter's; what that returns is
    // added instead. ValueError for what is no parameter.
    using GradientHook = std::function<Tensor(const Tensor& gradient)>;
    void register_hook(GradientHook hook) const;

    struct State;

  private:
    struct Memory;
    explicit Variable(std::shared_ptr<State> state) : state_(std::move(state)) {}
    friend Variable made(Tensor tensor, const std::vector<Variable>& operands,
                         std::string_view operation);
    // Of an element, a number that is known: false where `assign` has to take another way.
    bool write_number(const Variable& value) const;
    void overwrite(const Variable& value) const;
    void add_record_of(const Variable& value) const;
    [[nodiscard]] Variable alias(bool is_counted) const;

    std::shared_ptr<State> state_;
};

// The variable of a tensor that was made from operands' tensors, on the tape unless the thread is
// within NoGrad. `operation` is the name that PyTorch has for what made it, if it is to save what
// PyTorch's operation saves (see `apply`).
[[nodiscard]] Variable made(Tensor tensor, const std::vector<Variable>& operands,
                            std::string_view operation = {});

// What a function of tensors makes of variables. Its gradient is that of the values that it was
// given, whatever is written later.
template <class Function, class... Variables>
    requires(std::is_same_v<Variables, Variable> && ...)
[[nodiscard]] Variable apply(const Function& function, const Variables&... variables) {
    return made(function(variables.tensor()...), {variables...});
}
// The same for an operation of PyTorch's: apply("mul", [](…) { return a * b; }, a, b). It saves the
// values that PyTorch's saves (saved_values.h), of operands in PyTorch's order: where one of them
// is written before backward(), that is PyTorch's error; written through data(), the gradient is
// made of what is there then.
template <class Function, class... Variables>
    requires(std::is_same_v<Variables, Variable> && ...)
[[nodiscard]] Variable apply(std::string_view operation, const Function& function,
                             const Variables&... variables) {
    return made(function(variables.tensor()...), {variables...}, operation);
}

// The values of two variables of one dtype and shape change places.
void swap(const Variable& a, const Variable& b);

// One step of all parameters that have gradients, computed at once.
void update(const std::vector<Variable>& parameters, const nn::OptimizerFunction& optimizer);

}  // namespace composit::eager
