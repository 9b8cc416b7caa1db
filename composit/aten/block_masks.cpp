// Blocks by sums, sorting and comparison.
#include "composit/aten/block_masks.h"

#include "composit/aten/rank.h"
#include "composit/aten/rows.h"
#include "composit/aten/sorting.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/padding.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

namespace composit::aten {
namespace {

using ir::DType;

// So many elements more make whole blocks.
int64_t lacking(int64_t length, int64_t block) { return (block - length % block) % block; }

Tensor as_columns(const Tensor& x) {
    return numpy::get_item(x, {numpy::Ellipsis{}, numpy::NewAxis{}});
}

}  // namespace

std::pair<Tensor, Tensor> mask_blocks(const Tensor& mask, int64_t query_block, int64_t key_block,
                                      bool separate_full) {
    check_rank("mask_blocks", mask, 2);
    user_check<ValueError>(query_block > 0 && key_block > 0, "mask_blocks: blocks are ",
                           query_block, " by ", key_block, ". Lengths above 0 are required.");
    const auto rank = static_cast<size_t>(mask.rank());
    std::vector<std::pair<int64_t, int64_t>> widths(rank, {0, 0});
    widths[rank - 2].second = lacking(mask.shape()[rank - 2], query_block);
    widths[rank - 1].second = lacking(mask.shape()[rank - 1], key_block);
    const Tensor whole = numpy::pad(mask, widths);
    ir::Shape shape(mask.shape().begin(), mask.shape().end() - 2);
    shape.insert(shape.end(), {whole.shape()[rank - 2] / query_block, query_block,
                               whole.shape()[rank - 1] / key_block, key_block});
    const Tensor count =
        numpy::sum(ops::astype(numpy::reshape(whole, shape), DType::int64), {-3, -1});
    if (!separate_full) return {count > 0, Tensor()};
    const int64_t all = query_block * key_block;
    return {(count > 0) & (count < all), rows::equal(count, all)};
}

std::pair<Tensor, Tensor> ordered_blocks(const Tensor& dense) {
    check_rank("ordered_blocks", dense, 2);
    const Tensor is_there = rows::not_equal(dense, 0);
    const Tensor order = argsort(ops::astype(is_there, DType::int32), -1, true);
    return {ops::astype(numpy::count_nonzero(is_there, -1), DType::int32),
            ops::astype(order, DType::int32)};
}

Tensor dense_blocks(const Tensor& counts, const Tensor& indices, int64_t columns) {
    check_rank("dense_blocks", indices, 2);
    const Tensor counted = numpy::arange(indices.shape().back()) < as_columns(counts);
    const Tensor is_column = rows::equal(as_columns(indices), numpy::arange(columns));
    return ops::astype(numpy::any(is_column & as_columns(counted), -2), DType::int32);
}

}  // namespace composit::aten
