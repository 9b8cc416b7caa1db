// Assignments to names: of numbers, records, functions, several at once.
#pragma once

#include "composit/knossos/array_variables.h"
#include "composit/knossos/element_assignments.h"
#include "composit/knossos/lists.h"
#include "composit/knossos/targets.h"

#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// Gives each target its part of a value, all at once.
struct Assignments {
    ArrayFunctions& arrays;
    Scope& scope;
    Kinds& kinds;
    Expressions& expressions;
    Targets& targets;
    Lists& lists;
    ArrayVariables& array_variables;
    ElementAssignments& element_assignments;

    void do_assign(const SyntaxRef& statement);
    void do_annotated(const SyntaxRef& statement);
    void do_augmented(const SyntaxRef& statement);
    // target = value
    void assign(const SyntaxRef& target, const Value& value);

  private:
    using Pairs = std::vector<std::pair<std::string, Value>>;

    void assign_pairs(const SyntaxRef& target, const Pairs& pairs);
    void assign_function(const Syntax& target, const std::string& name, const Value& value);
    void check_structure(const Syntax& target, const std::string& name, const Value& value) const;
    void assign_leaves(const Pairs& leaves, const Syntax& target);
    void write(const std::string& name, const Expr& value, int line);
    // The value of `a = b = …`: computed once, before the first target is assigned.
    Value given_to_several(const std::vector<SyntaxRef>& targets, const Value& value);
    // Names and elements, `y[i], y[j] = y[j], y[i]`: from the left, of values that are known
    // before the first one is assigned.
    void assign_in_order(const SyntaxRef& target, const Value& value);
};

}  // namespace composit::knossos
