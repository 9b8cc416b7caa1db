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
    // NotSupported, naming operation and dtype, when a kernel is missing. `is_uniform`: of each
    // input whether all elements of a chunk are one value; none is if it is empty.
    Body(const std::vector<ir::scalar::Expr>& values, size_t input_count, const KernelSet& set,
         const std::vector<bool>& is_uniform = {});

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
    // It needs nothing but inputs and results, so chunks may have any length.
    bool is_without_registers() const { return registers_.empty() && fixed_.empty(); }
    bool has_uniform_part() const { return !uniform_.empty(); }

    int64_t scratch_bytes() const;
    void bind(char** slots, char* scratch) const;
    // What is made of uniform inputs alone, before `run`: it stays in its registers, and serves
    // later chunks of at most as many elements, as long as these inputs are the same.
    void run_uniform_part(char** slots, int64_t n) const;
    void run(char** slots, int64_t n) const;

  private:
    struct Instruction {
        const BodyLoop* loop = nullptr;
        VectorKernel kernel = nullptr;  // null, and no loop: `copy`
        CopyKernel copy = nullptr;
        int operands[3] = {0, 0, 0};
        int result = 0;
    };
    friend class BodyBuilder;

    size_t input_count_ = 0, result_count_ = 0, slot_count_ = 0;
    std::vector<int> last_read_;  // instruction number by input, -1: never
    std::vector<int> written_;    // instruction number by result
    bool is_identity_ = false;
    std::vector<Instruction> instructions_, uniform_;
    static void run(const std::vector<Instruction>& instructions, char** slots, int64_t n);
    std::vector<std::shared_ptr<const BodyLoop>> loops_;
    std::vector<std::pair<int, std::shared_ptr<char>>> fixed_;  // slots of constants and tables
    std::vector<int> registers_;                                // slots of chunk registers
    int64_t register_bytes_ = 0;
};

}  // namespace composit::interpreter
