// Products of floats and of bytes by the functions that are compiled with composit, which this code
// is told when it is loaded: compiling them takes longer than all else.
#pragma once

#include "composit/backends/c_family/prelude/contract_products.h"

static const ReadyProducts* ready_products = nullptr;

// Which ways of reading the left operand suit the lengths.
template <bool packs, bool reads_directly, bool reads_right_directly>
struct Reading {
    static constexpr LeftReading left = !reads_directly ? LeftReading::packed
                                        : !packs        ? LeftReading::direct
                                                        : LeftReading::suits;
};

template <class Suited>
inline void contract(const Contraction<float>& c, const ContractPart& part, float* scratch) {
    ready_products->of_floats(c, part, Suited::left, scratch);
}
template <class Suited>
inline void contract(const Contraction<double>& c, const ContractPart& part, double* scratch) {
    ready_products->of_doubles(c, part, Suited::left, scratch);
}

template <bool is_left>
inline void pack_whole(const Packing<float>& packing, int64_t begin, int64_t end) {
    ready_products->pack_floats(packing, is_left, begin, end);
}
template <bool is_left>
inline void pack_whole(const Packing<double>& packing, int64_t begin, int64_t end) {
    ready_products->pack_doubles(packing, is_left, begin, end);
}

inline void contract_bytes(const ByteProduct<int8_t, int8_t>& c, const ContractPart& part,
                           void* scratch) {
    ready_products->of_int8_int8(c, part, scratch);
}
inline void contract_bytes(const ByteProduct<int8_t, uint8_t>& c, const ContractPart& part,
                           void* scratch) {
    ready_products->of_int8_uint8(c, part, scratch);
}
inline void contract_bytes(const ByteProduct<uint8_t, int8_t>& c, const ContractPart& part,
                           void* scratch) {
    ready_products->of_uint8_int8(c, part, scratch);
}
inline void contract_bytes(const ByteProduct<uint8_t, uint8_t>& c, const ContractPart& part,
                           void* scratch) {
    ready_products->of_uint8_uint8(c, part, scratch);
}
