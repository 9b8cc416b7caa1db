// Arithmetic of numbers that may be tensors.
#include "composit/aten/number.h"

#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/execute/execute.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace composit::aten {
namespace {

// The shortest digits that mean the number, with an exponent where Python writes one.
std::string python_text(double value) {
    const double size = std::abs(value);
    if (!std::isfinite(value) || (size != 0 && (size < 1e-4 || size >= 1e16)))
        return number_text(value);
    std::array<char, 64> made{};
    const auto end =
        std::to_chars(made.data(), made.data() + made.size(), value, std::chars_format::fixed);
    const std::string text(made.data(), end.ptr);
    return text.find('.') == text.npos ? text + ".0" : text;
}

template <class Function>
Number combined(const Number& a, const Number& b, const Function& function) {
    if (a.is_known() && b.is_known()) return Number(function(a.value(), b.value()));
    return Number(function(a.operand(), b.operand()));
}

}  // namespace

double Number::value() const {
    if (is_known()) return known_;
    const Tensor wide = ops::astype(numpy::strong(tensor_), ir::DType::float64);
    return execute::evaluate({wide})[0].data_as<double>()[0];
}

Tensor Number::operand() const { return is_known() ? ir::weak_scalar(known_) : tensor_; }

Number operator+(const Number& a, const Number& b) {
    return combined(a, b, [](const auto& x, const auto& y) { return x + y; });
}
Number operator-(const Number& a, const Number& b) {
    return combined(a, b, [](const auto& x, const auto& y) { return x - y; });
}
Number operator*(const Number& a, const Number& b) {
    return combined(a, b, [](const auto& x, const auto& y) { return x * y; });
}
Number operator/(const Number& a, const Number& b) {
    return combined(a, b, [](const auto& x, const auto& y) { return x / y; });
}

Number power(const Number& base, double exponent) {
    if (base.is_known()) return std::pow(base.value(), exponent);
    return numpy::raised(base.operand(), exponent);
}

std::string text_of(const Number& number) {
    user_check(number.is_known(), "text_of: a tensor is given. A known number is required.");
    if (number.is_whole()) return std::to_string(static_cast<int64_t>(number.value()));
    return python_text(number.value());
}

}  // namespace composit::aten
