// NumPy's functions that go along an axis: cumsum, cumprod, diff, argmax, argmin, norm.
#pragma once

#include "composit/knossos/reductions.h"
#include "composit/knossos/slices.h"

#include <string>
#include <vector>

namespace composit::knossos {

class Accumulations {
  public:
    Accumulations(Code& code, Storage& storage, Elements& elements, Slices& slices,
                  Reductions& reductions)
        : code_(code),
          storage_(storage),
          elements_(elements),
          slices_(slices),
          reductions_(reductions) {}

    // Whether `call` knows a function ("numpy.cumsum").
    static bool has(const std::string& function);
    Value call(const std::string& function, const std::vector<Value>& arguments, Named named);

  private:
    ArrayRef accumulated(const std::string& function, const ArrayRef& array);
    ArrayRef differences(const ArrayRef& array);
    Value place(const std::string& function, const ArrayRef& array);
    Value norm_of(std::vector<Value> arguments, Named named);
    Value norm(const std::vector<Value>& shape, const Array::At& at);

    Code& code_;
    Storage& storage_;
    Elements& elements_;
    Slices& slices_;
    Reductions& reductions_;
};

}  // namespace composit::knossos
