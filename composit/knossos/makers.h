// NumPy's functions that make arrays of what is no array: zeros, full, eye, arange, linspace, array
// and their like.
#pragma once

#include "composit/knossos/elements.h"

#include <optional>
#include <string>
#include <vector>

namespace composit::knossos {

// Python's range, whose bounds may be computed.
struct Range {
    Value begin, end;
    int64_t step = 1;

    // Its integers, or how many there are, where the bounds are known.
    std::optional<std::vector<int64_t>> known() const;
    std::optional<int64_t> known_size() const;
};

class Makers {
  public:
    Makers(Code& code, Integers& integers, Sharing& sharing, Storage& storage, Elements& elements)
        : code_(code),
          integers_(integers),
          sharing_(sharing),
          storage_(storage),
          elements_(elements) {}

    // Whether `call` knows a function.
    static bool has(const std::string& function);
    // What the function ("numpy.zeros") makes, in the kind of numbers that `dtype` says.
    ArrayRef call(const std::string& function, std::vector<Value> arguments, Named named);
    ArrayRef constant(std::vector<Value> shape, Kind kind, double value) const;
    // The integers of a range.
    ArrayRef counted(const Range& of);
    // The integers of a range whose step is computed, and asserted not to be 0.
    ArrayRef stepping(const Value& begin, const Value& end, const Value& step);

  private:
    std::vector<Value> shape_of(const Value& given);
    ArrayRef full(const std::vector<Value>& given);
    ArrayRef identity(const std::vector<Value>& given);
    ArrayRef arange(const std::vector<Value>& given);
    ArrayRef linspace(const std::vector<Value>& given);
    ArrayRef array_of(const Value& given, bool shares);
    ArrayRef in_kind(ArrayRef made, Kind kind, const std::string& function);
    std::vector<Value> shape_of_parts(const Value& value, Kind& kind);
    void store_parts(const Stored& array, const Value& value, Index& place);

    Code& code_;
    Integers& integers_;
    Sharing& sharing_;
    Storage& storage_;
    Elements& elements_;
};

}  // namespace composit::knossos
