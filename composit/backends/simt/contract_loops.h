// A contraction's loops for devices: merged, with the columns along the output's memory, and the
// arithmetic of its elements.
#pragma once

#include "composit/backends/simt/kernel_text.h"
#include "composit/ir/kernel/kernel.h"

#include <string>
#include <vector>

namespace composit::simt {

inline constexpr int64_t block_of_depth = 256;  // of the kernel language: chains of fma

// One operand: over batch, its rows or columns ("across"), and depth. Offsets are in `batch`.
struct ContractOperand {
    ir::kernel::Access batch, across, depth;
    const ir::kernel::Extents* across_extents = nullptr;
};

struct ContractLoops {
    ir::kernel::Extents batch, rows, columns, depth;  // merged
    ContractOperand left, right;
    ir::kernel::Access output;                                      // over batch + rows + columns
    std::vector<ir::kernel::Access> finish_inputs, finish_outputs;  // the same
    int64_t batch_count = 0, row_count = 0, column_count = 0, depth_count = 0;

    // Rows and columns, and so left and right, are exchanged where the output's memory runs along
    // the rows: factors commute.
    explicit ContractLoops(const ir::kernel::Contract& contract);
    ContractLoops(const ContractLoops&) = delete;
    ContractLoops& operator=(const ContractLoops&) = delete;

    int64_t output_count() const { return batch_count * row_count * column_count; }
    int64_t blocks() const { return (depth_count + block_of_depth - 1) / block_of_depth; }
    ir::kernel::Extents output_extents() const {
        return ir::kernel::concatenate({batch, rows, columns});
    }
    // Decides on `f`'s type of indices: for all of these, and numbers up to `most`.
    void set_index_type(FunctionText& f, int64_t most) const;
};

// How elements are multiplied and added up.
struct ContractArithmetic {
    ir::DType dtype;
    bool has_blocks = false;  // floats: the order of additions is part of the meaning
    std::string memory;       // the type in which elements are read; of the same size as in memory
    std::string sum;          // the type in which they are added up
    std::string zero;
    // Factors beyond the end of the depth: adding their product changes no sum, not even the sign
    // of a zero.
    std::string left_end, right_end;
    // What the first sum can be added to, and stays as it is.
    std::string nothing;

    explicit ContractArithmetic(ir::DType dtype);
    std::string add_product(const std::string& to, const std::string& left,
                            const std::string& right) const;  // "to = fma(left, right, to);"
};

// Statements that store one sum, finished, at these indices of batch, rows and columns.
void store_sum(FunctionText& f, const ir::kernel::Contract& contract, const ContractLoops& loops,
               const std::vector<std::string>& indices, const std::string& sum, bool is_finished);

}  // namespace composit::simt
