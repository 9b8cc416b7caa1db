// Rows of known arrays, chosen and written by their places.
#include "composit/numpy/known_values.h"

#include "composit/execute/execute.h"
#include "composit/ir/scalar/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace composit::numpy {
namespace {

size_t bytes_of_row(const Tensor& x, int64_t rows) {
    return static_cast<size_t>(x.size() / rows * ir::size_of(x.dtype()));
}

bool are_within(const Array& places, int64_t rows) {
    const auto* const first = places.data_as<int64_t>();
    bool all = true;  // no branch for each
    for (const auto* place = first; place != first + places.size(); ++place)
        all &= static_cast<uint64_t>(*place) < static_cast<uint64_t>(rows);
    return all;
}

template <class Unit>
void copy_units(const void* from, void* to, const int64_t* places, int64_t count) {
    const auto* const source = static_cast<const Unit*>(from);
    auto* const target = static_cast<Unit*>(to);
    for (int64_t i = 0; i < count; ++i) target[i] = source[places[i]];
}

}  // namespace

void copy_rows(const void* from, void* to, const Array& places, size_t bytes) {
    const auto* const place = places.data_as<int64_t>();
    const int64_t count = places.size();
    switch (bytes) {
        case 1: return copy_units<uint8_t>(from, to, place, count);
        case 2: return copy_units<uint16_t>(from, to, place, count);
        case 4: return copy_units<uint32_t>(from, to, place, count);
        case 8: return copy_units<uint64_t>(from, to, place, count);
        default: break;
    }
    const auto* const source = static_cast<const char*>(from);
    auto* target = static_cast<char*>(to);
    for (int64_t i = 0; i < count; ++i, target += bytes)
        std::memcpy(target, source + static_cast<size_t>(place[i]) * bytes, bytes);
}

ir::ConstantArray few_known(const Tensor& x) {
    const ir::Node& node = x.node();
    const int64_t size = x.size();
    if (size == 0 || size > most_known_elements || x.type().weak) return {};
    if (node.device() > ir::on_cpu || node.reads_borrowed()) return {};
    return ir::is_constant(node) ? ir::constant_array(node) : node.kept(x.output_index());
}

Array elements_at(const Array& values, const Array& places) {
    Array found(values.dtype(), places.shape());
    copy_rows(values.data(), found.mutable_data(), places,
              static_cast<size_t>(ir::size_of(values.dtype())));
    return found;
}

Tensor with_known_value(const Tensor& result, const Array& value) {
    if (result.node().device() <= ir::on_cpu) execute::keep(result, value);
    return result;
}

ir::ConstantArray known_as(const Tensor& x, DType dtype) {
    if (x.dtype() == dtype && !x.type().weak) return few_known(x);
    if (!ir::is_constant(x.node()) || x.rank() > 0) return {};
    const DType from = x.dtype();
    const bool is_whole = from == DType::boolean || ir::is_integer(from);
    const bool is_wide = dtype == DType::float64 || dtype == from;
    if (!is_whole && !(from == DType::float64 && (is_wide || dtype == DType::float32))) return {};
    const Array given = ir::constant_value(x.node());
    const ir::scalar::Bits bits =
        ir::scalar::cast_bits(from, dtype, ir::scalar::element_bits(from, given.data(), 0));
    if (!is_whole && !is_wide) {  // a number that is too large, or too small, is to be reported
        const double before = *given.data_as<double>();
        float after = 0;
        std::memcpy(&after, &bits, sizeof after);
        const bool is_usual = std::isnormal(after) || before == 0 || !std::isfinite(before);
        if (!is_usual) return {};
    }
    const Array made(dtype, {});
    std::memcpy(made.mutable_data(), &bits, static_cast<size_t>(ir::size_of(dtype)));
    return made;
}

Tensor with_known_rows(const Tensor& result, const Tensor& x, int64_t rows, const Array& places) {
    if (result.size() == 0 || result.size() > most_known_elements) return result;
    const ir::ConstantArray known = few_known(x);
    if (!known || !are_within(places, rows)) return result;
    const Array value(result.dtype(), result.shape());
    copy_rows(known.row_major().get(), value.mutable_data(), places, bytes_of_row(x, rows));
    return with_known_value(result, value);
}

Tensor with_known_writes(const Tensor& result, const Tensor& x, int64_t rows, const Array& places,
                         const ir::ConstantArray& value) {
    if (!value || !are_within(places, rows)) return result;
    const ir::ConstantArray known = few_known(x);
    if (!known) return result;
    const size_t bytes = bytes_of_row(x, rows), size = static_cast<size_t>(ir::size_of(x.dtype()));
    const Array made(result.dtype(), result.shape());
    auto* const to = static_cast<char*>(made.mutable_data());
    const std::shared_ptr<const void> memory = value.row_major();
    const auto* const from = static_cast<const char*>(memory.get());
    std::memcpy(to, known.row_major().get(), static_cast<size_t>(known.bytes()));
    for (int64_t i = 0; i < places.size(); ++i) {
        char* const row = to + static_cast<size_t>(places.data_as<int64_t>()[i]) * bytes;
        if (value.size() > 1)
            std::memcpy(row, from + static_cast<size_t>(i) * bytes, bytes);
        else
            for (size_t at = 0; at < bytes; at += size) std::memcpy(row + at, from, size);
    }
    return with_known_value(result, made);
}

Array known_cast(const Tensor& x, DType dtype) {
    const DType from = x.dtype();
    if (ir::is_complex(from) || ir::is_short_float(from)) return {};
    const ir::ConstantArray known = few_known(x);
    if (!known) return {};
    if (from == dtype) return known.value();
    const Array made(dtype, x.shape());
    const std::shared_ptr<const void> memory = known.row_major();
    const auto cast = [&]<class From, class To>(From, To) {
        const auto* const first = static_cast<const From*>(memory.get());
        std::transform(first, first + x.size(), static_cast<To*>(made.mutable_data()),
                       [](From value) { return static_cast<To>(value); });
        return true;
    };
    const bool is_cast = ir::scalar::with_type(from, "known_cast", [&](auto value) {
        if constexpr (!ir::scalar::is_short<decltype(value)>) {
            if (dtype == DType::boolean) return cast(value, bool());
            if (dtype == DType::float64) return cast(value, double());
            if constexpr (!std::is_floating_point_v<decltype(value)>)
                if (dtype == DType::int64) return cast(value, int64_t());
        }
        return false;
    });
    return is_cast ? made : Array();
}

}  // namespace composit::numpy
