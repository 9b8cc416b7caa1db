#include "composit/eager/masks.h"

#include "composit/eager/function_at_once.h"
#include "composit/ir/scalar/values.h"
#include "composit/numpy/index_plan.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/known_values.h"
#include "composit/numpy/manipulation.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

namespace composit::eager {
namespace {

// x as rows that a mask of its first axes chooses.
struct Rows {
    ir::Shape shape;  // the mask's axes as one
    size_t bytes;     // of a row
};

std::optional<Rows> rows_of(const ir::TensorType& x, const ir::TensorType& mask) {
    const size_t rank = mask.shape.size();
    const bool is_of_first_axes = mask.dtype == ir::DType::boolean && rank > 0 &&
                                  rank <= x.shape.size() &&
                                  std::equal(mask.shape.begin(), mask.shape.end(), x.shape.begin());
    const int64_t count = ir::element_count(mask.shape);
    if (!is_of_first_axes || count == 0 || ir::element_count(x.shape) == 0) return {};
    Rows rows{{count}, static_cast<size_t>(ir::size_of(x.dtype))};
    for (size_t d = rank; d < x.shape.size(); ++d) {
        rows.shape.push_back(x.shape[d]);
        rows.bytes *= static_cast<size_t>(x.shape[d]);
    }
    return rows;
}

// The rows that are chosen, int64; empty where none is.
Array places_in(const KnownArray& mask) {
    const auto* const is_chosen = static_cast<const bool*>(mask.memory);
    const int64_t size = ir::element_count(mask.type.shape);
    const int64_t count = std::count(is_chosen, is_chosen + size, true);
    if (count == 0) return {};
    return ir::constant_value(numpy::chosen_positions(is_chosen, {size})[0].node());
}

// One of Python's numbers as an element; nothing where it may not fit.
std::optional<ir::scalar::Bits> stored(const Scalar& number, ir::DType dtype) {
    const bool is_whole = number.dtype == ir::DType::int64;
    const bool is_of_kind = ir::is_integer(dtype) ? is_whole : ir::is_floating(dtype);
    if (!number.is_weak || !is_of_kind || !can_be_deferred(dtype)) return {};
    const ir::scalar::Bits bits =
        ir::scalar::cast_bits(number.dtype, dtype, ir::scalar::Bits{number.bits, 0});
    const ir::scalar::Bits again = ir::scalar::cast_bits(dtype, number.dtype, bits);
    // What is rounded may be infinite then, or nearly zero.
    if (dtype != ir::DType::float64 && again[0] != number.bits) return {};
    if (dtype == ir::DType::uint64 && std::bit_cast<int64_t>(number.bits) < 0) return {};
    return bits;
}

template <class Make>
std::optional<SmallArray> called(std::vector<Ref<Deferred>> operands, const Array& values,
                                 const Make& make) {
    ir::ConstantArray known(values);
    Ref<Deferred> now =
        Deferred::called(FunctionAtOnce::of_values(make), std::move(operands), known);
    if (!now) return {};
    return SmallArray{std::move(now), std::move(known)};
}

}  // namespace

std::optional<SmallArray> chosen(const KnownArray& x, const KnownArray& mask) {
    if (!can_be_noted(x.type.dtype)) return {};
    const std::optional<Rows> rows = rows_of(x.type, mask.type);
    if (!rows) return {};
    const Array places = places_in(mask);
    if (!places) return {};
    ir::Shape shape = rows->shape;
    shape[0] = places.size();
    const Array values(x.type.dtype, shape);
    numpy::copy_rows(x.memory, values.mutable_data(), places, rows->bytes);
    return called({x.now}, values, [places, shape = rows->shape](const auto& operands) {
        const Tensor of_rows = numpy::reshape(operands[0], shape);
        return numpy::get_item(of_rows, {ir::constant(places, "")});
    });
}

std::optional<SmallArray> with_chosen(const KnownArray& x, const KnownArray& mask,
                                      const Scalar& value) {
    const ir::DType dtype = x.type.dtype;
    const std::optional<ir::scalar::Bits> bits = stored(value, dtype);
    if (!bits) return {};
    const std::optional<Rows> rows = rows_of(x.type, mask.type);
    if (!rows) return {};
    const Array places = places_in(mask);
    if (!places) return {};
    const Array values(dtype, x.type.shape);
    const auto size = static_cast<size_t>(ir::size_of(dtype));
    auto* const to = static_cast<char*>(values.mutable_data());
    std::memcpy(to, x.memory, static_cast<size_t>(values.bytes()));
    const auto* const place = places.data_as<int64_t>();
    for (const auto* at = place; at != place + places.size(); ++at)
        for (size_t byte = 0; byte < rows->bytes; byte += size)
            std::memcpy(to + static_cast<size_t>(*at) * rows->bytes + byte, bits->data(), size);
    return called({x.now, Deferred::literal(value)}, values,
                  [places, shape = rows->shape](const auto& operands) {
                      const Tensor of_rows = numpy::reshape(operands[0], shape);
                      const Tensor written = numpy::set_item(of_rows, {ir::constant(places, "")},
                                                             numpy::Operand(operands[1]));
                      return numpy::reshape(written, operands[0].shape());
                  });
}

}  // namespace composit::eager
