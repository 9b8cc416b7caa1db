// Loops of kernels: for, while, their else, break and continue.
#pragma once

#include "composit/knossos/assignments.h"
#include "composit/knossos/sequences.h"
#include "composit/knossos/statements.h"

#include <functional>
#include <optional>
#include <string>

namespace composit::knossos {

// Loops over ranges and arrays, and over tuples, which are written out.
struct Loops {
    ArrayFunctions& arrays;
    Scope& scope;
    Found& found;
    Expressions& expressions;
    Statements& statements;
    Lists& lists;
    Targets& targets;
    Sequences& sequences;
    Assignments& assignments;
    Mentions& mentions;
    // The variable that says whether the next loop was left; the last loop that had one.
    std::optional<int> flag = {};
    LoopRef left = {};

    void do_loop(const SyntaxRef& statement);  // for and while
    void do_break(const SyntaxRef& statement);
    void do_continue(const SyntaxRef& statement);

  private:
    struct BodyOptions {
        bool runs_for_ever = false;
        bool is_certain = false;
        SyntaxRef test = {};               // what is read before each iteration
        std::function<void()> begin = {};  // adds what an iteration begins with
        bool runs = false;                 // there is one
        std::optional<Value> trips = {};   // how many there are
    };
    // The counter of a loop over a range.
    struct Counter {
        std::string name;  // in the text
        std::string own;   // of the variable that counts
        bool is_own;       // both are one
        Expr here;
        Value end;
    };

    void loop(const SyntaxRef& statement);
    void run_while(const Syntax& statement);
    void run_for(const SyntaxRef& statement);
    std::vector<Statement> body_of(const Body& body, const BodyOptions& options);
    void end_body(const Loop& loop, const BodyOptions& options, NameSet before);
    // The names that stand for numbers, which have values wherever they are read behind a loop
    // that runs.
    NameSet numbers_among(const NameSet& names) const;
    // Whether a name of a loop's head means something in the loop only, and does not change.
    bool is_own(const std::string& name, const SyntaxRef& loop, const Changes& changes);
    bool is_used_outside_of(const SyntaxRef& loop, const std::string& name) const;
    void over_range(const SyntaxRef& loop, const Range& items);
    Counter counter_of(const SyntaxRef& loop, const Range& items);
    void bound_counter(const Counter& counter, const Range& items);
    Statement set_counter(const Counter& counter, const Value& value, int line) const;
    Expr condition_of(const Counter& counter, bool is_upwards) const;
    // How often a loop over a range runs.
    Value trips_of(const Range& items);
    // Variables that a loop which runs is the first to assign, and that may be read behind it:
    // what they hold before it does not matter.
    void begin_with_values(const NameSet& names, int line);
    void over_array(const SyntaxRef& loop, const ArrayRef& items);
    // The name of `for i, v in enumerate(…)` that counts from 0, where it can be the counter of
    // the loop; empty: there is none.
    std::string enumerating(const SyntaxRef& loop);
    // The body once for each value of a tuple.
    void written_out(const SyntaxRef& loop, const Items& items, const Changes& changes);
    // The bound as it was before the loop.
    Value kept(const Expr& end, const NameSet& changed);
    // The else of a loop that `flag` says was left.
    void otherwise(const Syntax& statement, const std::string& flag_name);
};

}  // namespace composit::knossos
