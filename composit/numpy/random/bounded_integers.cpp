// Integers between bounds, of every dtype; the bounds may be tensors.
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/numpy/random/npyrandom.h"
#include "composit/numpy/random/stream.h"
#include "composit/ops/ops.h"

#include <bit>
#include <cmath>

namespace composit::numpy::random {
namespace {

struct Limits {
    int128 least, greatest;
};

Limits limits_of(std::string_view function, DType dtype) {
    if (dtype == DType::boolean) return {0, 1};
    user_check<TypeError>(ir::is_integer(dtype), function, ": Unsupported dtype ", dtype,
                          ". bool or one of integers is required.");
    const int bits = 8 * ir::size_of(dtype);
    if (ir::is_unsigned_integer(dtype)) return {0, (int128{1} << bits) - 1};
    return {-(int128{1} << (bits - 1)), (int128{1} << (bits - 1)) - 1};
}

void check_bounds(std::string_view function, int128 low, int128 high, DType dtype,
                  const Limits& limits) {
    user_check(low >= limits.least && low <= limits.greatest, function,
               ": low is out of bounds for ", dtype, ".");
    user_check(high <= limits.greatest, function, ": high is out of bounds for ", dtype, ".");
    if (low <= high) return;
    if (low == 0) fail(function, ": high <= 0.");
    fail(function, ": low >= high: ", static_cast<int64_t>(low), " and ",
         static_cast<int64_t>(high) + 1, ".");
}

// A float's whole part, as Python's int(…).
int128 whole(std::string_view function, double value) {
    user_check(!std::isnan(value), function, ": cannot convert float NaN to integer.");
    user_check<OverflowError>(std::abs(value) < 1e38, function, ": cannot convert ", value,
                              " to integer.");
    return static_cast<int128>(value);
}

std::vector<int128> integers_of(std::string_view function, std::string_view name, const Tensor& x) {
    const DType dtype = ir::is_floating(x.dtype())   ? DType::float64
                        : x.dtype() == DType::uint64 ? DType::uint64
                                                     : DType::int64;
    const Array values = known(function, name, x, dtype);
    std::vector<int128> result(static_cast<size_t>(values.size()));
    for (size_t i = 0; i < result.size(); ++i) {
        if (dtype == DType::float64) result[i] = whole(function, values.data_as<double>()[i]);
        if (dtype == DType::uint64) result[i] = values.data_as<uint64_t>()[i];
        if (dtype == DType::int64) result[i] = values.data_as<int64_t>()[i];
    }
    return result;
}

template <class T>
T mask_of(T range) {
    return range == 0 ? T{0} : static_cast<T>(static_cast<T>(~T{0}) >> std::countl_zero(range));
}

// Narrow integers share words of 32 bits.
template <class T>
struct Narrow {
    T (*draw)(Bits*, T, T, T, bool, int*, uint32_t*);
    int left = 0;
    uint32_t buffer = 0;
    T operator()(Bits* bits, uint64_t offset, uint64_t range, bool is_masked) {
        const T span = static_cast<T>(range);
        return draw(bits, static_cast<T>(offset), span, mask_of(span), is_masked, &left, &buffer);
    }
};

template <class T, class Next>
void fill(Array& result, const std::vector<uint64_t>& offsets, const std::vector<uint64_t>& ranges,
          Next next) {
    auto* out = static_cast<T*>(result.mutable_data());
    for (size_t i = 0; i < offsets.size(); ++i) out[i] = next(offsets[i], ranges[i]);
}

template <class T>
void fill_narrow(Array& result, const std::vector<uint64_t>& offsets,
                 const std::vector<uint64_t>& ranges, Bits* bits, bool is_masked, Narrow<T> draw) {
    fill<T>(result, offsets, ranges,
            [&](uint64_t offset, uint64_t range) { return draw(bits, offset, range, is_masked); });
}

}  // namespace

Array Stream::between(std::string_view function, int128 low, int128 high, const Shape& size,
                      DType dtype, Bounding bounding) {
    check_size(function, size);
    const Limits limits = limits_of(function, dtype);
    Array result(dtype, size);
    const int64_t count = result.size();
    if (count == 0) return result;
    check_bounds(function, low, high, dtype, limits);
    const auto offset = static_cast<uint64_t>(low), range = static_cast<uint64_t>(high - low);
    const bool is_masked = bounding == Bounding::mask;
    void* out = result.mutable_data();
    const Locked locked(*bits_);
    const auto drawn = [&]<class T>(void (*draw)(Bits*, T, T, intptr_t, bool, T*)) {
        draw(&source_, static_cast<T>(offset), static_cast<T>(range), count, is_masked,
             static_cast<T*>(out));
    };
    if (dtype == DType::boolean)
        drawn(random_bounded_bool_fill);
    else if (ir::size_of(dtype) == 1)
        drawn(random_bounded_uint8_fill);
    else if (ir::size_of(dtype) == 2)
        drawn(random_bounded_uint16_fill);
    else if (ir::size_of(dtype) == 4)
        drawn(random_bounded_uint32_fill);
    else
        drawn(random_bounded_uint64_fill);
    return result;
}

Array Stream::between(std::string_view function, const Tensor& low, const Tensor& high,
                      bool is_closed, const Size& size, DType dtype, Bounding bounding) {
    const Limits limits = limits_of(function, dtype);
    if (size) {
        check_size(function, *size);
        if (ir::element_count(*size) == 0) return Array(dtype, *size);
    }
    const std::vector<int128> lows = integers_of(function, "low", low);
    const std::vector<int128> highs = integers_of(function, "high", high);
    const Shape inputs = ops::broadcast_shapes(function, {low.shape(), high.shape()});
    if (inputs.empty())
        return between(function, lows[0], highs[0] - (is_closed ? 0 : 1), size.value_or(Shape{}),
                       dtype, bounding);
    const Shape shape = size ? ops::broadcast_shapes(function, {inputs, *size}) : inputs;
    user_check(!size || shape == *size, function, ": Output size ", size.value_or(Shape{}),
               " is not compatible with broadcast dimensions of inputs ", inputs, ".");

    Array result(dtype, shape);
    std::vector<uint64_t> offsets, ranges;
    const auto place = [&](const Shape& own, int64_t i) {  // of the i-th element of the result
        int64_t place = 0, step = 1;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const int64_t index = i % shape[shape.size() - 1 - axis];
            i /= shape[shape.size() - 1 - axis];
            if (axis >= own.size()) continue;
            const int64_t length = own[own.size() - 1 - axis];
            if (length > 1) place += index * step;
            step *= length;
        }
        return static_cast<size_t>(place);
    };
    for (int64_t i = 0; i < result.size(); ++i) {
        const int128 first = lows[place(low.shape(), i)];
        const int128 last = highs[place(high.shape(), i)] - (is_closed ? 0 : 1);
        check_bounds(function, first, last, dtype, limits);
        offsets.push_back(static_cast<uint64_t>(first));
        ranges.push_back(static_cast<uint64_t>(last - first));
    }

    const bool is_masked = bounding == Bounding::mask;
    Bits* bits = &source_;
    const Locked locked(*bits_);
    const auto narrow = [&]<class T>(T (*draw)(Bits*, T, T, T, bool, int*, uint32_t*)) {
        fill_narrow<T>(result, offsets, ranges, bits, is_masked, {draw});
    };
    if (dtype == DType::boolean)
        narrow(random_buffered_bounded_bool);
    else if (ir::size_of(dtype) == 1)
        narrow(random_buffered_bounded_uint8);
    else if (ir::size_of(dtype) == 2)
        narrow(random_buffered_bounded_uint16);
    else if (ir::size_of(dtype) == 4)
        narrow(random_buffered_bounded_uint32);
    else
        fill<uint64_t>(result, offsets, ranges, [&](uint64_t offset, uint64_t range) {
            return random_bounded_uint64(bits, offset, range, mask_of(range), is_masked);
        });
    return result;
}

}  // namespace composit::numpy::random
