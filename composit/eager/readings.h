// Which tensors a leaf held when recorded operations read it: its gradient is the sum over them.
#pragma once

#include "composit/ir/node.h"

#include <cstddef>
#include <vector>

namespace composit::eager {

// One thread at a time may use it.
class Readings {
  public:
    // An operation reads what the leaf holds now. Earlier tensors that nothing else refers to any
    // more are forgotten: no gradient can come from them.
    void note(const ir::Tensor& now) {
        if (!(now == last_)) change(now);
    }
    // Those that the leaf no longer holds, oldest first; `now` is what it holds.
    std::vector<ir::Tensor> before(const ir::Tensor& now) const;

  private:
    void change(const ir::Tensor& now);

    ir::Tensor last_;
    std::vector<ir::Tensor> earlier_;
    size_t limit_ = 4;  // of earlier ones, before they are looked through
};

// Those of `tensors` that one of `outputs` depends on, in order.
std::vector<ir::Tensor> reached(const std::vector<ir::Tensor>& outputs,
                                const std::vector<ir::Tensor>& tensors);

}  // namespace composit::eager
