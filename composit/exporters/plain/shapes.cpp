#include "composit/exporters/plain/shapes.h"

#include "composit/base/text.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace composit::plain {

using ir::kernel::Access;
using ir::kernel::AccessInLoops;
using ir::kernel::Extents;

namespace {

// Shapes of more axes are taken as one: all groupings of their axes would be too many to try.
constexpr size_t most_axes = 10;

// The strides of the axes, longest first; an axis of one element is never moved along.
void add_digits(std::vector<int64_t>& digits, int64_t distance, const std::vector<int64_t>& shape,
                const std::vector<int64_t>& strides) {
    int64_t rest = std::abs(distance);
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 1) continue;
        digits[d] = rest / strides[d] * (distance < 0 ? -1 : 1);
        rest %= strides[d];
    }
}

bool suits(const std::vector<AccessInLoops>& accesses, const std::vector<int64_t>& shape) {
    return std::all_of(accesses.begin(), accesses.end(), [&](const AccessInLoops& each) {
        return along_axes(each.access, each.extents, shape).has_value();
    });
}

}  // namespace

std::optional<std::vector<Access>> along_axes(const Access& access, const Extents& loops,
                                              const std::vector<int64_t>& shape) {
    const std::vector<int64_t> strides = ir::row_major_strides(shape);
    const size_t axes = shape.size();
    std::vector<Access> result(axes);
    for (Access& axis : result) axis.strides.assign(access.strides.size(), 0);
    // What is never reached lies anywhere.
    const auto is_empty = [](int64_t extent) { return extent == 0; };
    if (std::any_of(loops.begin(), loops.end(), is_empty) ||
        std::any_of(shape.begin(), shape.end(), is_empty))
        return result;
    std::vector<int64_t> digits(axes, 0);
    add_digits(digits, access.offset, shape, strides);
    std::vector<int64_t> least = digits, most = digits;
    for (size_t d = 0; d < axes; ++d) result[d].offset = digits[d];
    for (size_t l = 0; l < access.strides.size(); ++l) {
        if (access.strides[l] == 0 || loops[l] <= 1) continue;
        std::fill(digits.begin(), digits.end(), 0);
        add_digits(digits, access.strides[l], shape, strides);
        for (size_t d = 0; d < axes; ++d) {
            result[d].strides[l] = digits[d];
            (digits[d] < 0 ? least : most)[d] += digits[d] * (loops[l] - 1);
        }
    }
    for (size_t d = 0; d < axes; ++d)
        if (least[d] < 0 || most[d] >= shape[d]) return std::nullopt;
    return result;
}

std::vector<int64_t> common_shape(const std::vector<AccessInLoops>& accesses,
                                  const std::vector<int64_t>& shape) {
    if (suits(accesses, shape)) return shape;
    if (shape.size() > 1 && shape.size() <= most_axes) {
        // Bit d: whether axis d + 1 begins a new axis.
        const unsigned all = 1u << (shape.size() - 1);
        for (int kept = static_cast<int>(shape.size()) - 2; kept > 0; --kept)
            for (unsigned mask = 0; mask < all; ++mask) {
                if (std::popcount(mask) != kept) continue;
                std::vector<int64_t> joined{shape[0]};
                for (size_t d = 1; d < shape.size(); ++d)
                    if ((mask >> (d - 1) & 1u) != 0)
                        joined.push_back(shape[d]);
                    else
                        joined.back() *= shape[d];
                if (suits(accesses, joined)) return joined;
            }
    }
    return {ir::element_count(shape)};
}

std::vector<int64_t> as_declared(std::vector<int64_t> shape) {
    if (shape.empty()) shape = {1};
    for (int64_t& extent : shape) extent = std::max<int64_t>(extent, 1);
    return shape;
}

std::string extents_text(const std::vector<int64_t>& shape) {
    std::string result;
    for (const int64_t extent : shape) result += text("[", std::max<int64_t>(extent, 1), "]");
    return result.empty() ? "[1]" : result;
}

}  // namespace composit::plain
