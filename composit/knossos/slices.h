// Elements, rows and slices of arrays: which elements a part has, and where.
//
//   slices.indexed(x, {Subscript::at(i), Subscript::whole()}) is x[i, :]
#pragma once

#include "composit/knossos/array.h"
#include "composit/knossos/integers.h"

#include <vector>

namespace composit::knossos {

// What stands between the brackets of an array for one axis.
struct Subscript {
    enum class Kind { place, whole, slice, new_axis };
    Kind kind = Kind::whole;
    Value place = {};                        // an index
    Value start = {}, stop = {}, step = {};  // of slices; nothing where they are left out

    static Subscript at(Value place) { return {Kind::place, std::move(place)}; }
    static Subscript whole() { return {}; }
    static Subscript slice(Value start, Value stop, Value step) {
        return {Kind::slice, {}, std::move(start), std::move(stop), std::move(step)};
    }
    static Subscript new_axis() { return {Kind::new_axis}; }
};

class Slices {
  public:
    Slices(Code& code, Integers& integers) : code_(code), integers_(integers) {}

    // array[given]: a number, or an array of the axes that are left.
    Value indexed(const ArrayRef& array, std::vector<Subscript> given);
    // array[place]
    Value row(const ArrayRef& array, const Value& place) {
        return indexed(array, {Subscript::at(place)});
    }

  private:
    // The first index, the step, and how many elements.
    struct Run {
        Value begin;
        int64_t step;
        Value count;
    };
    Run sliced(const Subscript& index, const Value& extent);
    Run between(const Subscript& index, int64_t step, const Value& extent);
    Value bound(const Value& value, const Value& extent);
    bool is_in_order(const Value& lower, const Value& upper) const;

    Code& code_;
    Integers& integers_;
};

}  // namespace composit::knossos
