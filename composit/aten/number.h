// Numbers of a training step: learning rates, and what is computed of them.
#pragma once

#include "composit/numpy/operand.h"

#include <concepts>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace composit::aten {

using ir::Tensor;

// A known number, or a tensor of no dimensions where the learning rate is one. Arithmetic of known
// numbers is double's; with a tensor it makes nodes, under NumPy's promotion.
//
//   const Number rate = Number(1e-3) / (1 - 0.9);
class Number {
  public:
    template <class T>
        requires std::integral<T> || std::floating_point<T>
    Number(T known) : known_(static_cast<double>(known)), is_whole_(std::integral<T>) {}
    Number(Tensor tensor) : tensor_(std::move(tensor)) {}

    [[nodiscard]] bool is_known() const { return !tensor_; }
    // Whether it was made of an integer. What is computed of numbers is none.
    [[nodiscard]] bool is_whole() const { return is_whole_; }
    // The number; a tensor's is computed now.
    [[nodiscard]] double value() const;
    // As an operand: a weak scalar, or the tensor.
    [[nodiscard]] Tensor operand() const;

  private:
    double known_ = 0;
    bool is_whole_ = false;
    Tensor tensor_;
};
// A known number as Python shows it: "1", "0.5". ValueError for a tensor.
[[nodiscard]] std::string text_of(const Number& number);
using Numbers = std::vector<Number>;

[[nodiscard]] Number operator+(const Number& a, const Number& b);
[[nodiscard]] Number operator-(const Number& a, const Number& b);
[[nodiscard]] Number operator*(const Number& a, const Number& b);
[[nodiscard]] Number operator/(const Number& a, const Number& b);
// base to the power of exponent
[[nodiscard]] Number power(const Number& base, double exponent);

}  // namespace composit::aten
