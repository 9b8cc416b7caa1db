// What is known of integers before a procedure runs: bounds, extents, places in arrays. What is not
// known is asserted by statements.
#pragma once

#include "composit/knossos/code.h"
#include "composit/knossos/terms.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// How many integers range(begin, end, step) has.
int64_t length_of_range(int64_t begin, int64_t end, int64_t step);

class Integers {
  public:
    // Of a counter: from which integer on, and below which extent it runs.
    struct Bounds {
        int64_t least;
        Value below;
    };

    explicit Integers(Code& code) : code_(code) {}

    // What a variable stands for that is assigned once, a number known before the run.
    Value resolved(Value value) const;
    // A sum or product with what its variables stand for.
    Value resolved_within(const Value& value) const;
    // An extent, in which parameters stand for the variables that are computed of them.
    Value in_parameters(const Value& value) const;
    // A number that an integer is known not to be below, or above.
    std::optional<int64_t> least(const Value& value) const;
    std::optional<int64_t> greatest(const Value& value) const;
    bool is_natural(const Value& value) const;  // known not to be negative
    // Whether a natural number is known to be below an extent.
    bool is_within(const Value& value, const Value& extent) const;
    // i + 1, of a counter of a loop: no greater than what that runs below.
    bool is_next_of_counter(const Expr& value) const;
    // What a comparison of a counter with an integer, "<" to "!=", says where it holds; what is no
    // counter is left alone.
    void narrow(int counter, const std::string& comparison, int64_t number);
    // Whether an integer is known before the procedure runs.
    bool is_of_parameters(const Value& value) const;

    // An index as Python means it: negative ones count from the end. Asserted, unless known, to lie
    // within.
    Value place(const Value& value, const Value& extent);
    // An index, or a bound of a slice, in a variable.
    Expr settled(const Value& value);
    // An index, or a bound of a slice, that counts from the end where it is negative.
    Expr from_front(const Expr& value, const Value& extent);
    // That two extents are the same: known, or asserted.
    void require_same(const Value& a, const Value& b);
    // The same of all axes, as far as both have some.
    void require_shape(const std::vector<Value>& a, const std::vector<Value>& b);
    // An extent that stays what it is: an integer, or made of parameters; or kept.
    Value extent(const Value& value);
    // A number as it is now.
    Value kept(const Value& value, const std::string& wanted);

    Value plus(const Value& a, const Value& b) const;
    // extent + by, as a variable and one constant.
    Value moved(const Value& extent, int64_t by) const;
    // begin + step * index
    Value along(const Value& index, const Value& begin, int64_t step) const;

    std::map<int, Value> aliases;  // of variables that are assigned once: what they are
    std::map<int, Bounds> bounds;
    std::map<int, Value> sizes;  // of variables for extents: what they were made of

  private:
    bool is_extent(int variable) const;  // of an argument
    Value settled_place(const Value& value, const Value& extent);
    void expect_place(const Expr& condition, const Expr& index, const Value& extent);

    Code& code_;
    std::map<int, Value> settled_as_;  // of variables for indices: what they are
    // Of a variable and an extent: the index that it was settled as, and the block that did.
    std::map<std::pair<int, std::string>, std::pair<Value, BlockRef>> places_;
};

}  // namespace composit::knossos
