// Operands of products: sides exchanged, and what makes an operand read in its place.
#include "composit/transforms/product_operands.h"

#include "composit/ir/kernel/loops.h"

#include <algorithm>
#include <utility>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Body;
using ir::kernel::Contract;
using ir::kernel::cut_loops_at;
using ir::kernel::loops_that_move;
using ir::kernel::Map;
using ir::kernel::steps_through;

void exchange_sides(Contract& c) {
    const size_t b = c.batch.size(), m = c.rows.size(), n = c.columns.size(), k = c.depth.size();
    const auto turned = [b](const Access& access, size_t second, size_t third) {
        Access result = access;
        const auto at = access.strides.begin() + static_cast<std::ptrdiff_t>(b);
        std::rotate_copy(at, at + static_cast<std::ptrdiff_t>(second),
                         at + static_cast<std::ptrdiff_t>(second + third),
                         result.strides.begin() + static_cast<std::ptrdiff_t>(b));
        return result;
    };
    const Access left = turned(c.right, k, n), right = turned(c.left, m, k);
    c.left = left;
    c.right = right;
    c.output = turned(c.output, m, n);
    std::swap(c.rows, c.columns);
}

std::optional<std::vector<Access>> inputs_as_read(const Map& given, Body& user, size_t read) {
    Body maker = given;
    const Map& map = std::get<Map>(maker);
    const size_t made = map.inputs.size();
    const int64_t count = ir::element_count(map.extents);
    const auto in_map = steps_through(maker, made, count);
    const auto in_user = steps_through(user, read, count);
    if (!in_map || !in_user) return std::nullopt;
    if (!cut_loops_at(maker, made, *in_user) || !cut_loops_at(user, read, *in_map))
        return std::nullopt;
    const auto of_map = loops_that_move(maker, made), of_user = loops_that_move(user, read);
    const size_t size = ir::kernel::accesses(user)[read]->strides.size();
    std::vector<Access> result;
    for (const Access& input : map.inputs) {
        Access moved = input;
        moved.strides.assign(size, 0);
        for (size_t l = 0; l < of_user.size(); ++l)
            moved.strides[static_cast<size_t>(of_user[l].stride_at[read])] =
                input.strides[static_cast<size_t>(of_map[l].stride_at[made])];
        result.push_back(std::move(moved));
    }
    return result;
}

}  // namespace composit::transforms
