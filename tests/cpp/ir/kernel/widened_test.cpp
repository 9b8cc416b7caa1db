// widened: fewer batch loops, and for every output element the same products in the same order.
#include "composit/ir/kernel/kernel.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace composit::ir::kernel {
namespace {

using Strides = std::vector<int64_t>;
using Products = std::vector<std::pair<int64_t, int64_t>>;

int64_t address(const Access& access, const Extents& extents, int64_t flat) {
    int64_t result = access.offset;
    for (size_t d = extents.size(); d-- > 0;) {
        result += access.strides[d] * (flat % extents[d]);
        flat /= extents[d];
    }
    return result;
}

// By output address: the addresses of what is multiplied, in order.
std::map<int64_t, Products> products_of(const Contract& c) {
    const size_t b = c.batch.size(), m = c.rows.size(), n = c.columns.size(), k = c.depth.size();
    const Extents left = concatenate({c.batch, c.rows, c.depth});
    const Extents right = concatenate({c.batch, c.depth, c.columns});
    const Extents out = concatenate({c.batch, c.rows, c.columns});
    EXPECT_EQ(c.left.strides.size(), b + m + k);
    EXPECT_EQ(c.right.strides.size(), b + k + n);
    EXPECT_EQ(c.output.strides.size(), b + m + n);
    const int64_t batches = element_count(c.batch), rows = element_count(c.rows);
    const int64_t columns = element_count(c.columns), depth = element_count(c.depth);
    std::map<int64_t, Products> result;
    for (int64_t i = 0; i < batches; ++i)
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t j = 0; j < columns; ++j) {
                Products& products = result[address(c.output, out, (i * rows + r) * columns + j)];
                for (int64_t z = 0; z < depth; ++z)
                    products.emplace_back(address(c.left, left, (i * rows + r) * depth + z),
                                          address(c.right, right, (i * depth + z) * columns + j));
            }
    return result;
}

TEST(Widened, KeepsEveryElementsProducts) {
    std::mt19937 draw(5);
    const auto pick = [&](int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(draw);
    };
    for (int round = 0; round < 300; ++round) {
        Contract c;
        for (Extents* group : {&c.batch, &c.rows, &c.columns, &c.depth})
            for (int64_t d = pick(0, 2); d > 0; --d) group->push_back(pick(1, 3));
        const auto strides = [&](const Extents& extents) {
            Strides result;
            for (size_t d = 0; d < extents.size(); ++d) result.push_back(pick(-1, 20));
            return result;
        };
        c.left.strides = strides(concatenate({c.batch, c.rows, c.depth}));
        c.right.strides = strides(concatenate({c.batch, c.depth, c.columns}));
        for (size_t d = 0; d < c.batch.size(); ++d) {
            if (pick(0, 2) == 0) c.left.strides[d] = 0;
            if (pick(0, 2) == 0) c.right.strides[d] = 0;
        }
        c.output.strides = row_major_strides(concatenate({c.batch, c.rows, c.columns}));
        const Contract wide = widened(c);
        EXPECT_EQ(products_of(wide), products_of(c));
        for (size_t d = 0; d < wide.batch.size(); ++d)
            EXPECT_TRUE(wide.left.strides[d] != 0 && wide.right.strides[d] != 0);
    }
}

TEST(Widened, ImagesBecomeColumns) {
    Contract c{{8, 1}, {16}, {6, 6}, {3, 3, 4}, {}, {}, {}};
    c.left.strides = {0, 576, 36, 3, 1, 9};
    c.right.strides = {256, 256, 8, 1, 64, 8, 1};
    c.output.strides = {576, 576, 36, 6, 1};
    const Contract wide = widened(c);
    EXPECT_EQ(wide.batch, Extents{1});
    EXPECT_EQ(wide.columns, (Extents{8, 6, 6}));
    EXPECT_EQ(wide.right.strides, (Strides{256, 8, 1, 64, 256, 8, 1}));
    EXPECT_EQ(wide.output.strides, (Strides{576, 36, 576, 6, 1}));
}

}  // namespace
}  // namespace composit::ir::kernel
