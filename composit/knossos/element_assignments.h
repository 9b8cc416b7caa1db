// Assignments to elements and parts of arrays, and operations in place.
#pragma once

#include "composit/knossos/array_functions.h"
#include "composit/knossos/call_stack.h"
#include "composit/knossos/subscripts.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// Changes elements of arrays that nobody else has.
struct ElementAssignments {
    ArrayFunctions& arrays;
    CallStack& stack;
    Expressions& expressions;
    Subscripts& subscripts;

    // array[index] = value
    void assign_element(const SyntaxRef& target, const Value& value);
    // array += …: its elements change, whatever names it has.
    void change_in_place(const StoredRef& stored, ArrayRef value, const Syntax& augmented);
    // array[index] += value
    void augment_element(const SyntaxRef& augmented, const std::string& symbol, const Value& value);
    // Refuses an operation in place whose results are of a larger kind than the array's elements:
    // NumPy's arrays keep their dtype.
    void check_holds(Kind kind, Kind made, const Syntax& augmented) const;

  private:
    using Given = std::vector<Subscript>;

    void assign_elements(const StoredRef& stored, const Given& given, const Value& value);
    // `is_apart`: no new element is one of another place of the array.
    void assign_part(const StoredRef& stored, const Given& given, const ArrayRef& part,
                     const Value& value, bool is_apart = false);
    ArrayRef values_for(const StoredRef& stored, const ArrayRef& part, const Value& value,
                        bool is_apart);
    // array[…] = (a, b): the numbers of a tuple, as elements of the one axis that is left.
    void assign_each(const StoredRef& stored, const Given& given, const Array& part,
                     const Tuple& value);
    Index element(const Stored& stored, const Given& given);
    // The indices of the array's elements from those of what is left of its axes.
    std::function<Index(const Index&)> places(const Stored& stored, const Given& given);
    std::pair<StoredRef, Given> target_of(const SyntaxRef& target);
    // The array that `a[i]` of `a[i][j] = …` is a row of, and i; another value and nothing.
    std::pair<Value, Given> element_holder(const SyntaxRef& part);
    // Refuses to change elements that others have, too: a caller, or another name.
    void check_changes(const Stored& stored, const std::string& wrong) const;
    void augment(const StoredRef& stored, const Given& given, const std::string& symbol,
                 const Value& value);
};

}  // namespace composit::knossos
