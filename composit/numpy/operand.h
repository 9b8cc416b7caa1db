// What the functions of this folder take: tensors, or C++ literals that stand for Python's scalars.
#pragma once

#include "composit/ir/node.h"

#include <complex>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::numpy {

using ir::Array;
using ir::DType;
using ir::Shape;
using ir::Tensor;

// A tensor, or a literal: bool, any integer or floating type, std::complex<double>, which become
// weak scalars (NEP 50: they take part in promotion by their kind only, so float32 + 1.0 stays
// float32). Operand() is "not given" where a function says that an operand may be left out.
//
//   where(x > 0, x, 0.0)
class Operand {
  public:
    Operand() = default;
    Operand(Tensor tensor) : tensor_(std::move(tensor)) {}
    template <std::same_as<bool> T>
    Operand(T value) : tensor_(ir::weak_scalar(value)) {}
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    Operand(T value) : tensor_(ir::weak_scalar(static_cast<int64_t>(value))) {}
    template <std::floating_point T>
    Operand(T value) : tensor_(ir::weak_scalar(static_cast<double>(value))) {}
    Operand(std::complex<double> value) : tensor_(ir::weak_scalar(value)) {}

    explicit operator bool() const { return static_cast<bool>(tensor_); }
    operator const Tensor&() const { return tensor_; }
    [[nodiscard]] const Tensor& tensor() const { return tensor_; }

  private:
    Tensor tensor_;
};

// The tensor without weakness: a Python scalar becomes int64, float64 or bool.
[[nodiscard]] Tensor strong(const Tensor& x);

// numpy.result_type of the operands, weak ones by kind only; float64 for none at all.
// TypeError when a dtype pair has no common dtype.
[[nodiscard]] DType result_type(const std::vector<Tensor>& operands);

// All operands converted to their result_type, or to `dtype` if given. OverflowError when a Python
// integer does not fit, NumPy's words.
[[nodiscard]] std::vector<Tensor> promoted(const std::vector<Tensor>& operands,
                                           std::optional<DType> dtype = {});

// OverflowError, NumPy's words, when x is a Python integer that dtype, an integer, cannot hold.
void check_integer_fits(std::string_view function, const Tensor& x, DType dtype);
// What Python says where a float is to become an integer: ValueError for NaN, OverflowError for an
// infinity or what is out of bounds.
void check_float_fits(std::string_view function, double value, DType dtype);

// Whether the value of a tensor is unknown until a function is called.
[[nodiscard]] bool depends_on_placeholder(const Tensor& x);

// The value of a tensor that decides a shape: a constant's, else evaluated now. NotSupported,
// naming `function` and `what`, when it depends on a placeholder (inside compile, grad, vmap,
// wrap_as_operation).
[[nodiscard]] Array concrete(std::string_view function, std::string_view what, const Tensor& x);

// The value of a 0-d bool that decides what a function returns, or whether it is an error. Found
// and refused as `concrete` does; `instead` is what can be used there.
[[nodiscard]] bool truth(std::string_view function, const Tensor& x, std::string_view instead);

}  // namespace composit::numpy
