// Making tensors: from values, and filled by rule. Each is one leaf holding its values, unless said
// otherwise.
//
// The node's name is `name`, else the call as it would be written in Python: "zeros((2, 3))",
// "arange(0, 10, 2, dtype=int32)"; array and asarray have no name of their own.
#pragma once

#include "composit/numpy/operand.h"

#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace composit::numpy {

// A number in C++ source.
template <class T>
concept Number = std::is_arithmetic_v<T>;

// The dtype that a C++ type is kept as: bool, the integers of <cstdint>, float, double and their
// complex.
template <class T>
constexpr DType dtype_of();

// ----- from values
// A constant sharing the array's memory.
[[nodiscard]] Tensor asarray(Array value, std::string_view name = {});
[[nodiscard]] inline Tensor asarray(const Tensor& x) { return x; }
// Row-major values. ValueError when their number is not the shape's.
//   array<float>({1, 2, 3, 4, 5, 6}, {2, 3})
template <class T>
[[nodiscard]] Tensor array(const std::vector<T>& values, Shape shape, std::string_view name = {});
template <class T>
[[nodiscard]] Tensor array(const std::vector<T>& values);  // one dimension
// A 0-d constant of that dtype: strong, unlike a literal. `value` is rounded (wraps for integers).
[[nodiscard]] Tensor scalar(DType dtype, double value, std::string_view name = {});

// ----- filled; dtype float64 unless given. ValueError: negative dimensions are not allowed. What
// takes more than 1 GiB is no leaf but one element, repeated, which takes memory when evaluated.
[[nodiscard]] Tensor zeros(Shape shape, std::optional<DType> dtype = {},
                           std::string_view name = {});
[[nodiscard]] Tensor ones(Shape shape, std::optional<DType> dtype = {}, std::string_view name = {});
// Zeros: composit has no uninitialised values.
[[nodiscard]] Tensor empty(Shape shape, std::optional<DType> dtype = {},
                           std::string_view name = {});
// `value` broadcast to `shape`, in dtype or its own (a literal's is int64, float64 or bool). A leaf
// when `value` is a 0-d constant, a broadcast of `value` (differentiable) otherwise.
[[nodiscard]] Tensor full(Shape shape, const Operand& value, std::optional<DType> dtype = {},
                          std::string_view name = {});
// Like x: its shape and dtype unless others are given; x is not computed.
[[nodiscard]] Tensor zeros_like(const Tensor& x, std::optional<DType> dtype = {},
                                std::optional<Shape> shape = {});
[[nodiscard]] Tensor ones_like(const Tensor& x, std::optional<DType> dtype = {},
                               std::optional<Shape> shape = {});
[[nodiscard]] Tensor empty_like(const Tensor& x, std::optional<DType> dtype = {},
                                std::optional<Shape> shape = {});
[[nodiscard]] Tensor full_like(const Tensor& x, const Operand& value,
                               std::optional<DType> dtype = {}, std::optional<Shape> shape = {});

// ----- ranges
// start, start + step, … before stop; int64 for the first, float64 for the second form, unless
// dtype is given. ZeroDivisionError for step 0 (integers, floats); ValueError when the size cannot
// be computed.
[[nodiscard]] Tensor arange(int64_t stop, std::optional<DType> dtype = {});
[[nodiscard]] Tensor arange(int64_t start, int64_t stop, int64_t step = 1,
                            std::optional<DType> dtype = {}, std::string_view name = {});
[[nodiscard]] Tensor arange(double start, double stop, double step = 1,
                            std::optional<DType> dtype = {}, std::string_view name = {});
// Any other mixture of C++ numbers: integers if all are, as Python's.
template <Number Start, Number Stop, Number Step = int64_t>
[[nodiscard]] Tensor arange(Start start, Stop stop, Step step = 1, std::optional<DType> dtype = {},
                            std::string_view name = {}) {
    using Common = std::conditional_t<std::is_integral_v<Start> && std::is_integral_v<Stop> &&
                                          std::is_integral_v<Step>,
                                      int64_t, double>;
    return arange(static_cast<Common>(start), static_cast<Common>(stop), static_cast<Common>(step),
                  dtype, name);
}
// `count` values from start to stop, stop included if endpoint; float64, integers by floor (NumPy
// >= 1.20). ValueError: "Number of samples, -1, must be non-negative."
[[nodiscard]] Tensor linspace(double start, double stop, int64_t count = 50, bool endpoint = true,
                              std::optional<DType> dtype = {}, std::string_view name = {});

// ----- matrices
// rows x columns (rows if not given) with ones where column == row + k.
[[nodiscard]] Tensor eye(int64_t rows, std::optional<int64_t> columns = {}, int64_t k = 0,
                         std::optional<DType> dtype = {}, std::string_view name = {});
[[nodiscard]] Tensor identity(int64_t n, std::optional<DType> dtype = {},
                              std::string_view name = {});
// Ones where column <= row + k.
[[nodiscard]] Tensor tri(int64_t rows, std::optional<int64_t> columns = {}, int64_t k = 0,
                         std::optional<DType> dtype = {}, std::string_view name = {});
// x (2 or more dimensions; one is repeated as rows) with zeros above, below the k-th diagonal of
// its last two axes.
[[nodiscard]] Tensor tril(const Tensor& x, int64_t k = 0);
[[nodiscard]] Tensor triu(const Tensor& x, int64_t k = 0);

// ----- definitions of the templates
template <class T>
constexpr DType dtype_of() {
    if constexpr (std::is_same_v<T, bool>)
        return DType::boolean;
    else if constexpr (std::is_same_v<T, float>)
        return DType::float32;
    else if constexpr (std::is_same_v<T, double>)
        return DType::float64;
    else if constexpr (std::is_same_v<T, std::complex<float>>)
        return DType::complex64;
    else if constexpr (std::is_same_v<T, std::complex<double>>)
        return DType::complex128;
    else {
        static_assert(std::is_integral_v<T> && sizeof(T) <= 8, "composit keeps no such type");
        constexpr DType with_sign[] = {DType::int8, DType::int16, DType::int32, DType::int64};
        constexpr DType without[] = {DType::uint8, DType::uint16, DType::uint32, DType::uint64};
        constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return std::is_signed_v<T> ? with_sign[log2] : without[log2];
    }
}

// ValueError, NumPy's words: "cannot reshape array of size 5 into shape (2, 3)".
void check_value_count(size_t count, const Shape& shape);

template <class T>
Tensor array(const std::vector<T>& values, Shape shape, std::string_view name) {
    check_value_count(values.size(), shape);
    return asarray(Array::of<T>(dtype_of<T>(), std::move(shape), values), name);
}

template <class T>
Tensor array(const std::vector<T>& values) {
    return array<T>(values, {static_cast<int64_t>(values.size())});
}

}  // namespace composit::numpy
