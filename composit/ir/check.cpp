// Checks of operands and attributes that come from outside.
#include "composit/ir/check.h"

#include <algorithm>

namespace composit::ir {

void check_operand_count(std::string_view operation, const std::vector<Tensor>& operands,
                         size_t count) {
    user_check<TypeError>(operands.size() == count, operation, ": ", operands.size(),
                          " operands given. ", count, " required.");
}

bool is_possible(const Shape& shape) {
    int64_t count = 1;
    for (int64_t length : shape) {
        const int64_t factor = std::max<int64_t>(length, 1);
        if (length < 0 || count > most_elements / factor) return false;
        count *= factor;
    }
    return true;
}

void check_shape(std::string_view operation, const Shape& shape) {
    user_check(is_possible(shape), operation, ": shape ", shape,
               " is impossible. Lengths of at least 0, of at most 2^58 elements together, are "
               "required.");
}

void check_axis(std::string_view operation, int64_t axis, int rank) {
    user_check<AxisError>(axis >= 0 && axis < rank, operation, ": axis ", axis,
                          " is out of bounds for array of dimension ", rank, ".");
}

void check_axes(std::string_view operation, const std::vector<int64_t>& axes, int rank) {
    for (size_t i = 0; i < axes.size(); ++i) {
        check_axis(operation, axes[i], rank);
        user_check(std::find(axes.begin(), axes.begin() + static_cast<long>(i), axes[i]) ==
                       axes.begin() + static_cast<long>(i),
                   operation, ": axis ", axes[i], " is given twice. Each axis once is required.");
    }
}

void check_value_count(std::string_view operation, std::string_view name,
                       const std::vector<int64_t>& values, size_t count) {
    user_check(values.size() == count, operation, ": ", name, " ", values, " has ", values.size(),
               " values. ", count, " are required.");
}

void check_values(std::string_view operation, std::string_view name,
                  const std::vector<int64_t>& values, size_t count, int64_t least) {
    check_value_count(operation, name, values, count);
    for (int64_t value : values)
        user_check(value >= least && value <= most_length, operation, ": ", name, " ", values,
                   " is out of range. Values from ", least, " to 2^31 are required.");
}

void check_lengths(std::string_view operation, const std::vector<Tensor>& operands) {
    for (const Tensor& operand : operands)
        for (int64_t length : operand.shape())
            user_check(length <= most_length, operation, ": an axis of shape ", operand.shape(),
                       " is too long. At most 2^31 is required.");
}

}  // namespace composit::ir
