// arange and linspace: the same numbers as NumPy's, to the bit.
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/numpy/creation.h"
#include "composit/ops/ops.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace composit::numpy {
namespace {

constexpr double largest_length = 9.0e18;

// NumPy computes the first two elements, and the others from their difference, in the dtype.
template <class T>
Array run(DType dtype, int64_t length, T first, T second) {
    Array result(dtype, {length});
    auto* values = static_cast<T*>(result.mutable_data());
    const T step = static_cast<T>(second - first);
    for (int64_t i = 0; i < length; ++i) {
        if (i < 2)
            values[i] = i == 0 ? first : second;
        else
            values[i] = static_cast<T>(first + static_cast<T>(i) * step);
    }
    return result;
}

// Half types run in float32 and are rounded once.
Array rounded_run(DType dtype, int64_t length, double first, double second) {
    const auto round = [&](double x) {
        return static_cast<float>(ir::scalar::value_of(dtype, ir::scalar::bits_of(dtype, x)));
    };
    const Array wide = run<float>(DType::float32, length, round(first), round(second));
    Array result(dtype, {length});
    auto* values = static_cast<uint16_t*>(result.mutable_data());
    for (int64_t i = 0; i < length; ++i)
        values[i] = static_cast<uint16_t>(
            ir::scalar::bits_of(dtype, static_cast<double>(wide.data_as<float>()[i]))[0]);
    return result;
}

template <class Number>
Array run_of(DType dtype, int64_t length, Number first, Number second) {
    const auto as = [&]<class T>(T) {
        return run<T>(dtype, length, static_cast<T>(first), static_cast<T>(second));
    };
    switch (dtype) {
        case DType::int8: return as(int8_t{});
        case DType::int16: return as(int16_t{});
        case DType::int32: return as(int32_t{});
        case DType::int64: return as(int64_t{});
        case DType::uint8: return as(uint8_t{});
        case DType::uint16: return as(uint16_t{});
        case DType::uint32: return as(uint32_t{});
        case DType::uint64: return as(uint64_t{});
        case DType::float32: return as(float{});
        case DType::float64: return as(double{});
        default: break;
    }
    if (ir::is_short_float(dtype))
        return rounded_run(dtype, length, static_cast<double>(first), static_cast<double>(second));
    fail<NotSupported>("arange: dtype ", dtype, " is not supported. Make it real and convert.");
}

// Of complex numbers the real parts run. Bools are the numbers' truths.
template <class Number>
Tensor named_run(DType dtype, int64_t length, Number first, Number second,
                 const std::string& name) {
    if (dtype == DType::boolean) {
        user_check<TypeError>(length <= 2,
                              "arange() is only supported for booleans when the result has at "
                              "most length 2.");
        const DType given = std::is_integral_v<Number> ? DType::int64 : DType::float64;
        return ops::astype(ir::constant(run_of(given, length, first, second), name), dtype);
    }
    const DType part = ir::real_part_of(dtype);
    return ops::astype(ir::constant(run_of(part, length, first, second), name), dtype);
}

template <class Number>
std::string range_name(std::string_view given, Number start, Number stop, Number step,
                       std::optional<DType> dtype) {
    if (!given.empty()) return std::string(given);
    const auto show = [](Number x) {
        if constexpr (std::is_integral_v<Number>)
            return std::to_string(x);
        else
            return number_text(x);
    };
    return text("arange(", show(start), ", ", show(stop), ", ", show(step),
                dtype ? text(", dtype=", *dtype) : text(), ")");
}

}  // namespace

Tensor arange(int64_t stop, std::optional<DType> dtype) {
    const std::string name = text("arange(", stop, dtype ? text(", dtype=", *dtype) : text(), ")");
    return arange(int64_t{0}, stop, int64_t{1}, dtype, name);
}

Tensor arange(int64_t start, int64_t stop, int64_t step, std::optional<DType> dtype,
              std::string_view name) {
    user_check<ZeroDivisionError>(step != 0, "arange: division by zero: step is 0.");
    const bool some = step > 0 ? start < stop : start > stop;
    // Unsigned arithmetic: the distance of two int64 may need 64 bits.
    const uint64_t distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                                       : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
    const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
    const uint64_t length = some ? (distance - 1) / stride + 1 : 0;
    user_check(length < static_cast<uint64_t>(INT64_MAX), "arange: Maximum allowed size exceeded.");
    const auto second =
        static_cast<int64_t>(static_cast<uint64_t>(start) + static_cast<uint64_t>(step));
    if (length > 0)
        for (const int64_t value : {start, length > 1 ? second : start})
            if (dtype != DType::boolean)
                check_integer_fits("arange", ir::weak_scalar(value), dtype.value_or(DType::int64));
    return named_run(dtype.value_or(DType::int64), static_cast<int64_t>(length), start,
                     length > 1 ? second : start, range_name(name, start, stop, step, dtype));
}

Tensor arange(double start, double stop, double step, std::optional<DType> dtype,
              std::string_view name) {
    user_check<ZeroDivisionError>(step != 0, "arange: division by zero: step is 0.");
    const double length = std::ceil((stop - start) / step);
    user_check(length < largest_length, "arange: Maximum allowed size exceeded: ", start, " to ",
               stop, " by ", step, ". (nan has no size.)");
    const auto count = length > 0 ? static_cast<int64_t>(length) : 0;
    return named_run(dtype.value_or(DType::float64), count, start, count > 1 ? start + step : start,
                     range_name(name, start, stop, step, dtype));
}

Tensor linspace(double start, double stop, int64_t count, bool endpoint, std::optional<DType> dtype,
                std::string_view name) {
    user_check(count >= 0, "linspace: Number of samples, ", count, ", must be non-negative.");
    const int64_t parts = endpoint ? count - 1 : count;
    const double distance = stop - start, step = distance / static_cast<double>(parts);
    Array result(DType::float64, {count});
    auto* values = static_cast<double*>(result.mutable_data());
    for (int64_t i = 0; i < count; ++i) {
        const auto place = static_cast<double>(i);
        double y = place * distance;
        if (parts > 0) y = step == 0 ? place / static_cast<double>(parts) * distance : place * step;
        values[i] = y + start;
    }
    if (endpoint && count > 1) values[count - 1] = stop;
    const DType to = dtype.value_or(DType::float64);
    if (ir::is_integer(to))
        for (int64_t i = 0; i < count; ++i) values[i] = std::floor(values[i]);
    const std::string text_name =
        name.empty() ? text("linspace(", number_text(start), ", ", number_text(stop), ", ", count,
                            endpoint ? "" : ", endpoint=False",
                            dtype ? text(", dtype=", *dtype) : text(), ")")
                     : std::string(name);
    if (to == DType::float64) return ir::constant(std::move(result), text_name);
    const Tensor converted = ops::astype(ir::constant(std::move(result)), to);
    return ir::constant(concrete("linspace", "its values", converted), text_name);
}

}  // namespace composit::numpy
