// One value that several paths give: that of a conditional expression, that of a call whose
// function returns in several places.
//
// Each path stores its value in the same variables and arrays. Only one of them runs.
#pragma once

#include "composit/knossos/kinds.h"
#include "composit/knossos/storage.h"

#include <memory>
#include <string>
#include <vector>

namespace composit::knossos {

class Joined;

// Makes the places of values that several paths give.
struct Paths {
    Code& code;
    Operators& operators;
    Scope& scope;
    Integers& integers;
    Sharing& sharing;
    Storage& storage;

    // The places of a value. `like` is that of one path, `kinds` are those of its leaves. Arrays
    // are allocated in `block`, before what its end is going to be; their extents are known there,
    // as they are made of variables below `known`.
    std::shared_ptr<Joined> join(const Syntax& part, const Value& like,
                                 const std::vector<Kind>& kinds, const std::string& wanted,
                                 const BlockRef& block, int known);
    // The kinds of numbers that hold the leaves of both values.
    std::vector<Kind> larger_kinds(const Syntax& part, const Value& a, const Value& b) const;
};

// The kind of a number, or of an array's elements.
Kind kind_of_leaf(const Value& leaf);

// The places of a value: a variable for each number, an array for each array.
class Joined {
  public:
    Joined(Paths& paths, const Syntax& part, Value like, const std::vector<Kind>& kinds,
           const std::string& wanted, BlockRef block, int known);

    // Refuses a value of another structure than the first one.
    void check(const Syntax& part, const Value& value) const;
    // Stores the arrays of a path's value, where the translation stands. Its numbers, which the
    // variables are to have.
    std::vector<Value> put(const Syntax& part, const Value& value);
    // Stores a path's value, where the translation stands.
    void assign(const Syntax& part, const Value& value);
    std::vector<Expr> variables() const;
    Value value() const;

    std::vector<Value> places;

  private:
    Value place(const Syntax& part, const Value& leaf, Kind kind, const std::string& wanted);
    Value extent(const Syntax& part, Value extent) const;
    bool is_known(const Value& extent) const;

    Paths& paths_;
    Value like_;
    BlockRef block_;
    int known_;
};

}  // namespace composit::knossos
