// Which values regions of `scf` take and yield: those that blocks change and later code reads.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <map>
#include <set>
#include <vector>

namespace composit::mlir {

// What statements can change: a variable, where an array's memory is, and how many elements a
// growing array has. Each is a number: first the variables, then a pair for each array.
class Places {
  public:
    explicit Places(const ir::procedure::Procedure& procedure) : procedure_(procedure) {}

    int memory_of(int array) const { return variables() + 2 * array; }
    int count_of(int array) const { return memory_of(array) + 1; }
    int variables() const { return static_cast<int>(procedure_.variables.size()); }
    bool is_variable(int place) const { return place < variables(); }
    int array_of(int place) const { return (place - variables()) / 2; }
    bool is_memory(int place) const { return (place - variables()) % 2 == 0; }

    // The places that statements may change. Arrays that exchange their elements (exchanges.h)
    // exchange their memory.
    std::set<int> written(const ir::procedure::Block& block) const;
    // The variables whose values before a block are read by it, or behind it, where `live` are.
    std::set<int> live_before(const ir::procedure::Block& block, std::set<int> live) const;
    // Those that are read where a loop's condition is asked, this time or later.
    std::set<int> live_in_loop(const ir::procedure::Statement& loop,
                               const std::set<int>& live_behind) const;
    // The same behind each statement of a block.
    std::vector<std::set<int>> live_behind_each(const ir::procedure::Block& block,
                                                std::set<int> live) const;

  private:
    std::set<int> live_before(const ir::procedure::Statement& statement, std::set<int> live) const;
    void add_reads(const ir::procedure::Statement& statement, std::set<int>& live) const;

    const ir::procedure::Procedure& procedure_;
};

// The block in which each local array lives: the innermost one that has all that mentions it, and
// allocates it before. Others live as long as the function. Arrays by way of which others exchange
// their elements live nowhere: these exchange their memory.
std::map<int, const ir::procedure::Block*> homes_of_arrays(
    const ir::procedure::Procedure& procedure);

}  // namespace composit::mlir
