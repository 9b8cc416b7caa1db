// Arrays as values: a number for each index, of which procedures store what they have to.
//
//   Array(Kind::floating, {3}, [](const Index& at) { return Value(1.0); }) is three ones
#pragma once

#include "composit/knossos/value.h"

#include <compare>
#include <functional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace composit::knossos {

// Elements along one axis of an array, wherever on the others they are: of two such lines elements
// k stand beside each other, and no others do.
struct Line {
    int array;
    int axis;
    int64_t begin;
    int64_t step;
    auto operator<=>(const Line&) const = default;
};

// All elements of an array, by its number, or those of a line.
using Elsewhere = std::set<std::variant<int, Line>>;
using Numbers = std::set<int>;

// What an array is beside its kind, shape and elements.
struct ArrayOrigin {
    Numbers reads = {};  // the arrays that it is computed from
    int lists = 0;       // of how many axes, the first ones, Python makes lists
    bool is_zero = false;
    Numbers parts_of = {};  // the arrays whose elements NumPy's array would share
    // Of the arrays that it reads those of which an element needs others than its own; lines where
    // these are elements of such. By default all.
    std::optional<Elsewhere> elsewhere = {};
};

// A value with axes. Its extents are integers or expressions over parameters.
class Array {
  public:
    using At = std::function<Value(const Index&)>;

    Array(Kind kind, std::vector<Value> shape, At at, ArrayOrigin origin = {});
    virtual ~Array() = default;

    int rank() const { return static_cast<int>(shape.size()); }
    std::string outline() const;  // "an array of 2 axes"
    // Whether an element needs others of the array of that number than the one that is stored in
    // its place, which is in a `line` of it; others beside that one do not matter.
    bool needs_others(int number, const std::optional<Line>& line = {}) const;

    Kind kind;
    std::vector<Value> shape;
    At at;  // one of its numbers
    Numbers reads;
    int lists;
    bool is_zero;
    Numbers parts_of;
    Elsewhere elsewhere;
};

// Mismatch where it has no axis.
const Value& first_extent(const Array& array);
const Value& last_extent(const Array& array);

using ArrayRef = std::shared_ptr<Array>;

// An argument or a local array.
class Stored : public Array {
  public:
    Stored(int number, std::string name, Kind kind, std::vector<Value> shape, At at,
           bool is_argument, int lists = 0);

    int number;
    std::string name;
    bool is_argument;
};

using StoredRef = std::shared_ptr<Stored>;

ArrayRef array(Kind kind, std::vector<Value> shape, Array::At at, ArrayOrigin origin = {});
// null where it is none that is stored
StoredRef stored(const Value& value);
// The arrays that any of them reads.
Numbers reads_of(const std::vector<ArrayRef>& arrays);

}  // namespace composit::knossos
