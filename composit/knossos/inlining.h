// Functions that are called within a kernel and become part of it: those with arrays, those that
// call themselves to a depth that is known, and, within kernels of numbers, those of several
// results.
#pragma once

#include "composit/knossos/assignments.h"
#include "composit/knossos/raising.h"
#include "composit/knossos/returns.h"
#include "composit/knossos/sequences.h"
#include "composit/knossos/statements.h"

#include <map>
#include <string>
#include <vector>

namespace composit::knossos {

// Calls as statements.
struct Inlining {
    ArrayFunctions& arrays;
    Scope& scope;
    Found& found;
    CallStack& stack;
    Statements& statements;
    Sequences& sequences;
    Assignments& assignments;
    Raising& raising;
    Returns& returns;
    Mentions& mentions;

    // Whether the function is called by itself, directly or through others.
    bool calls_itself(const SourceRef& source) const;
    // Whether a function of numbers that another one calls becomes part of it: one that returns
    // several, as the function in C++ would be called for each. Within kernels with arrays calls
    // of functions that choose stay calls: those in C++ have no branches, and loops over them are
    // vectorised. What raises becomes part of these, as calls check nothing.
    bool becomes_statements(const Source& source) const;
    // The value of the call, whose statements stand before it. `inner`: the function is one that
    // is defined within the kernel, and reads what stands around it.
    Value inlined(const SyntaxRef& call, SourceRef source, const std::vector<Value>& arguments,
                  const InnerFunction* inner = nullptr);

  private:
    using Values = std::map<std::string, Value>;
    using Known = std::map<size_t, int64_t>;

    FrameRef frame_of(const SyntaxRef& call, const Source& source, const SyntaxRef& tree,
                      const Known& known, bool is_inner, const BlockRef& block);
    void run(const SyntaxRef& call, const SyntaxRef& tree, const FrameRef& frame);
    // The arguments that stand for values; others are assigned to variables.
    Values bound(const Syntax& call, const Syntax& tree, const std::vector<Value>& arguments);
    void check_depth(const Syntax& call, const Source& source, const Known& known) const;
    // A name for each argument and variable of the function that nothing here has: its own, where
    // it is free.
    std::map<std::string, std::string> renamed_here(const Source& source);
    Value argument_for(const Syntax& call, const Syntax& parameter, const Value& value);
    Value fitting_argument(const Syntax& call, const Structure& structure, const Value& value);
    // What an argument is in the function: of arrays the array itself, whose elements the function
    // may change.
    Value as_argument(const Value& value);
    Value value_of(const Source& source, const FrameRef& frame);
};

// The statements of a function, without its documentation.
Body statements_of(const Syntax& function);

}  // namespace composit::knossos
