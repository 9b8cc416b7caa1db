// What one translation of a text finds out for the next one, which begins again with it.
#pragma once

#include "composit/knossos/syntax.h"

#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace composit::knossos {

// Of copies: the arrays that they are parts of, and whether those have changed since.
using State = std::map<int, std::map<int, bool>>;
// What holds where several ways meet.
State joined(const std::vector<State>& states);

// What the translation took for granted turned out otherwise: it begins again.
struct Restart : std::exception {
    const char* what() const noexcept override { return "the translation begins again"; }
};

// What a list holds in the end: elements, and how often each place appends at most.
struct GrowingList {
    using PlaceAndTurn = std::tuple<int, int, int>;

    bool is_empty = true;
    Kind kind = Kind::floating;
    std::vector<Value> shape = {};  // of elements that are arrays
    std::vector<std::pair<PlaceAndTurn, Value>> appends = {};
};

// Empty for the first translation.
struct Found {
    bool for_derivatives = false;  // functions of the library have their texts for derivatives
    bool has_texts_for_derivatives = false;  // and there are some
    bool has_arrays = false;                 // the procedure makes or takes some
    // By loops, counted from the first: what their iterations hand on.
    std::map<int, State> carried = {};
    NameSet floats = {};  // variables, and "return 0"
    NameSet copied = {};  // arguments that are copied first
    // By the number of the call, and the place in its text, that makes them.
    std::map<std::tuple<int, int, int>, std::shared_ptr<GrowingList>> lists = {};
    // Of calls that change elements, by their places: the names that stand around the function.
    std::map<Place, NameSet> changing_calls = {};
    // The dtypes of the numbers that calls return, by their numbers. The kernel has the number 0.
    std::map<int, std::vector<DType>> returned = {};

    // Throws Restart, where what was found out may change how loops are counted.
    [[noreturn]] void begin_again();
};

}  // namespace composit::knossos
