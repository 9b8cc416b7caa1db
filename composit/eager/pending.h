// The living cells, and those among them whose values nobody has looked at.
#pragma once

#include "composit/eager/cell.h"

#include <functional>
#include <mutex>
#include <vector>

namespace composit::eager {

// Whether a value can be computed and is not known: it depends on no placeholder, and is no
// constant.
bool may_be_looked_at(const Tensor& tensor);

// Lists through the cells, which cost no memory and find each in no time. Used by any thread.
class Pending {
  public:
    // A cell holds something new from now on. One whose value is there, or can never be, is left
    // out.
    void put(const Cell& cell, Tensor tensor);
    void enter(const Cell& cell);  // it lives from now on
    void remove(const Cell& cell);
    std::vector<Ref<const Cell>> living() const;
    // What the newest `most` of them hold. None of them stays.
    std::vector<Tensor> take(size_t most);
    std::vector<Tensor> newest(size_t most) const;  // the same, and all stay

  private:
    void unlink(const Cell& cell);

    mutable std::mutex mutex_;
    const Cell* newest_ = nullptr;
    const Cell* any_ = nullptr;  // of all
};

Pending& pending();

// Goes through the nodes that have to be computed so that the tensors are known, each once. False
// as soon as `visit` says it.
bool each_unknown(const std::vector<Tensor>& tensors,
                  const std::function<bool(const ir::Node&)>& visit);

// As many cells as a step of a program may leave behind.
inline constexpr size_t most_pending = 256;

}  // namespace composit::eager
