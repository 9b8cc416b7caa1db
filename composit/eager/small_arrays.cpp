#include "composit/eager/small_arrays.h"

#include "composit/eager/loops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

namespace composit::eager {
namespace {

struct Shown {
    const Ref<Deferred>* now = nullptr;
    Scalar number;                 // of an array: its dtype
    const char* memory = nullptr;  // null: a number
    size_t size = 0;               // bytes of an element
    ir::Shape shape;
    Strides strides;  // along the result's axes
    int64_t offset = 0;
};

std::optional<Shown> shown(const SmallOperand& operand) {
    Shown result;
    if (!operand.cell) {
        if (!operand.number || !operand.number->has_number()) return {};
        if (operand.number->device() > ir::on_cpu) return {};
        result.now = &operand.number;
        result.number = {operand.number->dtype(), operand.number->is_weak(),
                         operand.number->bits()};
        return result;
    }
    const ir::TensorType& type = operand.cell->type();
    if (ir::element_count(type.shape) > most_small_elements || type.weak) return {};
    if (!can_be_deferred(type.dtype)) return {};
    if (!operand.cell->lies_on_host()) return {};  // a graph, which says what lies where
    if (type.shape.size() > 1 && !operand.cell->is_row_major()) return {};
    const std::optional<Cell::Seen> seen = operand.cell->seen();
    if (!seen) return {};
    result.now = seen->now;
    result.number.dtype = type.dtype;
    result.memory = seen->memory;
    result.size = static_cast<size_t>(ir::size_of(type.dtype));
    result.shape = type.shape;
    result.strides = seen->where->strides;
    result.offset = seen->where->offset;
    return result;
}

// Fits an operand's strides to the result's shape; false where the shapes do not broadcast.
bool broadcast(Shown& operand, const ir::Shape& shape) {
    Strides strides(shape.size(), 0);
    const size_t extra = shape.size() - operand.shape.size();
    for (size_t d = 0; d < operand.shape.size(); ++d) {
        if (operand.shape[d] == shape[extra + d])
            strides[extra + d] = operand.strides[d];
        else if (operand.shape[d] != 1)
            return false;
    }
    operand.strides = std::move(strides);
    return true;
}

Scalar at(const Shown& operand, int64_t place) {
    Scalar number = operand.number;
    if (operand.memory)
        std::memcpy(&number.bits, operand.memory + static_cast<size_t>(place) * operand.size,
                    operand.size);
    return number;
}

}  // namespace

std::optional<SmallArray> applied_to_small(const ir::scalar::RowRef& row,
                                           const std::vector<SmallOperand>& operands) {
    std::array<Shown, 2> all;
    ir::Shape shape;
    const std::span<Shown> used(all.data(), operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
        std::optional<Shown> found = shown(operands[i]);
        if (!found) return {};
        all[i] = std::move(*found);
        const ir::Shape& own = all[i].shape;
        if (own.size() > shape.size()) shape.insert(shape.begin(), own.size() - shape.size(), 1);
        for (size_t d = 0; d < own.size(); ++d) {
            int64_t& length = shape[shape.size() - own.size() + d];
            if (length == 1) length = own[d];
        }
    }
    const int64_t count = ir::element_count(shape);
    if (count == 0 || count > most_small_elements) return {};
    for (Shown& operand : used)
        if (!broadcast(operand, shape)) return {};
    const ir::ErrorHandling* const handling = ir::current_error_handling();
    const uint8_t reported = handling ? handling->reported() : 0;
    Array values;
    char* to = nullptr;
    size_t size = 0;
    std::vector<int64_t> position(shape.size(), 0);
    std::array<Scalar, 2> x;
    for (int64_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < used.size(); ++k) {
            int64_t place = all[k].offset;
            for (size_t d = 0; d < shape.size(); ++d) place += position[d] * all[k].strides[d];
            x[k] = at(all[k], place);
        }
        const std::optional<Scalar> found =
            computed_quickly(row, std::span(x).first(used.size()), reported);
        if (!found || !can_be_deferred(found->dtype)) return {};
        if (!to) {
            values = Array(found->dtype, shape);
            to = static_cast<char*>(values.mutable_data());
            size = static_cast<size_t>(ir::size_of(found->dtype));
        }
        std::memcpy(to, &found->bits, size);
        to += size;
        for (size_t d = shape.size(); d-- > 0;) {
            if (++position[d] < shape[d]) break;
            position[d] = 0;
        }
    }
    Ref<Deferred> now = Deferred::applied_to_arrays(
        row, *all[0].now, used.size() > 1 ? *all[1].now : Ref<Deferred>(), values);
    return SmallArray{std::move(now), std::move(values)};
}

std::optional<SmallArray> stacked(std::vector<Ref<Deferred>> numbers) {
    if (numbers.empty()) return {};
    DType dtype = numbers[0]->dtype();
    for (const Ref<Deferred>& number : numbers) {
        if (!number->has_number() || !number->goes_with(*numbers[0])) return {};
        dtype = ir::promote(dtype, number->dtype());
    }
    if (!can_be_deferred(dtype)) return {};
    Array values(dtype, {static_cast<int64_t>(numbers.size())});
    auto* to = static_cast<char*>(values.mutable_data());
    const auto size = static_cast<size_t>(ir::size_of(dtype));
    for (Ref<Deferred>& number : numbers) {
        number = Deferred::converted(number, dtype);
        const uint64_t bits = number->bits();
        std::memcpy(to, &bits, size);
        to += size;
    }
    Ref<Deferred> now = Deferred::stacked(std::move(numbers), values);
    return SmallArray{std::move(now), std::move(values)};
}

}  // namespace composit::eager
