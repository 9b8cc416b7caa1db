// A scalar body as a list of vector instructions over chunks of elements.
#pragma once

#include "composit/backends/interpreter/kernel_set.h"
#include "composit/ir/scalar/expr.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace composit::interpreter {

// The most elements of one chunk: a few chunks of them stay in the first-level cache.
inline constexpr int64_t chunk_elements = 1024;

class BodyLoop;  // body_loop.h

// Slots are chunk pointers: first the inputs, then the results, then what the body needs for
// itself. Whoever runs a body sets the input and result slots; `bind` sets the others.
class Body {
  public:
    // NotSupported, naming operation and dtype, when a kernel is missing.
    Body(const std::vector<ir::scalar::Expr>& values, size_t input_count, const KernelSet& set);

    size_t input_count() const { return input_count_; }
    size_t result_count() const { return result_count_; }
    size_t result_slot(size_t result) const { return input_count_ + result; }
    size_t slot_count() const { return slot_count_; }
    bool reads(size_t input) const { return last_read_[input] >= 0; }
    // Some instruction reads the input after `result` was written: they must not share memory.
    bool reads_after(size_t result, size_t input) const {
        return last_read_[input] > written_[result];
    }
    // The body is nothing but input 0.
    bool is_identity() const { return is_identity_; }

    int64_t scratch_bytes() const;
    void bind(char** slots, char* scratch) const;
    void run(char** slots, int64_t n) const;

  private:
    struct Instruction {
        const BodyLoop* loop = nullptr;
        VectorKernel kernel = nullptr;  // null, and no loop: a copy of elements of copy_bytes
        int64_t copy_bytes = 0;
        int operands[3] = {0, 0, 0};
        int result = 0;
    };
    friend class BodyBuilder;

    size_t input_count_ = 0, result_count_ = 0, slot_count_ = 0;
    std::vector<int> last_read_;  // instruction number by input, -1: never
    std::vector<int> written_;    // instruction number by result
    bool is_identity_ = false;
    std::vector<Instruction> instructions_;
    std::vector<std::shared_ptr<const BodyLoop>> loops_;
    std::vector<std::pair<int, std::shared_ptr<char>>> fixed_;  // slots of constants and tables
    std::vector<int> registers_;                                // slots of chunk registers
    int64_t register_bytes_ = 0;
};

}  // namespace composit::interpreter
