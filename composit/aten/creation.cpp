// Rows of numbers, computed at once.
#include "composit/aten/creation.h"

#include "composit/base/error.h"
#include "composit/ir/dtype.h"
#include "composit/ir/dtype_traits.h"
#include "composit/ir/scalar/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace composit::aten {
namespace {

using ir::Array;
using ir::DType;
using ir::scalar::Bits;

// A number's bits in a dtype. What NumPy lacks is rounded from float32, as its conversion does.
Bits bits_of(double value, DType dtype) {
    const Bits bits = ir::scalar::store(value);
    if (!ir::is_extension(dtype)) return ir::scalar::cast_bits(DType::float64, dtype, bits);
    const Bits single = ir::scalar::cast_bits(DType::float64, DType::float32, bits);
    return ir::scalar::cast_bits(DType::float32, dtype, single);
}

Bits bits_of(int64_t value, DType dtype) {
    return ir::scalar::cast_bits(DType::int64, dtype, ir::scalar::store(value));
}

// Numbers as the elements of a dtype, one after another.
template <class T, class Number>
void fill(const Array& made, Number number) {
    auto* const values = static_cast<T*>(made.mutable_data());
    for (int64_t i = 0; i < made.size(); ++i) values[i] = static_cast<T>(number(i));
}

// `count` numbers, which `number` gives, in a dtype.
template <class Number>
Array filled(int64_t count, DType dtype, Number number) {
    constexpr bool is_whole = std::is_same_v<decltype(number(0)), int64_t>;
    Array made(dtype, {count});
    if (dtype == DType::float32) {
        fill<float>(made, number);
    } else if (dtype == DType::float64) {
        fill<double>(made, number);
    } else if (is_whole && dtype == DType::int64) {
        fill<int64_t>(made, number);
    } else {
        auto* bytes = static_cast<char*>(made.mutable_data());
        const auto size = static_cast<size_t>(ir::size_of(dtype));
        for (int64_t i = 0; i < count; ++i, bytes += size) {
            const Bits bits = bits_of(number(i), dtype);
            std::memcpy(bytes, bits.data(), size);
        }
    }
    return made;
}

template <class Number>
void check_bounds(Number start, Number end, Number step) {
    user_check<RuntimeError>(step != 0, "step must be nonzero");
    user_check<RuntimeError>(step > 0 ? end >= start : end <= start,
                             "upper bound and lower bound inconsistent with step sign");
}

// The nearest number of a real floating dtype.
double rounded(double value, DType dtype) {
    if (dtype == DType::float64) return value;
    if (dtype == DType::float32) return static_cast<float>(value);
    return ir::scalar::double_from_short(dtype, ir::scalar::short_from_double(dtype, value));
}

}  // namespace

Array arange(int64_t start, int64_t end, int64_t step, DType dtype) {
    check_bounds(start, end, step);
    const int64_t distance = step > 0 ? end - start : start - end, width = std::abs(step);
    return filled((distance + width - 1) / width, dtype,
                  [&](int64_t i) { return start + i * step; });
}

Array arange(double start, double end, double step, DType dtype) {
    user_check<RuntimeError>(std::isfinite(start) && std::isfinite(end),
                             "unsupported range: ", start, " -> ", end);
    if (ir::is_integer(dtype))  // counted in integers
        return arange(static_cast<int64_t>(start), static_cast<int64_t>(end),
                      static_cast<int64_t>(step), dtype);
    check_bounds(start, end, step);
    return filled(static_cast<int64_t>(std::ceil((end - start) / step)), dtype,
                  [&](int64_t i) { return start + static_cast<double>(i) * step; });
}

Array range(double start, double end, double step, DType dtype) {
    check_bounds(start, end, step);
    user_check<RuntimeError>(std::isfinite(start) && std::isfinite(end),
                             "unsupported range: ", start, " -> ", end);
    return filled(static_cast<int64_t>(std::floor((end - start) / step)) + 1, dtype,
                  [&](int64_t i) { return start + static_cast<double>(i) * step; });
}

Array linspace(double start, double end, int64_t steps, DType dtype) {
    user_check<RuntimeError>(steps >= 0, "number of steps must be non-negative");
    if (!ir::is_floating(dtype) || ir::is_extension(dtype)) {
        const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
        return filled(steps, dtype, [&](int64_t i) {
            return i > 0 && i == steps - 1 ? end : static_cast<double>(i) * step + start;
        });
    }
    const auto in_dtype = [&](double value) { return rounded(value, dtype); };
    const double first = in_dtype(start), last = in_dtype(end);
    const auto count = in_dtype(static_cast<double>(std::max<int64_t>(steps - 1, 1)));
    const double step = in_dtype(in_dtype(last - first) / count);
    return filled(steps, dtype, [&](int64_t i) {
        if (i == 0 && steps == 1) return first;
        if (i < steps / 2) return first + in_dtype(step * in_dtype(static_cast<double>(i)));
        return last - in_dtype(step * in_dtype(static_cast<double>(steps - 1 - i)));
    });
}

}  // namespace composit::aten
