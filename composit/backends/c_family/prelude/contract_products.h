// The products of floats and of bytes, and what packs operands of floats, that are compiled with
// composit: a table for each length of vectors.
#pragma once

#include "composit/backends/c_family/prelude/contract_bytes_described.h"

// `scratch`: contract_scratch<T> elements.
template <class T>
using ReadyProduct = void (*)(const Contraction<T>& product, const ContractPart& part,
                              LeftReading left, T* scratch);
// Rows or columns [begin, end), multiples of packed_together or all.
template <class T>
using ReadyPacking = void (*)(const Packing<T>& packing, bool is_left, int64_t begin, int64_t end);

// `scratch`: byte_scratch bytes.
template <class Left, class Right>
using ReadyByteProduct = void (*)(const ByteProduct<Left, Right>& product, const ContractPart& part,
                                  void* scratch);

struct ReadyProducts {
    ReadyProduct<float> of_floats;
    ReadyProduct<double> of_doubles;
    ReadyPacking<float> pack_floats;
    ReadyPacking<double> pack_doubles;
    ReadyByteProduct<int8_t, int8_t> of_int8_int8;
    ReadyByteProduct<int8_t, uint8_t> of_int8_uint8;
    ReadyByteProduct<uint8_t, int8_t> of_uint8_int8;
    ReadyByteProduct<uint8_t, uint8_t> of_uint8_uint8;
};
