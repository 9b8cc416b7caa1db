// The array of a constant: its elements in row-major order, in an order that products read faster,
// or in both.
//
// Programs that share a constant share what was made of it. Where an order that was made has every
// element, it takes the place of the row-major one, which is put together again for whoever asks.
#pragma once

#include "composit/ir/array.h"

#include <functional>
#include <memory>
#include <string>

namespace composit::ir {

// Another order of an array's elements.
struct Arrangement {
    std::string key;    // equal for equal orders of one array
    int64_t bytes = 0;  // of the elements in that order, and of what fills it up
    std::function<void(const void* row_major, void* arranged)> arrange;
    // The reverse. Empty: some elements are not in it.
    std::function<void(const void* arranged, void* row_major)> restore;
};

class ConstantArray {
  public:
    ConstantArray() = default;
    ConstantArray(Array value);  // NOLINT: an array is a constant

    explicit operator bool() const { return state_ != nullptr; }
    DType dtype() const;
    const Shape& shape() const;
    int64_t size() const;  // elements
    int64_t bytes() const;
    bool is_borrowed() const;  // Array::is_borrowed
    // The same constant; others may have equal values.
    bool operator==(const ConstantArray&) const = default;

    // Its row-major memory, if nobody else holds this constant, or that memory, or what was made of
    // it; else null. Whoever holds the constant may then write there.
    void* memory_of_its_own() const;

    // In row-major order. Where that was given up it is put together anew, for this caller alone.
    Array value() const;
    // Where the elements are in row-major order, which are there for the next who asks, too.
    std::shared_ptr<const void> row_major() const;
    bool is_row_major() const;  // whether they are in memory now

    // In another order, which is made once for all who hold it. If it has every element, and nobody
    // else holds the row-major memory, which is the constant's own, it takes that one's place.
    std::shared_ptr<const void> arranged(const Arrangement& order) const;

    // Where the elements lie on a device, if that is where they come from; else null.
    std::shared_ptr<RemoteMemory> remote() const;
    // On the device of that name: where they lie there, or a copy, which `copy` makes once for all
    // who hold this constant. Memory that others can write is copied each time.
    std::shared_ptr<RemoteMemory> on_device(
        const std::string& device,
        const std::function<std::shared_ptr<RemoteMemory>(const void* row_major)>& copy) const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace composit::ir
