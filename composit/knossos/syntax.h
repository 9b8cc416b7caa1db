// The text of a function as a tree, and which names its parts mention: reads, assigns, or assigns
// elements of; which jumps they hold.
#pragma once

#include "composit/knossos/value.h"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// What a part of a text is.
enum class Form : uint8_t {
    // expressions
    constant,
    name,
    attribute,
    subscript,
    slice,
    tuple,
    list,
    starred,            // *x
    unary,              // -x, not x
    binary,             // x + y
    both,               // x and y, x or y
    comparison,         // x < y <= z
    choice,             // x if c else y
    call,               // f(x, y=z)
    lambda,             // lambda x: y
    list_of_each,       // [x for …]
    generator_of_each,  // (x for …)
    joined_text,        // f"…"
    formatted,          // {x} within such a text
    // parts of expressions and of heads
    keyword,        // y=x in a call
    comprehension,  // for x in y if c
    parameter,      // x: float
    // statements
    function,   // def
    assign,     // v = w = x
    annotated,  // v: float = x
    augmented,  // v += x
    branch,     // if
    loop,       // for
    repeat,     // while
    leave,      // return
    stop,       // break
    go_on,      // continue
    pass,
    expression,  // x on a line of its own
    raise,
    assertion,
    other,  // what kernels never hold
};

// What a part is to the one around it.
enum class Field : uint8_t {
    part,
    value,
    target,
    test,
    body,
    otherwise,  // what runs behind a loop or where a test fails
    left,
    right,
    element,
    function,
    argument,
    keyword,
    iterated,
    generator,
    index,
    lower,
    upper,
    step,
    parameter,
    other_parameter,  // *x, **x, those by position or by name only
    initial,          // the default of a parameter
    annotation,
    result,  // the annotation of what a function returns
    decorator,
    message,
    error,
    cause,
    format,
};

struct Syntax;
using SyntaxRef = std::shared_ptr<const Syntax>;
using Place = std::pair<int, int>;  // a line and a column
using NameSet = std::set<std::string>;

struct Child {
    Child(SyntaxRef syntax, Field field = Field::part) : syntax(std::move(syntax)), field(field) {}
    SyntaxRef syntax;
    Field field;
};

// A statement, an expression, or a part of one.
struct Syntax {
    Form form = Form::other;
    // Of a name, an attribute, a function, a parameter or an argument by name; the operator of an
    // operation: "+", "not", "and".
    std::string name = {};
    std::vector<std::string> comparisons = {};  // "<", "is not"
    std::string text = {};     // of constants, texts with values and `other`: as it is written
    std::string letters = {};  // of a constant that is a text
    bool is_text = false;
    Value number = {};       // of a constant: nothing for one that is no number
    bool is_none = false;    // the constant None
    bool is_stored = false;  // it is assigned
    bool is_statement = false;
    Place place = {};
    // What the language whose text it is knows: the object of a constant, the tree of an
    // annotation.
    std::shared_ptr<const Other> outer = {};
    std::vector<Child> children = {};  // in the order of the language's tree

    int line() const { return place.first; }
    // The first part in a field; null: there is none.
    const SyntaxRef& at(Field field) const;
    std::vector<SyntaxRef> all(Field field) const;
};

// ----- parts that translations make

SyntaxRef name_at(const std::string& name, Place place);
// `lambda x: y` as `def (x): return y`.
SyntaxRef as_definition(const Syntax& lambda);
// The part with all its parts, which stand in one place.
SyntaxRef placed(const Syntax& part, Place place);
// A function whose arguments and variables have other names; those of functions inside, which they
// have for themselves, stay.
SyntaxRef renamed(const Syntax& function, const std::map<std::string, std::string>& names);

// ----- what a text mentions

// All parts, the nearest first, level by level.
std::vector<const Syntax*> parts_by_level(const Syntax& part);
bool holds(const Syntax& part, std::initializer_list<Form> forms);

// The names in a part of a text. What functions and lambdas inside assign is their own.
struct Mentioned {
    NameSet names;     // all
    NameSet assigned;  // those that are assigned
    NameSet elements;  // those of which elements are assigned, or that grow
    NameSet appended;  // those of lists that `v.append(…)` makes longer
};
Mentioned mentioned(const Syntax& part);

// The elements that calls change: those that are known to, by their places, with the names that
// the functions read of what stands around them.
NameSet elements_changed_by(const Syntax& part, const std::map<Place, NameSet>& calls);

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
NameSet rebound_in(const Syntax& function);

}  // namespace composit::knossos
