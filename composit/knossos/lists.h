// Lists that grow by `append`: an array of as many elements as loops can append, and a counter.
//
// How many those are, and of which kind, is known when the places have been met that append: the
// next run makes the array with it.
#pragma once

#include "composit/knossos/call_stack.h"
#include "composit/knossos/expressions.h"
#include "composit/knossos/makers.h"
#include "composit/knossos/mentions.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// Lengths of lists are known until a branch or loop leaves open how often it appends.
struct Lists {
    using Lengths = std::map<int, Value>;  // by arrays
    struct Counts {
        Lengths lengths;
        // How many elements the iteration so far, of the loop around, has appended.
        Lengths appended;
    };
    // The lists that an iteration appends to, and what is known before the loop.
    struct BeginOfLoop {
        std::vector<int> numbers;
        Counts before;
    };

    Code& code;
    Operators& operators;
    Scope& scope;
    Found& found;
    CallStack& stack;
    Integers& integers;
    Storage& storage;
    Makers& makers;
    Expressions& expressions;
    Mentions& mentions;
    Counts counts = {};
    // Variables that hold how many elements there are, where nothing has been appended since.
    std::map<int, std::pair<Value, BlockRef>> sizes = {};
    // How often places were translated: loops over tuples.
    std::map<std::pair<const GrowingList*, Place>, int> met = {};

    // Whether a value that a name is assigned is a list to which the text appends.
    bool grows(const std::string& name, const Value& value) const;
    // name = [value, …]
    void begin(const SyntaxRef& target, const std::string& name, const Tuple& value);
    // The list that `v.append(x)` appends to; null for other calls.
    std::shared_ptr<const ListOf> list_of(const SyntaxRef& part) const;
    // v.append(x)
    void append(const SyntaxRef& call, const ListOf& to);
    // The list as it is here.
    Value value(const ListOf& of);

    // ----- ways through the function
    void begin_again_with(Counts counts);
    // Keeps what is known on another way, too.
    void join(const Counts& other);
    BeginOfLoop begin_loop(const Body& body);
    // `is_whole`: each iteration runs to its end.
    void end_loop(const BeginOfLoop& begin, const std::optional<Value>& trips, bool is_whole);

  private:
    Value how_often(const Syntax& call, const std::string& name, const ListOf& to);
    void check(GrowingList& known, const Syntax& part, const std::string& name,
               const Value& element);
    Value element(const Value& value);
    void store(const StoredRef& stored, const Value& place, const Value& value);
    Value times(const Value& a, const Value& b) const;
    Value sum(const Value& a, const Value& b) const;
};

}  // namespace composit::knossos
