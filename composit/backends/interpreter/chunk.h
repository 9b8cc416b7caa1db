// Evaluating a body over one tile of a loop nest: two loops at once, at most chunk_elements
// elements.
#pragma once

#include "composit/backends/interpreter/body.h"
#include "composit/backends/interpreter/nest.h"
#include "composit/backends/interpreter/scratch.h"

#include <cstdint>
#include <vector>

namespace composit::interpreter {

using Memory = std::vector<char*>;  // by buffer number

// Which loops of a nest a tile spans; -1 stands for a loop of length 1.
struct TileLoops {
    int row = -1, column = -1;
};
Strides2 strides_over(const Operand& operand, const TileLoops& loops);

// One thread's evaluation of a body. Operands that lie side by side are read where they are, others
// are copied into a chunk first, and again only when they move.
class ChunkEvaluator {
  public:
    // The first body.input_count() operands are the inputs. All arguments must outlive the
    // evaluator.
    ChunkEvaluator(const Body& body, const std::vector<Operand>& operands, const TileLoops& loops,
                   const Memory& memory, const KernelSet& set, ScratchScope& scratch);

    // Elements (r, c), r < rows, c < columns, flattened; the first lies at offsets[k] in input k.
    // Result slots must have been set.
    void evaluate(const std::vector<int64_t>& offsets, int64_t rows, int64_t columns);

    void set_result(size_t result, void* chunk) {
        slots_[body_.result_slot(result)] = static_cast<char*>(chunk);
    }

  private:
    struct Input {
        size_t number = 0;
        const char* base = nullptr;
        Strides2 strides;
        int64_t size = 1;
        CopyKernel copy = nullptr;                  // null: positions
        char* chunk = nullptr;                      // where it is copied to
        int64_t offset = 0, rows = 0, columns = 0;  // what the chunk holds
    };
    static bool is_uniform(const Input& input) {
        return input.strides.row == 0 && input.strides.column == 0;
    }
    // Whether the chunk was filled anew.
    static bool load(Input& input, int64_t offset, int64_t rows, int64_t columns);

    const Body& body_;
    std::vector<char*> slots_;
    std::vector<Input> inputs_;
    int64_t uniform_elements_ = 0;  // that the body's uniform part was computed for
};

}  // namespace composit::interpreter
