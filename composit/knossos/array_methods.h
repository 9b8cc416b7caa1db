// Methods of arrays, and calls of functions with arrays that are named in other ways.
#pragma once

#include "composit/knossos/array_functions.h"
#include "composit/knossos/outside.h"

#include <optional>
#include <string>
#include <vector>

namespace composit::knossos {

// Finds the function of arrays that a call means.
struct ArrayMethods {
    ArrayFunctions& arrays;
    const Outside& outside;

    Value method(const ArrayRef& array, const std::string& name, std::vector<Value> arguments,
                 Named named);
    // A function of arrays; nothing for one that is not known.
    std::optional<Value> call(const Callee& function, std::vector<Value> arguments, Named named);

  private:
    Value function_of(const std::string& function, const ArrayRef& array,
                      std::vector<Value> arguments, Named named);
};

// append, extend, insert, pop, remove
bool changes_length(const std::string& method);

}  // namespace composit::knossos
