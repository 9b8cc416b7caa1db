// Closeness and differences as graphs, of which a comparison evaluates what its message says.
#include "composit/aten/comparing.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/rows.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace composit::aten {
namespace {

Tensor either(const Tensor& a, const Tensor& b) { return numpy::apply("logical_or", {a, b}); }
Tensor both(const Tensor& a, const Tensor& b) { return numpy::apply("logical_and", {a, b}); }
Tensor is_nan(const Tensor& x) { return numpy::apply("isnan", {x}); }

int64_t integer_of(const Tensor& x) {
    return numpy::concrete("assert_close", "the place of a difference", x).data_as<int64_t>()[0];
}

// The position of a place of the flattened tensor.
Shape position_of(int64_t place, const Shape& shape) {
    Shape position(shape.size());
    for (size_t i = shape.size(); i-- > 0;) {
        position[i] = place % shape[i];
        place /= shape[i];
    }
    return position;
}

}  // namespace

Tensor isclose(const Tensor& x, const Tensor& y, double rtol, double atol, bool equal_nan) {
    user_check<RuntimeError>(rtol >= 0, "rtol must be greater than or equal to zero, but got ",
                             number_text(rtol));
    user_check<RuntimeError>(atol >= 0, "atol must be greater than or equal to zero, but got ",
                             number_text(atol));
    Tensor close = rows::equal(x, y);
    if (equal_nan && ir::is_inexact(x.dtype())) close = either(close, both(is_nan(x), is_nan(y)));
    if (rtol == 0 && atol == 0) return close;
    const Tensor number = x.dtype() == DType::boolean ? floating(x) : x, other = floating(y);
    const std::vector<Tensor> pair = together({number, other});
    const Tensor error = rows::abs(pair[0] - pair[1]);
    const Tensor allowed = atol + rows::abs(rtol * other);
    const Tensor near = numpy::apply("less_equal", {error, allowed});
    return either(close, both(numpy::apply("isfinite", {error}), near));
}

std::optional<Mismatch> mismatch(const Tensor& actual, const Tensor& expected, double rtol,
                                 double atol, bool equal_nan) {
    const Tensor matches = isclose(actual, expected, rtol, atol, equal_nan);
    if (numpy::truth("assert_close", numpy::all(matches), "isclose")) return std::nullopt;
    const Tensor close = numpy::reshape(matches, {-1});
    const auto flat = [&](const Tensor& x) {
        const Tensor row = numpy::reshape(x, {-1});
        return ir::is_inexact(x.dtype()) ? row : ops::astype(row, DType::int64);
    };
    const Tensor a = flat(actual), b = flat(expected);
    const auto of_mismatches = [&](const Tensor& x) {
        return rows::where(close, rows::zero_of(x), x);
    };
    const Tensor absolute = of_mismatches(rows::abs(a - b));
    const std::vector<Tensor> floats = together_as_floats({absolute, rows::abs(b)});
    const Tensor relative = of_mismatches(floats[0] / floats[1]);
    const auto greatest = [&](const Tensor& x, Tensor& value, Shape& at) {
        const int64_t place = integer_of(numpy::argmax(x, 0));
        value = numpy::get_item(x, {place});
        at = position_of(place, actual.shape());
    };
    Mismatch found{.count = close.size() - integer_of(numpy::count_nonzero(close)),
                   .size = close.size(),
                   .first = position_of(integer_of(numpy::argmin(close, 0)), actual.shape())};
    greatest(absolute, found.absolute, found.absolute_at);
    greatest(relative, found.relative, found.relative_at);
    return found;
}

std::string text_of(const Mismatch& found, const Number& rtol, const Number& atol,
                    std::string_view name) {
    const bool is_exact = rtol.value() == 0 && atol.value() == 0;
    const double share = 100.0 * static_cast<double>(found.count) / static_cast<double>(found.size);
    std::array<char, 32> percent{};
    std::snprintf(percent.data(), percent.size(), "%.1f%%", share);
    std::string made = text(name, " are not ", is_exact ? "equal" : "close",
                            "!\n\nMismatched elements: ", found.count, " / ", found.size, " (",
                            percent.data(), ")");
    const auto add = [&](std::string_view kind, const Tensor& difference, const Shape& at,
                         const Number& allowed) {
        const bool is_whole = !ir::is_inexact(difference.dtype());
        const std::string value = is_whole ? std::to_string(integer_of(difference))
                                           : text_of(Number(Number(difference).value()));
        made += text("\nGreatest ", kind, " difference: ", value, " at index ", at);
        if (!is_exact) made += text(" (up to ", text_of(allowed), " allowed)");
    };
    add("absolute", found.absolute, found.absolute_at, atol);
    add("relative", found.relative, found.relative_at, rtol);
    return made;
}

Tolerances close_tolerances(const std::vector<DType>& dtypes) {
    Tolerances largest;
    for (const DType dtype : dtypes) {
        const ir::DTypeTraits& own = ir::traits(dtype);
        largest = {std::max(largest.rtol, own.torch_rtol), std::max(largest.atol, own.torch_atol)};
    }
    return largest;
}

void check_tolerances(bool has_rtol, bool has_atol) {
    user_check<ValueError>(
        has_rtol == has_atol,
        "Both 'rtol' and 'atol' must be either specified or omitted, but got no ",
        has_rtol ? "atol" : "rtol", ".");
}

std::string attributes_differ(std::string_view name, std::string_view actual,
                              std::string_view expected) {
    return text("The values for attribute '", name, "' do not match: ", actual, " != ", expected,
                ".");
}

void assert_close(const Tensor& actual, const Tensor& expected, const Closeness& demanded) {
    check_tolerances(demanded.rtol.has_value(), demanded.atol.has_value());
    user_check<AssertionError>(
        actual.shape() == expected.shape(),
        attributes_differ("shape", text(actual.shape()), text(expected.shape())));
    user_check<AssertionError>(
        actual.dtype() == expected.dtype() || !demanded.check_dtype,
        attributes_differ("dtype", ir::name(actual.dtype()), ir::name(expected.dtype())));
    const Tolerances usual = close_tolerances({actual.dtype(), expected.dtype()});
    const double rtol = demanded.rtol.value_or(usual.rtol);
    const double atol = demanded.atol.value_or(usual.atol);
    const std::vector<Tensor> pair = together({actual, expected});
    if (const auto found = mismatch(pair[0], pair[1], rtol, atol, demanded.equal_nan))
        throw AssertionError(text_of(*found, rtol, atol));
}

}  // namespace composit::aten
