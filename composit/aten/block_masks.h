// Masks of attention in blocks, as PyTorch's flex_attention has them: for each row of blocks, how
// many blocks of columns there are, and which.
//
// Shapes (…, rows, columns) count blocks. Numbers are int32.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <utility>

namespace composit::aten {

using ir::Tensor;

// Of a mask (…, queries, keys) of bool, padded to whole blocks with false: where a block has true
// and false elements, and where it has true ones alone; bool (…, rows, columns). Without
// `separate_full` the first are blocks with some true element, and the second is none.
[[nodiscard]] std::pair<Tensor, Tensor> mask_blocks(const Tensor& mask, int64_t query_block,
                                                    int64_t key_block, bool separate_full = true);

// How many blocks of each row there are (…, rows), and the columns (…, rows, columns) of those, in
// order, before those that are not there.
[[nodiscard]] std::pair<Tensor, Tensor> ordered_blocks(const Tensor& dense);
// 1 where there is a block, 0 elsewhere (…, rows, columns): of the first `counts` of the columns.
[[nodiscard]] Tensor dense_blocks(const Tensor& counts, const Tensor& indices, int64_t columns);

}  // namespace composit::aten
