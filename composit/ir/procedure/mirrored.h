// An iteration whose two counters are exchanged: what it computes that is there already.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::ir::procedure {

// A value or its negative. One that is `is_rough` may have the other sign where it is 0: x - y is 0
// where -(y - x) is -0.
struct SignedValue {
    Expr value;
    bool is_negative = false;
    bool is_rough = false;
};

// The value without its sign.
SignedValue signed_value(const Expr& value);

// Computes statements of an iteration (i, j) for (j, i), of variables that are given a value once.
// What the first one or the second has computed already is read, where it is the negative, too:
// x[i] - x[j] is -d of d = x[j] - x[i], and the square of that d * d. Bits are those of the
// statements with exchanged counters, but for signs of zeros in rough values.
class Mirrored {
  public:
    Mirrored(Procedure& procedure, int one, int other);

    // What the iteration (i, j) computes.
    void know(const Statement& statement);
    void know(const std::vector<Expr>& values);

    // The statement for (j, i), which gives a variable a value, if it is not there already.
    void compute(const Statement& statement, Block& out);
    // A value for (j, i). What it needs beside is computed in `out`.
    SignedValue value(const Expr& value, Block& out);
    // To the bit, zeros too.
    std::vector<Expr> exact(const std::vector<Expr>& values, Block& out);

  private:
    SignedValue made_of(const Expr& expr) const;
    SignedValue sum_of(const SignedValue& a, const SignedValue& b) const;
    SignedValue product_of(const SignedValue& a, const SignedValue& b) const;
    Expr with_sign(const SignedValue& x) const;
    Expr exact_of(const Expr& expr, Block& out);
    Expr exact_variable(int variable, Block& out);
    Expr read(const Statement& load, const std::vector<Expr>& index, Block& out);
    const Expr* found(const Expr& expr) const;
    Expr or_found(const Expr& expr) const;
    Expr named(int like, const Expr& value, const SourceLine& line, Block& out);

    Procedure& p_;
    int one_, other_;
    std::map<int, Statement> given_;       // by variable, what gives it its value
    std::map<int, SignedValue> mirrored_;  // what variables are for (j, i)
    std::map<int, Expr> exact_;
    // Expressions by their hash, and what has their values.
    std::unordered_map<uint64_t, std::vector<std::pair<Expr, Expr>>> known_;
    std::vector<Statement> loads_;
};

// Where x / b is computed in the block, too, a * x / b is a * (x / b): one quotient for two. Both
// are of derivatives.
void share_quotients(Procedure& procedure, Block& block);

}  // namespace composit::ir::procedure
