// Constants made from values and by rule.
#include "composit/numpy/creation.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/check.h"
#include "composit/ir/dtype_traits.h"
#include "composit/ir/scalar/convert.h"
#include "composit/ir/scalar/function.h"
#include "composit/numpy/elementwise.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace composit::numpy {
namespace {

void check_shape(std::string_view function, const Shape& shape) {
    for (int64_t length : shape)
        user_check(length >= 0, function, ": negative dimensions are not allowed: ", shape, ".");
    ir::check_shape(function, shape);
}

// "zeros((2, 3), dtype=float32)", unless the caller names the node.
template <class... Parts>
std::string call_name(std::string_view given, std::string_view function, std::optional<DType> dtype,
                      const Parts&... arguments) {
    if (!given.empty()) return std::string(given);
    std::string result = text(function, "(", arguments...);
    return result + (dtype ? text(", dtype=", *dtype, ")") : text(")"));
}

// One element converted, NumPy's casting="unsafe".
Array converted(const Array& element, DType dtype) {
    if (element.dtype() == dtype) return element;
    using ir::scalar::Expr;
    ir::scalar::Bits bits{};
    std::memcpy(bits.data(), element.data(), static_cast<size_t>(element.bytes()));
    const Expr value = ir::scalar::convert(Expr::argument(0, element.dtype()), dtype);
    bits = ir::scalar::evaluate({value}, {bits})[0];
    Array result(dtype, {});
    std::memcpy(result.mutable_data(), bits.data(), static_cast<size_t>(result.bytes()));
    return result;
}

Array filled(const Array& element, Shape shape) {
    Array result(element.dtype(), std::move(shape));
    auto* bytes = static_cast<char*>(result.mutable_data());
    const auto size = static_cast<size_t>(ir::size_of(element.dtype()));
    for (int64_t i = 0; i < result.size(); ++i, bytes += size)
        std::memcpy(bytes, element.data(), size);
    return result;
}

// Whether its bytes are all 0: such arrays are had from the system without being written.
bool is_zero(const Array& element) {
    const auto* bytes = static_cast<const char*>(element.data());
    return std::all_of(bytes, bytes + element.bytes(), [](char byte) { return byte == 0; });
}

// More than this is not filled before it is evaluated, and perhaps never: one element, repeated.
constexpr int64_t most_bytes = int64_t{1} << 30;

Tensor leaf_of(const Array& element, Shape shape, const std::string& name) {
    if (ir::element_count(shape) > most_bytes / ir::size_of(element.dtype())) {
        const Tensor repeated = ops::full(std::move(shape), ir::constant(element));
        return {ir::with_name(repeated.node(), name), 0};
    }
    Array values = is_zero(element) ? Array::zeros(element.dtype(), std::move(shape))
                                    : filled(element, std::move(shape));
    return ir::constant(std::move(values), name);
}

// Whether a literal is a float that the dtype may not hold, so that its conversion is one that
// warns, as of elements.
bool is_lost(const Tensor& x, DType dtype) {
    if (!x.type().weak || x.dtype() != DType::float64 || !ir::is_constant(x.node())) return false;
    const double size = std::fabs(*ir::constant_value(x.node()).data_as<double>());
    if (size < 1 << 15) return false;
    if (!ir::is_floating(dtype)) return ir::is_integer(dtype);
    return std::isfinite(size) && size > ir::float_format(dtype).greatest();
}

// Zeros with ones where `is_one(row, column)`.
template <class IsOne>
Array pattern(DType dtype, int64_t rows, int64_t columns, const IsOne& is_one) {
    const Array one = converted(Array::scalar(DType::boolean, 1), dtype);
    Array result = Array::zeros(dtype, {rows, columns});
    auto* bytes = static_cast<char*>(result.mutable_data());
    const auto size = static_cast<size_t>(ir::size_of(dtype));
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j, bytes += size)
            if (is_one(i, j)) std::memcpy(bytes, one.data(), size);
    return result;
}

}  // namespace

void check_value_count(size_t count, const Shape& shape) {
    check_shape("array", shape);
    user_check(static_cast<int64_t>(count) == ir::element_count(shape),
               "array: cannot reshape array of size ", count, " into shape ", shape,
               ". Give one value for each element.");
}

Tensor asarray(Array value, std::string_view name) { return ir::constant(std::move(value), name); }

Tensor scalar(DType dtype, double value, std::string_view name) {
    const Array element =
        errors_as("scalar", [&] { return converted(Array::scalar(DType::float64, value), dtype); });
    return ir::constant(element, name.empty() ? "scalar_" + number_text(value) : std::string(name));
}

Tensor zeros(Shape shape, std::optional<DType> dtype, std::string_view name) {
    check_shape("zeros", shape);
    const std::string text = call_name(name, "zeros", dtype, shape);
    return leaf_of(Array::zeros(dtype.value_or(DType::float64), {}), std::move(shape), text);
}

Tensor empty(Shape shape, std::optional<DType> dtype, std::string_view name) {
    check_shape("empty", shape);
    return zeros(shape, dtype, call_name(name, "empty", dtype, shape));
}

Tensor ones(Shape shape, std::optional<DType> dtype, std::string_view name) {
    check_shape("ones", shape);
    const Array one = converted(Array::scalar(DType::boolean, 1), dtype.value_or(DType::float64));
    const std::string text = call_name(name, "ones", dtype, shape);
    return leaf_of(one, std::move(shape), text);
}

Tensor full(Shape shape, const Operand& value, std::optional<DType> dtype, std::string_view name) {
    check_shape("full", shape);
    const DType to = dtype.value_or(value.tensor().dtype());
    const Tensor x = is_lost(value, to) ? ops::astype(strong(value), to) : value.tensor();
    check_integer_fits("full", x, to);
    if (!ir::is_constant(x.node()) || x.rank() > 0) {
        const Tensor spread = errors_as(
            "full", [&] { return ops::broadcast_to(ops::astype(x, to), std::move(shape)); });
        return name.empty() ? spread : Tensor(ir::with_name(spread.node(), name), 0);
    }
    std::string written = x.name();
    if (written.starts_with("scalar_")) written.erase(0, 7);
    const std::string text = call_name(name, "full", dtype, shape, ", ", written);
    const Array element =
        errors_as("full", [&] { return converted(ir::constant_value(x.node()), to); });
    return leaf_of(element, std::move(shape), text);
}

Tensor zeros_like(const Tensor& x, std::optional<DType> dtype, std::optional<Shape> shape) {
    return errors_as("zeros_like",
                     [&] { return zeros(shape.value_or(x.shape()), dtype.value_or(x.dtype())); });
}

Tensor ones_like(const Tensor& x, std::optional<DType> dtype, std::optional<Shape> shape) {
    return errors_as("ones_like",
                     [&] { return ones(shape.value_or(x.shape()), dtype.value_or(x.dtype())); });
}

Tensor empty_like(const Tensor& x, std::optional<DType> dtype, std::optional<Shape> shape) {
    return errors_as("empty_like", [&] { return zeros_like(x, dtype, std::move(shape)); });
}

Tensor full_like(const Tensor& x, const Operand& value, std::optional<DType> dtype,
                 std::optional<Shape> shape) {
    return errors_as("full_like", [&] {
        return full(shape.value_or(x.shape()), value, dtype.value_or(x.dtype()));
    });
}

Tensor eye(int64_t rows, std::optional<int64_t> columns, int64_t k, std::optional<DType> dtype,
           std::string_view name) {
    const int64_t width = columns.value_or(rows);
    check_shape("eye", {rows, width});
    const std::string text = call_name(name, "eye", dtype, rows, ", ", width, ", ", k);
    return ir::constant(pattern(dtype.value_or(DType::float64), rows, width,
                                [k](int64_t i, int64_t j) { return j - i == k; }),
                        text);
}

Tensor identity(int64_t n, std::optional<DType> dtype, std::string_view name) {
    return errors_as("identity",
                     [&] { return eye(n, n, 0, dtype, call_name(name, "identity", dtype, n)); });
}

Tensor tri(int64_t rows, std::optional<int64_t> columns, int64_t k, std::optional<DType> dtype,
           std::string_view name) {
    const int64_t width = columns.value_or(rows);
    check_shape("tri", {rows, width});
    const std::string text = call_name(name, "tri", dtype, rows, ", ", width, ", ", k);
    return ir::constant(pattern(dtype.value_or(DType::float64), rows, width,
                                [k](int64_t i, int64_t j) { return j - i <= k; }),
                        text);
}

namespace {

// x where a triangle of its last two axes is, zeros elsewhere.
template <class IsOne>
Tensor triangle(std::string_view function, const Tensor& x, const IsOne& is_one) {
    user_check(x.rank() > 0, function, ": x is 0-d. At least one dimension is required.");
    const int64_t columns = x.shape().back();
    const int64_t rows = x.rank() == 1 ? columns : x.shape()[x.shape().size() - 2];
    const Tensor mask = ir::constant(pattern(DType::boolean, rows, columns, is_one), "triangle");
    return errors_as(function, [&] { return apply("where", {mask, x, scalar(x.dtype(), 0)}); });
}

}  // namespace

Tensor tril(const Tensor& x, int64_t k) {
    return triangle("tril", x, [k](int64_t i, int64_t j) { return j - i <= k; });
}

Tensor triu(const Tensor& x, int64_t k) {
    return triangle("triu", x, [k](int64_t i, int64_t j) { return j - i >= k; });
}

}  // namespace composit::numpy
