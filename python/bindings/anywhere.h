// Where arrays lie that become constants.
#pragma once

#include "composit/ir/node.h"

#include <string_view>
#include <utility>

namespace composit::python {

// While one lives, arrays of this thread that become constants lie anywhere: they belong to an
// operation of composit's own, whose operands may lie on any device. Else they are a user's and lie
// on the cpu.
class ArraysLieAnywhere {
  public:
    ArraysLieAnywhere();
    ~ArraysLieAnywhere();
    ArraysLieAnywhere(const ArraysLieAnywhere&) = delete;
    ArraysLieAnywhere& operator=(const ArraysLieAnywhere&) = delete;

  private:
    bool before_;
};

ir::Tensor constant_of(ir::Array array, std::string_view name = {});

}  // namespace composit::python
