// np.einsum of literal subscripts, as loops.
#pragma once

#include "composit/knossos/reductions.h"

#include <string>
#include <vector>

namespace composit::knossos {

// Sums of products of elements, whose axes have letters: a number, or an array. "ij,jk->ik"
class Einsum {
  public:
    Einsum(Code& code, Integers& integers, Elements& elements, Reductions& reductions)
        : code_(code), integers_(integers), elements_(elements), reductions_(reductions) {}

    Value call(const std::string& subscripts, const std::vector<Value>& arguments);

  private:
    Code& code_;
    Integers& integers_;
    Elements& elements_;
    Reductions& reductions_;
};

}  // namespace composit::knossos
