#include "composit/ir/array.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/base/small_blocks.h"
#include "composit/ir/kept_blocks.h"
#include "composit/ir/remote_memory.h"
#include "composit/ir/scalar/function.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace composit::ir {

int64_t element_count(const Shape& shape) {
    int64_t count = 1;
    for (int64_t length : shape) count *= length;
    return count;
}

std::vector<int64_t> row_major_strides(const Shape& shape) {
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= shape[i];
    }
    return strides;
}

namespace {

[[noreturn]] void fail_to_allocate(int64_t bytes) {
    fail<OutOfMemory>("allocate: ", bytes,
                      " bytes are not available. Free memory or use smaller arrays.");
}

}  // namespace

std::shared_ptr<void> allocate_aligned(int64_t bytes) {
    // Fresh memory is mapped page by page at its first touch: large pages are hundreds of times
    // fewer. Where the system has none to give, the advice changes nothing.
    constexpr size_t line = 64, large_page = size_t{1} << 21;
    const size_t wanted = static_cast<size_t>(bytes > 0 ? bytes : 1);
    const size_t alignment = wanted >= large_page ? large_page : line;
    size_t rounded = (wanted + line - 1) / line * line;
    if (rounded < least_kept_block) {
        const bool is_small = rounded <= largest_small_block;
        void* memory = nullptr;
        try {
            memory = is_small ? allocate_small_block(rounded) : allocate_medium_block(rounded);
        } catch (const std::bad_alloc&) {
            fail_to_allocate(bytes);
        }
        const auto release = [rounded](void* block) {
            rounded <= largest_small_block ? free_small_block(block, rounded)
                                           : free_medium_block(block, rounded);
        };
        return {memory, release, SmallBlockAllocator<std::byte>()};
    }
    if (void* kept = take_kept_block(rounded, alignment))
        return {kept, [rounded](void* block) { keep_block(block, rounded); }};
    void* const data = new_block(rounded, alignment);
    if (data && alignment == large_page) madvise(data, rounded / 4096 * 4096, MADV_HUGEPAGE);
    if (!data) fail_to_allocate(bytes);
    return {data, [rounded](void* block) { keep_block(block, rounded); }};
}

Array::Array(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
    // Counted with care: a product that wraps around would look like a small one.
    int64_t total = size_of(dtype);
    bool fits = true;
    for (int64_t length : shape_) fits = fits && !__builtin_mul_overflow(total, length, &total);
    if (!fits && std::find(shape_.begin(), shape_.end(), 0) == shape_.end())
        fail<OutOfMemory>("allocate: an array of shape ", shape_, " and dtype ", dtype,
                          " is larger than any memory. Use smaller arrays.");
    size_ = element_count(shape_);
    owner_ = allocate_aligned(bytes());
    data_ = owner_.get();
}

Array::Array(DType dtype, Shape shape, std::shared_ptr<void> owner, void* data, bool is_borrowed)
    : dtype_(dtype),
      is_borrowed_(is_borrowed),
      shape_(std::move(shape)),
      size_(element_count(shape_)),
      owner_(std::move(owner)),
      data_(data) {}

Array::Array(DType dtype, Shape shape, std::shared_ptr<RemoteMemory> memory)
    : dtype_(dtype),
      is_borrowed_(memory && memory->is_shared()),
      is_remote_(true),
      shape_(std::move(shape)),
      size_(element_count(shape_)),
      owner_(std::move(memory)) {}

std::shared_ptr<RemoteMemory> Array::remote() const {
    return is_remote_ ? std::static_pointer_cast<RemoteMemory>(owner_) : nullptr;
}

const void* Array::copied_data() const {
    return static_cast<const RemoteMemory*>(owner_.get())->on_host().get();
}

Array Array::on_host() const {
    if (!is_remote_) return *this;
    const std::shared_ptr<void> memory = remote()->on_host();
    return {dtype_, shape_, memory, memory.get(), false};
}

Array Array::zeros(DType dtype, Shape shape) {
    Array result(dtype, std::move(shape));
    std::memset(result.mutable_data(), 0, static_cast<size_t>(result.bytes()));
    return result;
}

Array Array::scalar(DType dtype, double value) {
    const DefaultFloatingPoint floating_point;
    Array result(dtype, {});
    const scalar::Bits bits = scalar::bits_of(dtype, value);
    std::memcpy(result.mutable_data(), bits.data(), static_cast<size_t>(size_of(dtype)));
    return result;
}

int64_t Array::bytes() const { return size() * size_of(dtype_); }

}  // namespace composit::ir
