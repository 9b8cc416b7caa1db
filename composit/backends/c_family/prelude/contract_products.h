// The products of floats, and what packs their operands, that are compiled with composit: a table
// for each length of vectors.
#pragma once

#include "composit/backends/c_family/prelude/contract_described.h"

// `scratch`: contract_scratch<T> elements.
template <class T>
using ReadyProduct = void (*)(const Contraction<T>& product, const ContractPart& part,
                              LeftReading left, T* scratch);
// Rows or columns [begin, end), multiples of packed_together or all.
template <class T>
using ReadyPacking = void (*)(const Packing<T>& packing, bool is_left, int64_t begin, int64_t end);

struct ReadyProducts {
    ReadyProduct<float> of_floats;
    ReadyProduct<double> of_doubles;
    ReadyPacking<float> pack_floats;
    ReadyPacking<double> pack_doubles;
};
