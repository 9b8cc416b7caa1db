// The table of live LazyTensor objects, by the node and output that each stands for.
#pragma once

#include "composit/ir/node.h"

#include <cstddef>
#include <vector>

namespace composit::python {

struct LazyTensor;  // cell.h

// Open addressing with linear probing: an entry costs neither memory of its own nor a division.
// Guarded by the interpreter's lock.
class LiveObjects {
  public:
    // Null for none.
    LazyTensor* find(const ir::Node* node, int index) const;
    // In place of the one that had its key (key_node, key_index).
    void enter(LazyTensor* object);
    // If it is still there.
    void remove(const LazyTensor* object);

  private:
    size_t home_of(const ir::Node* node, int index) const;
    // The slot of the key, or the free one where it would be.
    size_t slot_of(const ir::Node* node, int index) const;
    void grow();

    std::vector<LazyTensor*> slots_ = std::vector<LazyTensor*>(64);  // a power of two of them
    size_t count_ = 0;
};

}  // namespace composit::python
