// Prints the products of contractions in tiles: the threads of a group copy parts of both operands
// to memory that they share, and each multiplies a few rows with a few columns from there.
#pragma once

#include "composit/backends/simt/contract_loops.h"
#include "composit/backends/simt/contract_plan.h"
#include "composit/backends/simt/kernel_text.h"

#include <cstdint>
#include <optional>

namespace composit::simt {

// Where sums go.
struct ContractSums {
    // To scratch memory from here on, those of each block of the depth:
    // [block][batch][row][column]; else to the output.
    std::optional<int64_t> partials = {};
    bool is_finished = true;  // with what the contraction's finish makes of them
};

void print_tiles(KernelText& kernel, const ir::kernel::Contract& contract,
                 const ContractLoops& loops, const ContractArithmetic& arithmetic,
                 const ContractPlan& plan, const ContractSums& sums);

// The functions of a whole contraction by that plan; print_body(kernel, contract) picks one. There
// is an element to compute.
void print_contract(KernelText& kernel, const ir::kernel::Contract& contract,
                    const ContractPlan& plan);

}  // namespace composit::simt
