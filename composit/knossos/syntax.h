// The text of a function as a tree, and which names its parts mention: reads, assigns, or assigns
// elements of; which jumps they hold.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// What the analysis tells apart; all else is `other`.
enum class Form : unsigned char {
    name,
    attribute,
    subscript,
    function,  // def and lambda
    loop,      // for
    repeat,    // while
    call,
    augmented,  // v += 1
    leave,      // return
    stop,       // break
    go_on,      // continue
    other,
};

struct Syntax;
using SyntaxRef = std::shared_ptr<const Syntax>;
using Place = std::pair<int, int>;  // a line and a column

// A statement, an expression, or a part of one.
struct Syntax {
    Form form = Form::other;
    std::string name = {};   // of a name, an attribute or a function
    bool is_stored = false;  // it is assigned
    bool is_statement = false;
    Place place = {};
    const void* origin = nullptr;          // what tells it from other parts, in other trees, too
    std::vector<SyntaxRef> children = {};  // in the order of the text
    SyntaxRef target = {};                 // of loops and augmented assignments: among the children
    std::vector<SyntaxRef> otherwise = {};  // what runs behind a loop: among the children
};

// The names in a part of a text. What functions and lambdas inside assign is their own.
struct Mentioned {
    std::set<std::string> names;     // all
    std::set<std::string> assigned;  // those that are assigned
    std::set<std::string> elements;  // those of which elements are assigned, or that grow
    std::set<std::string> appended;  // those of lists that `v.append(…)` makes longer
};
Mentioned mentioned(const Syntax& part);

// The elements that calls change: those that are known to, by their places, with the names that
// the functions read of what stands around them.
std::set<std::string> elements_changed_by(const Syntax& part,
                                          const std::map<Place, std::set<std::string>>& calls);

// Whether a function reads or assigns a name outside a loop, apart from loops of that name.
bool is_used_outside(const Syntax& function, const Syntax& loop, const std::string& name);

// Whether a statement may be passed over, except by branches: it holds a jump or a return.
bool passes_over(const Syntax& statement);
// Whether a statement holds a jump of its own loop: a break, or a continue, too.
bool jumps(const Syntax& statement, bool by_break_alone);
// Whether it holds a return, or a break of its own loop.
bool leaves(const Syntax& statement);

// How often each name stands there to be assigned, or to be read.
std::map<std::string, int> counts_of_names(const Syntax& part, bool stored);
// The names that get other values in a function, not only other elements (`v += 1`).
std::set<std::string> rebound_in(const Syntax& function);

}  // namespace composit::knossos
