// Who knows the products that are compiled with composit.
#include "composit/runtime/ready_products.h"

#include <atomic>

namespace composit::runtime {
namespace {

std::atomic<FindProducts> find_products = nullptr;

}  // namespace

const void* ready_products(int64_t vector_bytes) {
    const FindProducts find = find_products;
    return find == nullptr ? nullptr : find(vector_bytes);
}

void register_ready_products(FindProducts find) { find_products = find; }

}  // namespace composit::runtime
