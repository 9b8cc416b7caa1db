// What stands left of `=`: names and elements, in tuples of such.
#pragma once

#include "composit/knossos/scope.h"
#include "composit/knossos/slices.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace composit::knossos {

// The parts of a value for the targets in a tuple.
struct Targets {
    using Assign = std::function<void(const SyntaxRef& target, const Value& part)>;

    Scope& scope;
    Slices& slices;

    // Calls `assign` with each target and its part, from the left.
    void spread(const SyntaxRef& target, const Value& value, const Assign& assign);
    // The variable that a target is; what else is one is refused.
    const std::string& name_of(const SyntaxRef& target) const;
    // The names of a target stand for the parts of an item, until `bound` is popped.
    void bind(const SyntaxRef& target, const Value& item);
};

// Whether an element of an array is among the targets.
bool has_elements(const Syntax& target);
// A tuple, or the parts of an array of as many as are known; nothing for others.
std::optional<std::vector<Value>> taken_apart(Slices& slices, const Value& value);

}  // namespace composit::knossos
