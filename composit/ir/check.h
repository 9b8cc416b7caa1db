// What the check rules of operations have in common: counts, attributes, axes, shapes.
#pragma once

#include "composit/base/error.h"
#include "composit/ir/node.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace composit::ir {

// Largest length, position, step … that rules calculate with: products of two fit 64 bits.
inline constexpr int64_t most_length = int64_t{1} << 31;
// Most elements of a tensor: their bytes fit 64 bits.
inline constexpr int64_t most_elements = int64_t{1} << 58;

void check_operand_count(std::string_view operation, const std::vector<Tensor>& operands,
                         size_t count);
// The attribute, when it is there and of type T.
template <class T>
const T& checked_attribute(std::string_view operation, const Attributes& attributes,
                           std::string_view name) {
    const Attribute* attribute = attributes.find(name);
    const T* value = attribute ? std::get_if<T>(attribute) : nullptr;
    user_check(value != nullptr, operation, ": attribute '", name,
               "' is missing or of another kind. It is required.");
    return *value;
}
// Lengths that are not negative, with at most most_elements of product.
bool is_possible(const Shape& shape);
void check_shape(std::string_view operation, const Shape& shape);
// Axes within rank, each once.
void check_axes(std::string_view operation, const std::vector<int64_t>& axes, int rank);
void check_axis(std::string_view operation, int64_t axis, int rank);
void check_value_count(std::string_view operation, std::string_view name,
                       const std::vector<int64_t>& values, size_t count);
// `count` values from `least` to most_length.
void check_values(std::string_view operation, std::string_view name,
                  const std::vector<int64_t>& values, size_t count, int64_t least);
// Every length of the operands is at most most_length.
void check_lengths(std::string_view operation, const std::vector<Tensor>& operands);

}  // namespace composit::ir
