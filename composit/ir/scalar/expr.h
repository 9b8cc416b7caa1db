// The scalar language: what happens to one element.
//
// An Expr is an immutable, typed expression over the arguments of a scalar function. `let` is
// sharing: an Expr that is used twice is computed once. The language is pure; every member below
// has one exact meaning, so that the interpreter, generated C++ and exported C++ agree to the bit:
//
// clang-format off
//   constant, argument       leaves
//   add subtract multiply    integers wrap modulo 2^n; floats round to nearest even (IEEE 754);
//                            bool is not accepted
//   divide                   floats: IEEE. Integers: C's truncating division; the divisor must not
//                            be 0, nor the quotient overflow (the table's rows guard both)
//   remainder                integers: C's %, same precondition. Floats: fmod (exact)
//   negate absolute          floats: the sign bit only. Integers wrap
//   fma                      a * b + c with one rounding; floats only. The only fused operation
//   square_root floor ceil rint trunc copysign nextafter
//                            exact or correctly rounded, floats only; rint: half to even
//   equal not_equal less less_equal greater greater_equal
//                            -> bool; comparisons with NaN are false, except not_equal
//   bit_and bit_or bit_xor bit_not
//                            integers and bool (on bool: and, or, xor, not)
//   shift_left shift_right   integers; 0 <= count < width is required; right shifts of signed
//                            integers keep the sign
//   select                   c ? a : b; both branches may be computed
//   cast                     between real dtypes. To bool: x != 0. Float to integer: truncates; the
//                            value must fit (use `convert`, convert.h, where it may not). Integer
//                            to integer wraps. Otherwise rounds to nearest even
//   bitcast                  the same bits as another dtype of the same size
//   lookup                   table[index]: a constant table of this dtype; 0 <= index < length is
//                            required
//   call                     a row of the table, applied to operands
//   loop                     one value of a state that a step replaces while a condition holds
// clang-format on
//
// Subnormals are kept everywhere. Nothing is contracted, reassociated or assumed finite.
#pragma once

#include "composit/base/ref.h"
#include "composit/ir/dtype.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::ir::scalar {

enum class Op : uint8_t {
    constant,
    argument,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    negate,
    absolute,
    fma,
    square_root,
    floor,
    ceil,
    rint,
    trunc,
    copysign,
    nextafter,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    bit_and,
    bit_or,
    bit_xor,
    bit_not,
    shift_left,
    shift_right,
    select,
    cast,
    bitcast,
    lookup,
    call,
    loop,
};
inline constexpr int op_count = 35;

std::string_view name(Op op);
int arity_of(Op op);  // 0 for leaves, -1 for call and loop

struct Row;  // row.h
struct Loop;
class Expr;

// What is wrong with the dtypes of an operation's operands, of which there are as many as it takes:
// "add of float64, bool"; empty where nothing is.
std::string misfit(Op op, const std::vector<Expr>& operands);

// The bits of one element: low bytes of the first word (complex128 uses both).
using Bits = std::array<uint64_t, 2>;

// What an Expr points to. Made by Expr only; immutable.
struct ExprNode : Counted<ExprNode> {
    Op op = Op::constant;
    DType dtype = DType::float32;
    std::vector<Expr> operands;
    Bits bits{};  // constant: its value; argument, loop: its index; select: 1 of product_with
    std::string name;
    std::shared_ptr<const Row> row;                  // call
    std::shared_ptr<const std::vector<Bits>> table;  // lookup
    std::shared_ptr<const Loop> loop;                // loop

    ExprNode();
    ~ExprNode();
    static void release(const ExprNode* node);  // iterative: long chains free without recursion
};

class Expr {
  public:
    Expr() = default;

    // ----- leaves
    static Expr argument(int index, DType dtype, std::string name = "");
    static Expr constant(DType dtype,
                         double value);  // rounded to dtype; must be exact for integers
    static Expr constant_integer(DType dtype, int64_t value);
    static Expr constant_bits(DType dtype, Bits bits);

    // ----- operations; operand dtypes are checked, mistakes are internal errors unless a user's
    // function made them
    static Expr make(
        Op op,
        std::vector<Expr> operands);  // any but constant, argument, cast, bitcast, lookup, call
    static Expr cast(Expr x, DType dtype);  // x itself when it has that dtype already
    static Expr bitcast(Expr x, DType dtype);
    static Expr lookup(std::shared_ptr<const std::vector<Bits>> table, DType dtype, Expr index);
    // The row's type rule decides the result; operands are cast to the dtypes that it asks for.
    static Expr call(std::shared_ptr<const Row> row, std::vector<Expr> operands);

    // select(factor == 0, factor, product), which is told from a choice of the program's: a product
    // that is 0 where its factor is, even where the rest is infinite, and is derived as a product.
    static Expr product_with(const Expr& factor, const Expr& product);
    bool is_product_with(const Expr& factor) const;

    // Value `index` of the state that the loop leaves when it starts from `initial`.
    static Expr loop(std::shared_ptr<const Loop> loop, std::vector<Expr> initial, int index);

    // The same expression, with a name that generated code uses for it.
    [[nodiscard]] Expr named(std::string name) const;
    // The same operation (row, table, name, dtype) on other operands of the same dtypes.
    [[nodiscard]] Expr with_operands(std::vector<Expr> operands) const;

    explicit operator bool() const { return static_cast<bool>(node_); }
    Op op() const;
    DType dtype() const;
    const std::vector<Expr>& operands() const;
    const Expr& operand(int index) const { return operands()[static_cast<size_t>(index)]; }
    const std::string& name() const;
    int index() const;                                              // of an argument or loop
    Bits bits() const;                                              // of a constant
    double value() const;                                           // of a real constant, as double
    const std::shared_ptr<const Row>& row() const;                  // of a call
    const std::shared_ptr<const std::vector<Bits>>& table() const;  // of a lookup
    const std::shared_ptr<const Loop>& loop() const;                // of a loop
    const ExprNode* id() const { return node_.get(); }  // identity: equal ids are one `let`
    bool operator==(const Expr& other) const {
        return node_ == other.node_;
    }  // identity, not equality of values
  private:
    explicit Expr(const ExprNode* node) : node_(node) {}
    Ref<ExprNode> node_;
    friend struct ExprNode;
};

// While `condition` holds, and at most `limit` times, each value of the state becomes its step.
// Argument i of condition and steps is value i of the state; they read nothing else.
struct Loop {
    std::vector<Expr> state;  // the arguments
    Expr condition;           // bool
    std::vector<Expr> steps;  // one for each value, of its dtype
    int64_t limit = 0;
};

// The values of the final state. condition and step are called once, with the state as arguments;
// what they need of outside must be part of it. TypeError for a condition that is not bool, steps
// of other dtypes or number than the state, and for what is read from outside; ValueError for a
// negative limit.
//
//   loop({a, b}, [](auto& s) { return not_equal(s[1], 0); },
//        [](auto& s) { return std::vector{s[1], Expr::make(Op::remainder, {s[0], s[1]})}; }, 93)[0]
std::vector<Expr> loop(const std::vector<Expr>& initial,
                       const std::function<Expr(const std::vector<Expr>&)>& condition,
                       const std::function<std::vector<Expr>(const std::vector<Expr>&)>& step,
                       int64_t limit);

// Equal for loop expressions that are values of one run: the same loop on the same operands.
using LoopRun = std::pair<const Loop*, std::vector<const ExprNode*>>;
LoopRun run_of(const Expr& loop);

// C++ operators; a literal takes the dtype of the other operand.
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator+(const Expr& a, double b);
Expr operator-(const Expr& a, double b);
Expr operator*(const Expr& a, double b);
Expr operator/(const Expr& a, double b);
Expr operator+(double a, const Expr& b);
Expr operator-(double a, const Expr& b);
Expr operator*(double a, const Expr& b);
Expr operator/(double a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, const Expr& b);
Expr operator>=(const Expr& a, const Expr& b);
Expr operator<(const Expr& a, double b);
Expr operator<=(const Expr& a, double b);
Expr operator>(const Expr& a, double b);
Expr operator>=(const Expr& a, double b);
Expr operator&(const Expr& a, const Expr& b);
Expr operator|(const Expr& a, const Expr& b);
Expr operator^(const Expr& a, const Expr& b);
Expr operator~(const Expr& a);
Expr operator<<(const Expr& a, int count);
Expr operator>>(const Expr& a, int count);
Expr equal(const Expr& a, const Expr& b);
Expr not_equal(const Expr& a, const Expr& b);
Expr equal(const Expr& a, double b);
Expr not_equal(const Expr& a, double b);
Expr select(const Expr& condition, const Expr& a, const Expr& b);
Expr select(const Expr& condition, const Expr& a, double b);
Expr select(const Expr& condition, double a, const Expr& b);
Expr fma(const Expr& a, const Expr& b, const Expr& c);
Expr fma(const Expr& a, const Expr& b, double c);
Expr fma(const Expr& a, double b, const Expr& c);
Expr fma(const Expr& a, double b, double c);
Expr absolute(const Expr& x);
Expr square_root(const Expr& x);
Expr floor(const Expr& x);
Expr ceil(const Expr& x);
Expr rint(const Expr& x);
Expr trunc(const Expr& x);
Expr copysign(const Expr& magnitude, const Expr& sign);

// All expressions that `results` reach, operands before their users, each once. Iterative.
std::vector<Expr> topological_order(const std::vector<Expr>& results);

// The same, and all expressions of the loops among them, at any depth, in no special order.
std::vector<Expr> all_expressions(const std::vector<Expr>& results);
// Whether the value, or a function that it calls, has a loop: nobody knows how long it takes.
bool reaches_loop(const Expr& value);

// `results` with argument i replaced by replacements[i] (dtypes must agree). Shares what does not
// change. Iterative.
std::vector<Expr> substitute(const std::vector<Expr>& results,
                             const std::vector<Expr>& replacements);

// Structural hash and equality (names ignored, sharing not seen), for sharing identical kernels and
// expressions.
uint64_t structural_hash(const std::vector<Expr>& results);
bool structurally_equal(const std::vector<Expr>& a, const std::vector<Expr>& b);
uint64_t hash_of_table(const std::vector<Bits>& table);

}  // namespace composit::ir::scalar
