// Batched matrix products over strided operands:
// output[b, m, n] = sum over k of left[b, m, k] * right[b, k, n].
//
// Floats: blocks of 256 along k, in each one chain of fma from +0, block results added in order.
// Integers wrap; bool is or of ands. The order belongs to each element, so any part of the output
// can be computed by any thread.
#pragma once

#include "composit/backends/c_family/prelude/contract_fetching.h"

// Float contraction of one part of the output. `scratch`: contract_scratch<T> elements. `left`: of
// the ways of reading that are compiled.
template <class Allowed = AnyReading, class T>
COMPOSIT_APART void contract(const Contraction<T>& c, const ContractPart& part, T* scratch,
                             LeftReading left = LeftReading::suits) {
    if constexpr (Allowed::may_be_lone)
        if (is_lone(c)) return contract_lone(c, part);
    ContractBlocks<T>(c, scratch, left).template run<Allowed>(part);
}
