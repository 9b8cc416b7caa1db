// What reverse accumulation has to know of a procedure's statements: which variables an iteration
// reads of the one before, which loops count, and which arrays may be read again.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace composit::ir::procedure {

inline Expr integer(int64_t value) { return Expr::constant_integer(DType::int64, value); }
inline bool is_integer_constant(const Expr& x, int64_t value) {
    return x.op() == scalar::Op::constant && x.value() == static_cast<double>(value);
}
inline bool is_positive_zero(const Expr& x) {
    return is_integer_constant(x, 0) && !std::signbit(x.value());
}
inline bool is_variable(const Expr& x, int variable) {
    return x.op() == scalar::Op::argument && x.index() == variable;
}
Expr minus(const Expr& a, const Expr& b);

// x + 1 and x - 1, in short: of n - 1 and 0, n and -1.
Expr one_more(const Expr& x);
Expr one_less(const Expr& x);

inline bool is_write(const Statement& statement) {
    return statement.kind == Statement::Kind::store || statement.kind == Statement::Kind::add;
}
// Whether it gives a variable a value and does nothing else.
inline bool is_value(const Statement& statement) {
    return statement.kind == Statement::Kind::assign || statement.kind == Statement::Kind::load;
}
// Whether it gives a variable a value.
inline bool is_assignment(const Statement& statement) {
    return statement.kind == Statement::Kind::assign || statement.kind == Statement::Kind::load ||
           statement.kind == Statement::Kind::take;
}
// How many elements an array of the shape has.
Expr element_count(const std::vector<Expr>& shape);
// Of its variables and arrays.
std::set<std::string> names_in(const Procedure& procedure);
// As values, to replace some of them.
std::vector<Expr> all_variables(const Procedure& procedure);
// A call of a row of one operation as that operation. stop_gradient, which is none, stays: there is
// a derivative to be stopped, maybe. So do kernels (whose names have a point) and users' rows:
// their derivatives may be given ones, which the operation has not. gather.cpp
Expr plain_operation(const Expr& x);
// The variables that expressions read.
std::set<int> variables_in(const std::vector<Expr>& values);

// Replaces variables in all that a block computes and, if `assigns`, assigns.
void replace_variables(Block& block, const std::vector<Expr>& by, bool assigns);

// The block without early exits: `exit` says what ends it and by which statements it is replaced;
// what follows a branch with exits moves into its sides.
using Exit = std::function<std::optional<Block>(const Statement&)>;
Block structured(const Block& block, const Exit& exit);

// Whether a statement within, outside the loops within, satisfies the test.
bool has_own(const Block& block, Statement::Kind kind);
// Whether a statement anywhere in it leaves the function, a loop, or an iteration.
bool may_exit(const Block& block);
// Whether control may go on elsewhere than behind the statement.
bool may_go_elsewhere(const Statement& statement, bool is_in_loop = false);

// Whether a statement, however deep, reads, writes or makes the array.
bool mentions_array(const Block& block, int array);
bool mentions_array(const Statement& statement, int array);
// How often each variable is mentioned; how often it is assigned or loaded into.
std::map<int, int> mentions_in(const Procedure& procedure, const Block& block);
std::map<int, int> assignments_in(const Block& block);

// Whether values read one of the variables, as the two above give them.
bool reads_any(const std::vector<Expr>& values, const std::map<int, int>& variables);

// The variables that the block may read before it assigns them.
std::set<int> exposed_in(const Procedure& procedure, const Block& block);

// for (counter = begin; counter < end; counter += step), whose body neither changes the counter or
// the bound nor breaks.
struct Count {
    int counter = 0;
    Expr begin, end;
    int64_t step = 1;
};
std::optional<Count> count_of(const Statement& loop);
// The same of one that counts up or down by one.
std::optional<Count> count_by_one(const Statement& loop);
// The same of one that may break.
std::optional<Count> steps_of(const Statement& loop);

// for (counter = from; counter < to; ++counter) body
Statement counting_up(const Expr& counter, const Expr& from, const Expr& to, Block body,
                      const SourceLine& line);

// The integers that a loop's counter takes, whatever their order.
struct Range {
    int counter = -1;
    Expr low, high;  // from low, below high
};
std::optional<Range> range_of(const Statement& loop);
Range range_of(const Count& by_one);

// Which iteration of a counted loop runs, from 0; how often it runs. `begin` may stand for its own.
Expr trip_of(const Procedure& procedure, const Count& count, const Expr& begin);
Expr trips_of(const Procedure& procedure, const Count& count, const Expr& begin);

// from < 0 ? from + extent : from, as indices are written that may count from the end.
struct WrappedIndex {
    Expr from, extent;
};
std::optional<WrappedIndex> wrapped_index(const Expr& value);

// An index that is a loop's counter and a constant: the constant.
std::optional<int64_t> offset_from(int counter, const Expr& index);
// Whether two elements of an array are not the same one: their places on some axis differ by a
// constant.
bool are_apart(const std::vector<Expr>& a, const std::vector<Expr>& b);

// Where arrays stand in the text.
class ArrayUse {
  public:
    // `changing`: arrays that are no recurrences of any loop.
    explicit ArrayUse(const Procedure& procedure, std::set<int> changing = {});

    // The arrays whose elements change after a loop read them: the loop's iterations cannot be run
    // again as they are. Elements of earlier iterations may be read. NotSupported for arrays that
    // grow.
    std::set<int> changing() const;
    // Whether iterations of the loop read what earlier ones wrote: its elements are there already
    // when they run again.
    bool is_recurrence(const Statement& loop, int array) const;
    // Whether no element is stored to twice: by stores whose indices have the counters of all loops
    // between them and where the array is allocated, and that literals tell apart; or no store.
    bool is_written_once(int array) const;

  private:
    struct Mention {
        const Statement* statement;
        std::vector<const Statement*> loops;
        int order;
    };
    void walk(const Block& block);
    static bool reads_what_was_stored(const Block& block, size_t place);
    size_t depth_of(int array) const;
    static bool has_own_elements(const Mention& store, size_t depth);
    static bool lie_apart(const Mention& one, const Mention& other);
    bool is_stored_before(const Mention& load, const Mention& store, size_t depth) const;
    bool reads_earlier(const Statement& loop, int array) const;
    bool changes_what_was_read(int counter, int array) const;

    const Procedure& procedure_;
    std::set<int> changing_;
    std::vector<const Statement*> loops_;
    std::map<const Statement*, int> starts_;
    int order_ = 0;
    std::map<int, std::vector<Mention>> mentions_;
    std::map<int, std::vector<Mention>> own_reads_;  // of what the block stored before
};

}  // namespace composit::ir::procedure
