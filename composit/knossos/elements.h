// Functions of numbers over the elements of arrays, under NumPy's broadcasting.
#pragma once

#include "composit/knossos/functions.h"
#include "composit/knossos/storage.h"

#include <functional>
#include <string>
#include <vector>

namespace composit::knossos {

// Makes arrays whose elements are computed where they are read.
class Elements {
  public:
    using Function = std::function<Value(const std::vector<Value>& numbers)>;

    Elements(Code& code, Integers& integers, Storage& storage)
        : code_(code), integers_(integers), storage_(storage) {}

    // The function of numbers over the elements.
    ArrayRef elementwise(Function function, std::vector<Value> values);
    // The same of one that has a name (functions.h).
    ArrayRef of_function(const std::string& function, const std::vector<Value>& arguments);
    // An array of which each element is asked for several times: one whose elements loops or
    // functions compute is stored.
    ArrayRef read_often(const ArrayRef& array);

  private:
    std::vector<Value> broadcast(const std::vector<Value>& values);
    Value computed_once(const Value& value);

    Code& code_;
    Integers& integers_;
    Storage& storage_;
};

}  // namespace composit::knossos
