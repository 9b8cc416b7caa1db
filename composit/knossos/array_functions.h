// All that writes a procedure with arrays: what the parts of this folder know, and NumPy's
// functions of arrays by their names.
//
//   Found found;
//   ArrayFunctions arrays(DType::float64, found);
//   const StoredRef x = arrays.storage.add_array("x", Kind::floating, {3}, Role::input);
//   const Value total = *arrays.call("numpy.sum", {x}, {});
//   arrays.code.out->statements is `total = 0; for (i = 0; i < 3; ++i) total += x[i]`
#pragma once

#include "composit/knossos/accumulations.h"
#include "composit/knossos/composed.h"
#include "composit/knossos/einsum.h"
#include "composit/knossos/makers.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace composit::knossos {

class ArrayFunctions {
  public:
    // `assigned`: the names that the text assigns, with how often in count_of_assignments.
    ArrayFunctions(DType dtype, Found& found, std::set<std::string> assigned = {},
                   std::map<std::string, int> count_of_assignments = {},
                   KnownFunction known = known_in_machine_numbers);
    ArrayFunctions(const ArrayFunctions&) = delete;
    ArrayFunctions& operator=(const ArrayFunctions&) = delete;

    // A function of arrays: "numpy.sum", "sum", "len", …; nothing for one that is not known.
    std::optional<Value> call(std::string function, std::vector<Value> arguments, Named named);
    // Whether a function makes an array of what is none.
    static bool makes_arrays(const std::string& function);
    // shape, ndim, size or T of an array.
    Value attribute(const ArrayRef& array, const std::string& name);
    // NumPy's operators of arrays, or of an array and a number, element by element.
    ArrayRef binary(const std::string& symbol, const Value& a, const Value& b);
    ArrayRef unary(const std::string& symbol, const Value& value);
    ArrayRef compare(const std::string& symbol, const Value& a, const Value& b);
    // The elements as numbers of another kind, as float(x), int(x) and bool(x) make them.
    ArrayRef in_kind(const ArrayRef& array, Kind kind);

    Operators operators;
    Code code;
    Integers integers;
    Sharing sharing;
    Storage storage;
    Elements elements;
    Slices slices;
    Makers makers;
    Reductions reductions;
    Accumulations accumulations;
    Composed composed;
    Einsum einsum;

  private:
    std::optional<Value> called(const std::string& function, const std::vector<Value>& given);
};

}  // namespace composit::knossos
