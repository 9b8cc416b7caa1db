// NumPy's functions that are made of others: std and var, concatenate and stack, flip, roll, inner,
// diagonals and triangles.
#pragma once

#include "composit/knossos/reductions.h"
#include "composit/knossos/slices.h"

#include <string>
#include <vector>

namespace composit::knossos {

class Composed {
  public:
    Composed(Code& code, Integers& integers, Storage& storage, Elements& elements, Slices& slices,
             Reductions& reductions)
        : code_(code),
          integers_(integers),
          storage_(storage),
          elements_(elements),
          slices_(slices),
          reductions_(reductions) {}

    // Whether `call` knows a function ("numpy.stack").
    static bool has(const std::string& function);
    // concatenate, stack, hstack, vstack, which take a tuple of arrays
    static bool is_join(const std::string& function);
    Value call(const std::string& function, const std::vector<Value>& arguments,
               const Named& named);

  private:
    using Given = std::vector<Value>;  // in the order of a function's parameters; nothing: left out

    Value variance(const Given& given);
    Value deviation(const Given& given);
    ArrayRef joined(const std::vector<ArrayRef>& parts, const Value& axis, bool is_new);
    Value sum(const Value& a, const Value& b) const;
    Value flipped(const Given& given);
    ArrayRef rolled(const Given& given);
    Value inner(const Given& given);
    ArrayRef diagonal(const ArrayRef& matrix, const Value& offset);
    ArrayRef diagonal_or_matrix(const Given& given);
    ArrayRef where(const char* symbol, const ArrayRef& matrix, int64_t offset);

    Code& code_;
    Integers& integers_;
    Storage& storage_;
    Elements& elements_;
    Slices& slices_;
    Reductions& reductions_;
};

}  // namespace composit::knossos
