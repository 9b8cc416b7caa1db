#include "composit/eager/as_strided.h"

#include "composit/base/error.h"
#include "composit/ir/body.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace composit::eager {
namespace {

// The axes in the order in which the elements follow each other in memory, the slowest first.
std::vector<int64_t> order_in_memory(const Strides& strides) {
    std::vector<int64_t> order(strides.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return strides[static_cast<size_t>(a)] > strides[static_cast<size_t>(b)];
    });
    return order;
}

// The part of a memory that lies side by side, as a path of layout operations; which axes come
// first is what the steps say.
Tensor part_of(const Tensor& whole, const std::vector<int64_t>& order, const ir::Shape& lengths,
               const Strides& steps, int64_t offset) {
    const std::vector<int64_t> axes = order_in_memory(steps);
    ir::Shape shape;
    std::vector<int64_t> back(axes.size());
    for (size_t d = 0; d < axes.size(); ++d) {
        shape.push_back(lengths[static_cast<size_t>(axes[d])]);
        back[static_cast<size_t>(axes[d])] = static_cast<int64_t>(d);
    }
    const Tensor line = numpy::ravel(numpy::transpose(whole, order));
    const int64_t size = ir::element_count(lengths);
    const Tensor part =
        size == line.size() ? line : numpy::get_item(line, {numpy::Slice{offset, offset + size}});
    return numpy::transpose(numpy::reshape(part, shape), back);
}

// The numbers of the elements, in memory.
Array places_of(const ir::Shape& lengths, const Strides& steps, int64_t offset) {
    Array places(ir::DType::int64, lengths);
    if (places.size() == 0) return places;
    auto* at = static_cast<int64_t*>(places.mutable_data());
    for_each_row({offset, steps}, lengths, [&](int64_t place, int64_t step, int64_t length) {
        for (int64_t i = 0; i < length; ++i) *at++ = place + i * step;
    });
    return places;
}

// Whether the elements lie side by side, in some order of axes.
bool is_dense(const ir::Shape& shape, const Strides& strides) {
    std::vector<std::pair<int64_t, int64_t>> axes;  // steps and lengths
    for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] != 1) axes.emplace_back(strides[d], shape[d]);
    std::sort(axes.begin(), axes.end());
    int64_t expected = 1;
    for (const auto& [step, length] : axes) {
        if (step != expected) return false;
        expected *= length;
    }
    return true;
}

}  // namespace

int64_t memory_size(const Cell& x) {
    const Tensor& whole = x.laid_in()->tensor();
    return whole.size() * ir::size_of(whole.dtype()) / ir::size_of(x.tensor().dtype());
}

Ref<Cell> as_strided(const Ref<Cell>& x, const ir::Shape& lengths, const Strides& steps,
                     int64_t offset) {
    user_check(lengths.size() == steps.size(), "as_strided: shape is ", lengths, ", strides are ",
               steps, " elements. As many are required.");
    user_check(std::none_of(lengths.begin(), lengths.end(), [](int64_t n) { return n < 0; }),
               "as_strided: shape is ", lengths, ". Lengths that are not negative are required.");
    const bool is_empty = ir::element_count(lengths) == 0;
    int64_t least = offset, most = offset;
    for (size_t d = 0; d < steps.size(); ++d)
        (steps[d] < 0 ? least : most) += (lengths[d] - 1) * steps[d];
    user_check(is_empty || (least >= 0 && most < memory_size(*x)), "as_strided: elements ", least,
               " to ", most, " are asked for, of ", memory_size(*x),
               ". Those that exist are required.");
    const Ref<Cell> memory(x->laid_in());
    user_check<NotSupported>(memory->tensor().dtype() == x->tensor().dtype(),
                             "as_strided: the tensor shows parts of ", memory->tensor().dtype(),
                             " numbers. One that shows whole numbers is required.");
    const std::vector<int64_t> order = order_in_memory(memory->strides());
    if (is_dense(lengths, steps) && !is_empty)
        return Cell::make_view(part_of(memory->tensor(), order, lengths, steps, offset), memory,
                               Region{offset, steps});
    const Tensor numbers = ir::constant(places_of(lengths, steps, offset));
    const auto seen = [order, numbers](const Tensor& whole) {
        return numpy::take(numpy::ravel(numpy::transpose(whole, order)), numbers);
    };
    return Cell::make_appearance(selection(seen), memory, Region{offset, steps});
}

void check_overlap(const Cell& target, const Cell& operand, bool may_be_same) {
    if (target.laid_in() != operand.laid_in()) return;
    const ir::Shape &shape = target.tensor().shape(), &other = operand.tensor().shape();
    const Region &a = target.region(), &b = operand.region();
    if (&target == &operand && may_be_same) {
        for (size_t d = 0; d < shape.size(); ++d)
            user_check<RuntimeError>(
                shape[d] <= 1 || a.strides[d] != 0,
                "unsupported operation: more than one element of the written-to tensor "
                "refers to a single memory location. Please clone() the tensor before "
                "performing the operation.");
        return;
    }
    if (!is_dense(shape, a.strides) || !is_dense(other, b.strides)) return;
    const int64_t a_end = a.offset + ir::element_count(shape);
    const int64_t b_end = b.offset + ir::element_count(other);
    if (a_end <= b.offset || b_end <= a.offset || a_end == a.offset || b_end == b.offset) return;
    user_check<RuntimeError>(
        may_be_same && a.offset == b.offset && a_end == b_end && a.strides == b.strides,
        "unsupported operation: some elements of the input tensor and the written-to tensor "
        "refer to a single memory location. Please clone() the tensor before performing the "
        "operation.");
}

Region diagonal_region(const Cell& x, int64_t offset, int64_t axis1, int64_t axis2) {
    const auto rank = static_cast<int64_t>(x.strides().size());
    const auto first = static_cast<size_t>(axis1 < 0 ? axis1 + rank : axis1);
    const auto second = static_cast<size_t>(axis2 < 0 ? axis2 + rank : axis2);
    Region region{x.region().offset, {}};
    const Strides& strides = x.strides();
    region.offset += offset >= 0 ? offset * strides[second] : -offset * strides[first];
    for (size_t d = 0; d < strides.size(); ++d)
        if (d != first && d != second) region.strides.push_back(strides[d]);
    region.strides.push_back(strides[first] + strides[second]);
    return region;
}

Region windows_region(const Cell& x, const std::vector<int64_t>& axes) {
    Region region = x.region();
    const auto rank = static_cast<int64_t>(region.strides.size());
    for (const int64_t axis : axes) {
        const int64_t step = region.strides[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
        region.strides.push_back(step);
    }
    return region;
}

Region part_region(const Cell& x, bool is_imaginary) {
    Region region = x.region();
    region.offset = 2 * region.offset + (is_imaginary ? 1 : 0);
    for (int64_t& step : region.strides) step *= 2;
    return region;
}

}  // namespace composit::eager
