// Reads Python numbers, and computes with them as Python does.
#include "composit/numpy/literal.h"

#include "composit/numpy/elementwise.h"

#include <cmath>

namespace composit::numpy {
namespace {

double floor_remainder(double x, double y) {
    const double rest = std::fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

double computed(std::string_view row, double x, double y) {
    if (row == "add") return x + y;
    if (row == "subtract") return x - y;
    if (row == "multiply") return x * y;
    if (row == "divide") return x / y;
    if (row == "remainder") return floor_remainder(x, y);
    return std::floor(x / y);
}

// Integers beyond this are not all doubles.
constexpr double most = 0x1p53;

}  // namespace

std::optional<double> literal(const Tensor& x) {
    if (!x.type().weak || !ir::is_constant(x.node()) || ir::is_complex(x.dtype())) return {};
    const Array& value = ir::constant_value(x.node());
    if (x.dtype() == DType::float64) return *value.data_as<double>();
    if (x.dtype() == DType::int64) return static_cast<double>(*value.data_as<int64_t>());
    return *value.data_as<bool>() ? 1.0 : 0.0;
}

Tensor combined(std::string_view row, const Operand& a, const Operand& b) {
    const Tensor &x = a, &y = b;
    const std::optional<double> left = literal(x), right = literal(y);
    if (!left || !right || std::fabs(*left) > most || std::fabs(*right) > most)
        return apply(row, {x, y});
    const double value = computed(row, *left, *right);
    const bool is_float =
        row == "divide" || ir::is_floating(x.dtype()) || ir::is_floating(y.dtype());
    if (is_float) return ir::weak_scalar(value);
    if (!(std::fabs(value) <= most)) return apply(row, {x, y});
    return ir::weak_scalar(static_cast<int64_t>(value));
}

}  // namespace composit::numpy
