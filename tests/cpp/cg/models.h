// Modules that several tests of cg use, and what reads their numbers.
#pragma once

#include "composit/base/error.h"
#include "composit/cg/module.h"
#include "composit/functional/functional.h"
#include "composit/ops/ops.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace composit::cg {

inline Tensor vector(std::initializer_list<double> values) {
    return ir::constant(
        Array::of<double>(ir::DType::float64, {static_cast<int64_t>(values.size())}, values));
}

inline std::vector<double> numbers(const Array& array) {
    const auto* first = array.data_as<double>();
    return {first, first + array.size()};
}
inline std::vector<double> numbers(const Tensor& tensor) { return numbers(evaluate(tensor)); }
inline double number(const Tensor& tensor) { return numbers(tensor).at(0); }

template <class Error, class Function>
std::string refusal(Function&& function) {
    try {
        function();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

// (x + w) x^2
class SimpleModel : public Module {
  public:
    explicit SimpleModel(double w0 = 1)
        : Module("SimpleModel", {variable("x")}, {parameter("w", w0)}) {}

  protected:
    Nodes call(const Nodes& x) const override {
        return {op::multiply(op::add(x[0], param("w")), op::square(x[0]))};
    }
};

// Two models, which may be one, of two inputs.
class Composite : public Module {
  public:
    Composite(const SimpleModel& first, const SimpleModel& second)
        : Module("Composite", {variable("x1"), variable("x2")}), first_(first), second_(second) {}

  protected:
    Nodes call(const Nodes& x) const override {
        return {op::add(first_({x[0]})[0], second_({x[1]})[0])};
    }
    std::vector<const Module*> submodules() const override { return {&first_, &second_}; }

  private:
    const SimpleModel &first_, &second_;
};

class Multiply : public Operator {
  public:
    Multiply() : Operator("Multiply", {variable("a"), variable("b")}) {}

  protected:
    Tensor op_impl(const Tensors& x) const override { return ops::map("multiply", x); }
    Tensor gradient(size_t i, const Tensors& x) const override { return x[1 - i]; }
};

}  // namespace composit::cg
