// Sums, products, extremes and means of elements, products of matrices.
#pragma once

#include "composit/knossos/elements.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace composit::knossos {

// Elements combined in order: all, or along a literal axis. Functions are "numpy.sum", and "sum",
// "max", "min" for Python's.
class Reductions {
  public:
    Reductions(Code& code, Integers& integers, Storage& storage, Elements& elements)
        : code_(code), integers_(integers), storage_(storage), elements_(elements) {}

    static bool has(const std::string& function);           // of NumPy's
    static bool is_of_truths(const std::string& function);  // any, all, count_nonzero

    // A reduction of an array, and an axis if there is one.
    Value call(const std::string& function, const std::vector<Value>& arguments,
               const Value& keepdims = false);
    // The elements combined, in order. `plain`: the array whose elements are stored.
    Value fold(const std::string& function, Kind kind, const std::vector<Value>& shape,
               const Array::At& at, const StoredRef& plain = {});
    // Where in an array of one axis the first element stands that no later one is better than.
    Expr place_of_best(const StoredRef& array,
                       const std::function<Value(const Value&, const Value&)>& is_better);
    // a @ b: sums over a's last axis and the first of a vector or matrix b.
    Value product(const Value& a, const Value& b);
    int literal_axis(const Value& axis, int rank) const;
    // How many elements an array of the extents has.
    Value size_of(const std::vector<Value>& extents) const;
    void expect_some(const std::vector<Value>& shape);

  private:
    Value reduced(const std::string& function, const std::vector<Value>& arguments);
    Value truths(const std::string& function, const std::vector<Value>& arguments);
    ArrayRef with_axes(const Value& made, const std::vector<Value>& arguments);
    Value extreme(const std::string& function, const StoredRef& array);
    ArrayRef sums_of_rows(const ArrayRef& a, const ArrayRef& b, std::vector<Value> shape);

    Code& code_;
    Integers& integers_;
    Storage& storage_;
    Elements& elements_;
};

}  // namespace composit::knossos
