// Contractions for devices whose threads are loops (Dialect::threads_are_loops): a thread computes a
// block of the output, from copies of the operands in the order in which they are read.
#pragma once

#include "composit/backends/simt/contract_loops.h"

namespace composit::simt {

// Whether there is enough work for the copies to pay, of a dtype that vectors have.
bool suits_loops(const ContractLoops& loops, const ContractArithmetic& arithmetic);
void print_contract_in_loops(KernelText& kernel, const ir::kernel::Contract& contract,
                             const ContractLoops& loops, const ContractArithmetic& arithmetic);

}  // namespace composit::simt
