// An immutable n-dimensional block of elements: row-major, contiguous, shared.
#pragma once

#include "composit/ir/dtype.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace composit::ir {

class RemoteMemory;  // remote_memory.h

using Shape = std::vector<int64_t>;

int64_t element_count(const Shape& shape);
std::vector<int64_t> row_major_strides(const Shape& shape);  // in elements

// Memory aligned to 64 bytes, freed with the last owner. Throws OutOfMemory naming the bytes.
std::shared_ptr<void> allocate_aligned(int64_t bytes);

class Array {
  public:
    Array() = default;
    // Uninitialised memory, to be filled through mutable_data() before the array is shared.
    Array(DType dtype, Shape shape);
    // Memory that `owner` keeps alive, aligned to its dtype. Borrowed: others may read or write it
    // for as long as it lives.
    Array(DType dtype, Shape shape, std::shared_ptr<void> owner, void* data,
          bool is_borrowed = true);

    // Elements that lie on a device, from the start of `memory` on. Borrowed where that is shared.
    Array(DType dtype, Shape shape, std::shared_ptr<RemoteMemory> memory);

    static Array zeros(DType dtype, Shape shape);
    template <class T>
    static Array of(DType dtype, Shape shape, const std::vector<T>& values);
    static Array scalar(DType dtype, double value);

    DType dtype() const { return dtype_; }
    const Shape& shape() const { return shape_; }
    int64_t size() const { return size_; }  // elements
    int64_t bytes() const;
    // In host memory; of an array on a device that is a copy, made at the first call. Of memory
    // that is shared it lives until the next call.
    const void* data() const { return is_remote_ ? copied_data() : data_; }
    template <class T>
    const T* data_as() const {
        return static_cast<const T*>(data());
    }
    // Only while the maker is the sole owner; not of arrays on a device.
    void* mutable_data() const { return data_; }
    const std::shared_ptr<void>& owner() const { return owner_; }
    bool is_borrowed() const { return is_borrowed_; }
    explicit operator bool() const { return data_ != nullptr || is_remote_; }

    bool is_remote() const { return is_remote_; }
    std::shared_ptr<RemoteMemory> remote() const;  // null where the elements are in host memory
    Array on_host() const;                         // itself, or its copy in host memory

  private:
    const void* copied_data() const;

    DType dtype_ = DType::float32;
    bool is_borrowed_ = false, is_remote_ = false;
    Shape shape_;
    int64_t size_ = 1;
    std::shared_ptr<void> owner_;  // a RemoteMemory of an array on a device
    void* data_ = nullptr;
};

template <class T>
Array Array::of(DType dtype, Shape shape, const std::vector<T>& values) {
    Array result(dtype, std::move(shape));
    std::copy(values.begin(), values.end(), static_cast<T*>(result.mutable_data()));
    return result;
}

}  // namespace composit::ir
