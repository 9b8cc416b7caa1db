// Products of floats and of bytes that are compiled with composit, for whoever loads code that
// calls them.
#pragma once

#include <cstdint>

namespace composit::runtime {

// The table (backends/c_family/prelude/contract_products.h) for vectors of so many bytes, of which
// tiles and panels are made. Null: this CPU has none of that length.
const void* ready_products(int64_t vector_bytes);

// Says who knows them: whoever has compiled them, when the library is loaded.
using FindProducts = const void* (*)(int64_t vector_bytes);
void register_ready_products(FindProducts find);

}  // namespace composit::runtime
