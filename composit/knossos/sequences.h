// What loops and comprehensions go over: ranges, tuples, arrays, enumerate, zip.
#pragma once

#include "composit/knossos/array_functions.h"
#include "composit/knossos/expressions.h"
#include "composit/knossos/mentions.h"

#include <string>
#include <variant>
#include <vector>

namespace composit::knossos {

// A range; values that are known one by one; or an array, whose `at({i})` is an element, or a tuple
// of such.
using Items = std::vector<Value>;
using Sequence = std::variant<Range, Items, ArrayRef>;

struct Sequences {
    ArrayFunctions& arrays;
    Scope& scope;
    Expressions& expressions;
    Mentions& mentions;

    // What a loop goes over, as it is before the loop.
    Sequence sequence(const SyntaxRef& part, const Changes& changes = {});
    // A range by its integers where they are known, if that is wanted, else as an array: loops
    // over ranges are not written out.
    Sequence items(const Sequence& found, bool is_known = true);
    // What is computed for several reads, once: as it is before what changes it.
    Value as_before(const Value& value, const Changes& changes, const std::string& wanted = "item");
    // The parts of a tuple by an index that is not known.
    ArrayRef choosing(Items items, const Changes& changes);

  private:
    Sequence of_value(const SyntaxRef& part, const Changes& changes, const NameSet& changed);
    ArrayRef rows(const ArrayRef& array);
    Sequence range_of(const Syntax& call);
    Sequence enumerated(const Syntax& call, const Changes& changes);
    Sequence zipped(const Syntax& call, const Changes& changes);
    ArrayRef zipped_arrays(std::vector<ArrayRef> arrays, bool is_strict);
    Value shorter(Value a, Value b);
    Sequence reversed(const Syntax& call, const Changes& changes);
    Range reversed_range(const Range& of) const;
    Value from_end(const Value& extent, const Value& index) const;
    ArrayRef array_in_loop(const ArrayRef& array, const Changes& changes);
    // The arrays that have these names.
    Numbers numbers_of(const NameSet& names) const;
};

}  // namespace composit::knossos
