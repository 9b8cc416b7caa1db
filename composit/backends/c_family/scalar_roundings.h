// Products that a compiler may fuse with a sum around them.
//
// g++ from 12 on makes one multiply-add of two lanes a * b - c, d * e + f that are neighbours in a
// vector, in spite of -ffp-contract=off, and so rounds once in place of twice. Behind `rounded` it
// does not see the product. The lanes need a difference, so that a sum's products are left alone.
//
// It also leaves out both conversions of double(float(x)) where it makes lanes of a vector of two
// such neighbours, with -O2 alone: behind `narrowed` it does not see that they belong together.
#pragma once

#include "composit/backends/c_family/procedure_intervals.h"
#include "composit/ir/scalar/expr.h"

#include <map>
#include <set>
#include <unordered_map>

namespace composit::c_family {

// What a compiler may know of a value: that it is a product, something negated (it makes a
// difference of a sum with that), a constant.
struct Shape {
    bool is_product = false, is_negated = false, is_constant = false;
    bool is_narrowed = false;  // to float32 from float64
};

// Numbers of arguments that may be such, and between which numbers integers lie; those that are
// computed where they are known, and so come out of no memory.
struct Roundings {
    std::set<int> products, negated, constants;
    std::map<int, Interval> integers = {};
    std::set<int> computed = {};
    std::set<int> rounded = {};  // variables that are rounded where they are computed
};

class Fusing {
  public:
    explicit Fusing(const Roundings& of_arguments) : arguments_(of_arguments) {}

    // What the value may be, however it is written.
    Shape shape_of(const ir::scalar::Expr& value);

    // Whether operand i of a sum, a difference or a call is to be rounded before.
    bool is_rounded(const ir::scalar::Expr& value, size_t i);
    // Whether operand i of a conversion or a call is to be `narrowed` before.
    bool is_narrowed(const ir::scalar::Expr& value, size_t i);

  private:
    Shape computed(const ir::scalar::Expr& value);

    const Roundings& arguments_;
    std::unordered_map<const ir::scalar::ExprNode*, Shape> known_;
};

}  // namespace composit::c_family
