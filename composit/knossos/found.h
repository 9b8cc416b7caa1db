// What one translation of a text finds out for the next one, which begins again with it.
#pragma once

#include <exception>
#include <map>
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

// Empty for the first translation.
struct Found {
    bool for_derivatives = false;  // functions of the library have their texts for derivatives
    bool has_texts_for_derivatives = false;  // and there are some
    bool has_arrays = false;                 // the procedure makes or takes some
    // By loops, counted from the first: what their iterations hand on.
    std::map<int, State> carried = {};

    // Throws Restart, where what was found out may change how loops are counted.
    [[noreturn]] void begin_again();
};

}  // namespace composit::knossos
