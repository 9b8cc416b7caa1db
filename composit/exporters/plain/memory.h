// The memory that a plain function needs between its kernels: a struct of arrays, in which arrays
// that are never needed at the same time share a union.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace composit::plain {

class Memory {
  public:
    // `names`: of the program's buffers, each once. `elsewhere`: temporaries that it does not hold.
    // `together`: those of one set are needed at the same time, by one function.
    Memory(const ir::kernel::Program& program, const std::vector<std::string>& names,
           const std::set<int>& elsewhere, const std::vector<std::set<int>>& together);

    bool is_empty() const { return slots_.empty(); }
    bool has_unions() const;
    // "static float hidden[16];" for each array, where there are no unions.
    std::vector<std::string> variables() const;
    int64_t bytes() const { return bytes_; }  // of the struct
    int64_t alignment() const { return alignment_; }
    // "{\n    float hidden[16];\n}", to stand behind "struct NAME ", with a margin before its
    // lines.
    std::string members(const std::string& margin) const;
    // "hidden", "shared_1.hidden": the way from the struct to a temporary.
    const std::string& path(int buffer) const { return paths_.at(buffer); }

  private:
    struct Slot {
        std::vector<int> buffers;
        int64_t bytes = 0, alignment = 1;
    };

    std::string members_of(const std::vector<int>& buffers, const std::string& between) const;

    const ir::kernel::Program& program_;
    const std::vector<std::string>& names_;
    std::vector<Slot> slots_;  // of decreasing alignment, so that nothing lies between them
    std::map<int, std::string> paths_;
    int64_t bytes_ = 0, alignment_ = 1;
};

}  // namespace composit::plain
