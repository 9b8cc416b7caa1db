// Functions of numbers that kernels call: Python's, those of math and of NumPy, as rows of the
// table.
//
//   call_function(operators, "math.exp", {x}) is exp(x); call_function(operators, "min", {x, 0.0})
//   is select(0 < x, 0, x)
#pragma once

#include "composit/knossos/operators.h"

#include <optional>
#include <string>
#include <vector>

namespace composit::knossos {

// The function of values: "float", "math.exp", "numpy.exp", …; nothing where kernels cannot call
// it. Mismatch for values that it does not take.
std::optional<Value> call_function(const Operators& operators, const std::string& name,
                                   std::vector<Value> arguments);
// The same of one that there is.
Value function_of(const Operators& operators, const std::string& name,
                  std::vector<Value> arguments);
// The value, with the derivative zero.
Expr constant_of(const Expr& value);
// Refuses other numbers of arguments.
void check_count(const std::string& function, size_t given, std::initializer_list<size_t> counts);
// "exp" of "numpy.exp"
std::string last_name(const std::string& function);
// Whether there is such a function of NumPy, element by element.
bool is_elementwise(const std::string& function);

}  // namespace composit::knossos
