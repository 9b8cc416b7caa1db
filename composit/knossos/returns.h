// Returns: the results of the kernel, and values of functions that become part of it.
#pragma once

#include "composit/knossos/call_stack.h"
#include "composit/knossos/expressions.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// The same numbers and arrays on every path. In functions that become part of the kernel, one
// return that is reached is the value of the call; several share their places.
struct Returns {
    Code& code;
    Operators& operators;
    Scope& scope;
    CallStack& stack;
    Integers& integers;
    Sharing& sharing;
    Storage& storage;
    Kinds& kinds;
    Expressions& expressions;
    Paths& paths;
    std::vector<std::pair<std::string, Kind>> results = {};
    Value structure = {};  // a value that is returned
    bool has_returned = false;
    size_t count_of_parts = 0;
    std::map<size_t, StoredRef> outputs = {};  // by their places among the results

    void do_return(const SyntaxRef& statement);
    // One of several returns of the call that is being translated.
    void leave_call(const Syntax& part, const Value& value);
    // What the annotation of the result says; null: there is none, or one that says nothing of a
    // function that becomes part of another.
    StructureRef declared_by(const Syntax& function, bool is_part = false) const;

  private:
    void return_numbers(const Syntax& statement, const std::vector<Value>& numbers,
                        bool has_arrays);
    std::pair<std::string, Kind> result(size_t i, size_t count, Kind kind) const;
    // The value as the output array of this place among the results.
    void return_array(size_t place, const ArrayRef& value);
    bool becomes_output(const StoredRef& value) const;
    void do_return_of_call(const SyntaxRef& statement);
    // What tells the results of this call from those of others.
    std::string key_of_result() const;
    // The kinds of numbers of a value that is the first of several that a call may return.
    std::vector<Kind> kinds_of_result(const Value& value) const;
    // A number in the type that the annotation says.
    Value as_declared(const Value& value) const;
    // Refuses a result of another structure than the annotation's; extents that it names are those
    // of arguments: known to be, or asserted. Numbers are converted elsewhere.
    void check_declared(const Syntax& part, const StructureRef& declared, const Value& value);
    void check_extents(const Structure& declared, const Array& value);
};

}  // namespace composit::knossos
