// Errors of functions that are made of others: they name the one that was called.
#pragma once

#include "composit/base/error.h"

#include <string_view>

namespace composit {

// For handlers of errors: throws the error again as one of `function`, of the same class.
[[noreturn]] void rethrow_as(std::string_view function, const Error& error);

// What `build` returns. An error `inner: what is wrong` of a function within becomes `function:
// what is wrong`, and one that begins with no function's name gets this one. What a user's own
// function raises is left alone: do not call it within.
//
//   Tensor trace(const Tensor& x) {
//       return errors_as("trace", [&] { return sum(diagonal(x), -1); });
//   }
template <class Build>
auto errors_as(std::string_view function, const Build& build) {
    try {
        return build();
    } catch (const Error& error) {
        rethrow_as(function, error);
    }
}

}  // namespace composit
