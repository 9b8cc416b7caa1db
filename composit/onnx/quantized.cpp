// Quantised numbers: integers with a scale and a zero point, in exact integer arithmetic.
#include "composit/onnx/quantized.h"

#include "composit/numpy/creation.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/onnx/convolutions.h"
#include "composit/onnx/operators.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <utility>

namespace composit::onnx {
namespace quantized {
namespace {

using numpy::apply;

// A scale or zero point against x: one number, one for each slice of an axis, or one for each block
// along it.
Tensor spread(const Call& call, const Tensor& parameter, const Tensor& x, int64_t axis,
              int64_t block) {
    if (parameter.size() == 1 && block == 0) return numpy::reshape(parameter, {});
    const auto place = static_cast<size_t>(axis);
    if (block > 0) {
        call.check(parameter.rank() == x.rank(), "a scale of shape ", parameter.shape(),
                   " in blocks of ", block, " for a tensor of shape ", x.shape(),
                   ". As many axes are required.");
        const Tensor repeated = numpy::repeat(parameter, block, axis);
        const int64_t length = x.shape()[place];
        call.check(repeated.shape()[place] >= length, "a scale of shape ", parameter.shape(),
                   " in blocks of ", block, " for a tensor of shape ", x.shape(),
                   ". Blocks that cover the axis are required.");
        return repeated.shape()[place] == length
                   ? repeated
                   : numpy::split(repeated, std::vector<int64_t>{length}, axis)[0];
    }
    call.check(parameter.rank() == 1 && parameter.size() == x.shape()[place], "a scale of shape ",
               parameter.shape(), " along axis ", axis, " of a tensor of shape ", x.shape(),
               ". One for each slice is required.");
    Shape shape(static_cast<size_t>(x.rank()), 1);
    shape[place] = parameter.size();
    return numpy::reshape(parameter, shape);
}

int64_t quantized_axis(const Call& call, const Tensor& x) {
    return x.rank() == 0 ? 0 : call.axis(x.rank(), std::min(1, x.rank() - 1));
}

// The least and the greatest number of a type.
std::pair<double, double> range_of(ElementType type) {
    const int count = bits(type);
    const double values = static_cast<double>(uint64_t{1} << count);
    const bool has_sign = ir::is_signed_integer(carrier(type));
    return has_sign ? std::pair(-values / 2, values / 2 - 1) : std::pair(0.0, values - 1);
}

// Whether there is a zero point that may be another number than 0.
bool is_given(const Call& call, const Tensor& zero_point) {
    if (!zero_point) return false;
    if (!Call::is_known(zero_point)) return true;
    const Array values = call.known(numpy::astype(zero_point, DType::int32));
    const auto* first = values.data_as<int32_t>();
    return std::any_of(first, first + values.size(), [](int32_t value) { return value != 0; });
}

// Numbers rounded to even, plus a zero point, in numbers of a type, cut at its ends; NaN becomes
// the least one. They are cut before the zero point is added: types have at most 16 bits, so floats
// of 32 bits hold each number exactly. Added to this offset, such a float has the whole number next
// to it as its last bits.
constexpr float offset_of_whole = 0x1.8p23F;

Value rounded(const Tensor& given, const Tensor& zero_point, ElementType type) {
    const auto [least, greatest] = range_of(type);
    const bool is_double = given.dtype() == DType::float64;
    const DType wide = is_double ? DType::float64 : DType::float32;
    const Tensor zero = zero_point ? numpy::astype(zero_point, wide) : Tensor();
    const auto bound = [&](double value) {
        const Tensor end = numpy::astype(ir::constant(Array::scalar(DType::float64, value)), wide);
        return zero ? end - zero : end;
    };
    Tensor x = numpy::astype(given, wide);
    const Tensor first = bound(least), last = bound(greatest);
    x = apply("fmin", {apply("fmax", {x, first}), last});
    if (is_double) x = numpy::astype(apply("rint", {x}), DType::float32);
    const auto bits = [](const Tensor& number) { return ops::bitcast(number, DType::int32); };
    const Tensor offset = ir::constant(Array::scalar(DType::float32, offset_of_whole));
    Tensor whole = bits(x + offset) - bits(offset);
    if (zero) whole = whole + numpy::astype(zero_point, DType::int32);
    return {numpy::astype(whole, carrier(type)), type};
}

Values quantize(Call& call) {
    const Tensor &x = call.tensor(0), &scale = call.tensor(1);
    ElementType type = call.element("output_dtype", ElementType::uint8);
    if (call.has(2)) type = call.value(2).element();
    const int64_t axis = quantized_axis(call, x), block = call.integer("block_size", 0);
    const DType asked =
        carrier(call.element("precision", ElementType::undefined) == ElementType::undefined
                    ? call.value(1).element()
                    : call.element("precision", ElementType::float32));
    const DType wide =
        ir::is_short_float(asked) || asked == DType::float64 ? asked : DType::float32;
    const Tensor numbers = ir::is_integer(x.dtype()) ? numpy::astype(x, wide) : x;
    const Tensor divided =
        numpy::astype(numbers, wide) / numpy::astype(spread(call, scale, x, axis, block), wide);
    if (small_float(type)) {
        Tensor shifted = divided;
        if (call.has(2)) shifted = shifted + spread(call, call.tensor(2), x, axis, block);
        return {Value(cast(shifted, type, call.flag("saturate", true)), type)};
    }
    const bool is_shifted = is_given(call, call.tensor_if_given(2));
    return {rounded(divided, is_shifted ? spread(call, call.tensor(2), x, axis, block) : Tensor(),
                    type)};
}

Values dequantize(Call& call) {
    const Tensor &x = call.tensor(0), &scale = call.tensor(1);
    const int64_t axis = quantized_axis(call, x), block = call.integer("block_size", 0);
    const ElementType type = call.element("output_dtype", call.value(1).element());
    const DType wide = ir::is_integer(x.dtype()) ? DType::int32 : DType::float32;
    Tensor centred = numpy::astype(x, wide);
    if (is_given(call, call.tensor_if_given(2)))
        centred = centred - numpy::astype(spread(call, call.tensor(2), x, axis, block), wide);
    const DType floating = scale.dtype();
    const Tensor result =
        numpy::astype(centred, floating == DType::float64 ? floating : DType::float32) *
        spread(call, numpy::astype(scale, DType::float32), x, axis, block);
    const Value made(cast(result, type), type);
    const bool has_eight_bits = x.dtype() == DType::int8 || x.dtype() == DType::uint8;
    if (!has_eight_bits || block > 0 || type != ElementType::float32) return {made};
    return {made.made_of({x, scale, call.tensor_if_given(2), axis})};
}

// uint8 between the extrema of x and 0.
Values dynamic_quantize(Call& call) {
    const Tensor& x = call.tensor(0);
    const Tensor least = apply("minimum", {numpy::min(x), 0.0});
    const Tensor greatest = apply("maximum", {numpy::max(x), 0.0});
    const Tensor scale = (greatest - least) / 255.0;
    const Tensor zero_point = numpy::clip(apply("rint", {0.0 - least / scale}), 0.0, 255.0);
    return {rounded(x / scale, zero_point, ElementType::uint8), scale,
            numpy::astype(zero_point, DType::uint8)};
}

// A scale or zero point against x: one number, or one for each slice of an axis; with a negative
// axis, or more axes, as it is.
Tensor along(const Tensor& parameter, const Tensor& x, int64_t axis) {
    if (parameter.size() == 1) return numpy::reshape(parameter, {});
    if (parameter.rank() != 1 || axis < 0) return parameter;
    Shape shape(static_cast<size_t>(x.rank()), 1);
    shape[static_cast<size_t>(axis)] = parameter.size();
    return numpy::reshape(parameter, shape);
}

// A zero point as int32, against x.
Tensor zero_along(const Tensor& zero_point, const Tensor& x, int64_t axis) {
    return along(numpy::astype(zero_point, DType::int32), x, axis);
}

// x less its zero point, int32; a zero point for each row or column stands along `axis`.
Tensor centred(const Tensor& x, const Tensor& zero_point, int64_t axis) {
    const Tensor wide = numpy::astype(x, DType::int32);
    return zero_point ? wide - zero_along(zero_point, x, axis) : wide;
}

// The product of a and b, each less its zero point, as that of a and b themselves, whose factors
// are bytes, and what the zero points add to its sums (decisions/0087).
Tensor product_of(const Call& call, const Tensor& a, const Tensor& zero_of_a, const Tensor& b,
                  const Tensor& zero_of_b) {
    if (a.rank() < 2 || b.rank() < 2)
        return numpy::matmul(centred(a, zero_of_a, a.rank() - 2),
                             centred(b, zero_of_b, b.rank() - 1));
    const Tensor left = numpy::astype(a, DType::int32), right = numpy::astype(b, DType::int32);
    const bool has_left = is_given(call, zero_of_a), has_right = is_given(call, zero_of_b);
    Tensor sums = numpy::matmul(left, right), added;
    if (has_left) {
        const Tensor of_columns = numpy::sum(right, -2, DType::int32, true);
        added = zero_along(zero_of_a, a, a.rank() - 2) * of_columns;
    }
    if (has_right) {
        Tensor of_rows = numpy::sum(left, -1, DType::int32, true);
        if (has_left) {
            const auto depth = static_cast<int32_t>(a.shape().back());
            of_rows = of_rows - zero_along(zero_of_a, a, a.rank() - 2) *
                                    ir::constant(Array::scalar(DType::int32, depth));
        }
        const Tensor of_right = of_rows * zero_along(zero_of_b, b, b.rank() - 1);
        added = added ? added + of_right : of_right;
    }
    return added ? sums - added : sums;
}

// The same of windows in x and of filters. Filters have the zero point 0, as a rule.
Tensor sums_of_windows(const Call& call, const Tensor& x, const Tensor& zero_of_x,
                       const Tensor& filters, const Tensor& zero_of_filters) {
    if (is_given(call, zero_of_filters) || (zero_of_x && zero_of_x.size() > 1))
        return convolution_of(call, centred(x, zero_of_x, -1),
                              centred(filters, zero_of_filters, 0));
    const Tensor factors = numpy::astype(filters, DType::int32);
    if (!is_given(call, zero_of_x))
        return convolution_of(call, numpy::astype(x, DType::int32), factors);
    std::vector<int64_t> others, shape(static_cast<size_t>(x.rank()), 1);
    for (int64_t axis = 1; axis < filters.rank(); ++axis) others.push_back(axis);
    shape[1] = filters.shape()[0];
    const Tensor of_filters = numpy::reshape(numpy::sum(factors, others, DType::int32), shape);
    return convolution_of(call, x, factors, numpy::reshape(zero_of_x, {})) -
           zero_along(zero_of_x, x, -1) * of_filters;
}

// Sums of so many products of bytes are less than 2 to the power of 31.
constexpr int64_t most_exact_products = 33'000;

bool has_one_scale(const Quantized& x) { return x.scale.size() == 1; }

// Sums of products, with the scales of both operands; those of the second one stand along an axis.
Tensor scaled(const Tensor& sums, const Quantized& a, const Quantized& b, int64_t axis) {
    const Tensor factor = numpy::reshape(a.scale, {}) * along(b.scale, sums, axis);
    return numpy::astype(sums, DType::float32) * factor;
}

Values matmul_integer(Call& call) {
    return {product_of(call, call.tensor(0), call.tensor_if_given(2), call.tensor(1),
                       call.tensor_if_given(3))};
}

Values conv_integer(Call& call) {
    return {sums_of_windows(call, call.tensor(0), call.tensor_if_given(2), call.tensor(1),
                            call.tensor_if_given(3))};
}

// Sums, of numbers with a scale, as numbers of another scale and zero point. The dtype of the
// scales is the one that this is computed in.
Value requantized(const Tensor& sums, const Tensor& factor, const Value& zero_point) {
    return rounded(numpy::astype(sums, factor.dtype()) * factor, zero_point.tensor(),
                   zero_point.element());
}

Values qlinear_matmul(Call& call) {
    const Tensor &a = call.tensor(0), &b = call.tensor(3);
    const Tensor sums = product_of(call, a, call.tensor(2), b, call.tensor(5));
    const Tensor factor = along(call.tensor(1), a, a.rank() - 2) *
                          along(call.tensor(4), b, b.rank() - 1) / call.tensor(6);
    return {requantized(sums, numpy::astype(factor, DType::float32), call.value(7))};
}

Values qlinear_conv(Call& call) {
    const Tensor &x = call.tensor(0), &filters = call.tensor(3);
    const Tensor sums = with_channel_bias(
        sums_of_windows(call, x, call.tensor(2), filters, call.tensor(5)), call.tensor_if_given(8));
    Tensor of_filters = call.tensor(4);
    if (of_filters.size() > 1) {
        Shape shape(static_cast<size_t>(x.rank()), 1);
        shape[1] = of_filters.size();
        of_filters = numpy::reshape(of_filters, shape);
    } else {
        of_filters = numpy::reshape(of_filters, {});
    }
    const Tensor factor =
        numpy::reshape(call.tensor(1), {}) * of_filters / numpy::reshape(call.tensor(6), {});
    return {requantized(sums, factor, call.value(7))};
}

}  // namespace
}  // namespace quantized

std::optional<Tensor> convolution_of_quantized(const Call& call) {
    const Quantized* const x = call.value(0).quantized();
    const Quantized* const filters = call.value(1).quantized();
    if (!x || !filters || !quantized::has_one_scale(*x)) return {};
    const Shape& shape = filters->numbers.shape();
    if (!quantized::has_one_scale(*filters) && filters->axis != 0) return {};
    if (quantized::is_given(call, filters->zero_point)) return {};
    if (filters->numbers.size() > shape[0] * quantized::most_exact_products) return {};
    return quantized::scaled(quantized::sums_of_windows(call, x->numbers, x->zero_point,
                                                        filters->numbers, filters->zero_point),
                             *x, *filters, 1);
}

std::optional<Tensor> product_of_quantized(const Call& call, const Value& a, const Value& b) {
    const Quantized *const left = a.quantized(), *const right = b.quantized();
    if (!left || !right || !quantized::has_one_scale(*left)) return {};
    const Tensor &x = left->numbers, &y = right->numbers;
    if (x.rank() < 2 || y.rank() < 2) return {};
    if (!quantized::has_one_scale(*right) && right->axis != y.rank() - 1) return {};
    if (x.shape().back() > quantized::most_exact_products) return {};
    const Tensor sums = quantized::product_of(call, x, left->zero_point, y, right->zero_point);
    return quantized::scaled(sums, *left, *right, sums.rank() - 1);
}

Value transposed(const Value& matrix) {
    const Value turned(numpy::transpose(matrix.tensor()), matrix.element());
    const Quantized* const made_of = matrix.quantized();
    if (!made_of) return turned;
    Quantized numbers = *made_of;
    numbers.numbers = numpy::transpose(numbers.numbers);
    numbers.axis = 1 - numbers.axis;
    return turned.made_of(std::move(numbers));
}

void add_quantized(Registry& registry) {
    using namespace quantized;
    registry.add("ConvInteger", conv_integer);
    registry.add("DequantizeLinear", dequantize);
    registry.add("DynamicQuantizeLinear", dynamic_quantize);
    registry.add("MatMulInteger", matmul_integer);
    registry.add("QLinearConv", qlinear_conv);
    registry.add("QLinearMatMul", qlinear_matmul);
    registry.add("QuantizeLinear", quantize);
}

}  // namespace composit::onnx
