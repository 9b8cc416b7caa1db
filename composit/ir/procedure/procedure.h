// Procedures: scalar functions written as statements, as a person writes them.
//
// A procedure has typed variables, of which the first are its parameters, and statements whose
// expressions are of the scalar language, over the variables: argument i is variable i. Nothing is
// lost of what was written: branches stay branches, loops loops, and each statement knows its line,
// so that the printer can write what a colleague would have written. What is to run over arrays is
// flattened into expressions without statements, which mean the same to the bit.
//
// Procedures may hold arrays, too: inputs, outputs and local ones, whose elements only statements
// read and write (load, store, add), so that expressions stay pure. Such procedures are not
// flattened; they run as compiled code.
//
//   relu(x): if (x < 0) return 0; return x
//   Procedure{.name = "relu", .variables = {{"x", DType::float64}}, .parameters = 1,
//             .results = {{"value", DType::float64}},
//             .body = {Statement::branch(x < 0.0, {Statement::leave({zero})}, {}),
//                      Statement::leave({x})}}
#pragma once

#include "composit/ir/procedure/source_line.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace composit::ir::procedure {

using scalar::Expr;

// A parameter, a variable or a result.
struct Variable {
    std::string name;
    DType dtype = DType::float64;
};

// An array, in row-major order. Of inputs and outputs the extents depend on parameters only.
struct ArrayVariable {
    enum class Role : uint8_t { input, output, local };
    std::string name;
    DType dtype = DType::float64;
    std::vector<Expr> shape;  // int64, over variables
    Role role = Role::local;
    bool grows = false;  // of no elements when it is allocated; `append` adds them, `take` takes
    bool is_streamed = false;  // a loop goes through it once: its rows are fetched ahead
};

// What an assertion says, in words: who wrote the procedure knows what an index or an extent is of.
struct Claim {
    // IndexError, ValueError, …
    enum class Kind : uint8_t {
        index,
        value,
        assertion,
        type,
        zero_division,
        overflow,
        runtime,
        linear_algebra,
    };
    Kind kind = Kind::assertion;
    std::string text;          // "index {} lies outside of an axis of size {}, in `x[i]`. …"
    std::vector<Expr> values;  // for each "{}", in order
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
    enum class Kind : uint8_t {
        assign,    // variable = values[0]
        branch,    // if (values[0]) body else otherwise
        loop,      // first; while (values[0]) { body; then next }
        stop,      // leaves the loop around it
        go_on,     // goes on with `next` of the loop around it
        leave,     // the procedure's results are `values`
        expect,    // values[0] holds: an assertion, unless NDEBUG is defined
        load,      // variable = array[index]
        store,     // array[index] = values[0]
        add,       // array[index] += values[0]
        allocate,  // array has its shape; its elements are 0 if `is_zeroed`, else not yet written
        append,    // the element behind the last one of array is values[0]
        take,      // variable = the last element of array, which has one less then
    };
    Kind kind = Kind::assign;
    SourceLine line;
    int variable = -1;
    int array = -1;
    std::vector<Expr> index;  // int64, one for each axis, or one for all elements in order
    bool is_zeroed = false;
    std::vector<Expr> values;
    Block body, otherwise;  // of a loop: what is repeated, and `next`
    Block first;            // of a loop
    // Of an assertion. Its values mean something in the procedure as it was written alone.
    std::shared_ptr<const Claim> claim;

    static Statement assign(int variable, Expr value, const SourceLine& line = {});
    static Statement branch(Expr condition, Block body, Block otherwise,
                            const SourceLine& line = {});
    // for (first; condition; next) body; `next` follows go_on, too.
    static Statement loop(Block first, Expr condition, Block body, Block next,
                          const SourceLine& line = {});
    static Statement leave(std::vector<Expr> values, const SourceLine& line = {});
    static Statement load(int variable, int array, std::vector<Expr> index,
                          const SourceLine& line = {});
    // store, add or append (which needs no index)
    static Statement write(Kind kind, int array, std::vector<Expr> index, Expr value,
                           const SourceLine& line = {});
    static Statement allocate(int array, bool is_zeroed, const SourceLine& line = {});
    static Statement take(int variable, int array, const SourceLine& line = {});
};

struct Procedure {
    std::string name;
    std::string file;  // of the source, for marks
    int line = 0;
    std::string doc;
    std::vector<Variable> variables;
    size_t parameters = 0;
    std::vector<Variable> results;
    Block body;
    std::vector<ArrayVariable> arrays = {};
    // The order of parameters in text: k is variable k, -1 - k array k. Empty: the variables.
    std::vector<int> head = {};
    // What its user says its derivative is, in place of the one that is derived: its parameters are
    // those of `vjp` (or `reverse`), its results those. given_derivative.cpp
    std::shared_ptr<const Procedure> derivative = {};
    // What derivatives are made of in place of this one, whose values it has: the text of a
    // function whose derivative is not that of how it is computed (stand_ins.h).
    std::shared_ptr<const Procedure> for_derivatives = {};
    // What this one, made by `over_rows`, runs for each row: derivatives are made of that one's.
    std::shared_ptr<const Procedure> of_each_row = {};
    // And what its output arrays hold of that one's, for each row: result k, or array -1 - k.
    std::vector<int> outputs_of_row = {};
    // What this one is the derivative of in reverse: where it keeps tapes, its own is made of that
    // one's. reverse_again.cpp
    std::shared_ptr<const Procedure> reverse_of = {};
    // What the user wrote, whose first parameters and inputs this one has: where an assertion does
    // not hold, that one tells what is wrong. interpret.h
    std::shared_ptr<const Procedure> as_written = {};

    Expr variable(size_t index) const {
        return Expr::argument(static_cast<int>(index), variables[index].dtype,
                              variables[index].name);
    }
    // A new variable, named `wanted` where no other is, else `wanted`_2, …; its number.
    int add_variable(const std::string& wanted, DType dtype);
    int add_array(const std::string& wanted, ArrayVariable like);
    std::vector<int> arrays_of(ArrayVariable::Role role) const;
};

// TypeError, with the line, for expressions of other dtypes than their places have or that read
// variables which do not exist; ValueError for a procedure whose end can be reached without results
// and for `stop` and `go_on` outside a loop.
void check(const Procedure& procedure);

// Whether control never reaches what stands behind the statements.
bool always_leaves(const Block& block);

// Says of a statement, and of those within, that they are of a call, or of one within that. The
// calls that they are of already become calls within.
void join_call(Statement& statement, const std::shared_ptr<InlinedCall>& call);
// Says of statements, however deep, which part of a derivative they belong to.
void set_sweep(Block& block, Sweep sweep);

// All statements, however deep, in the order of the text.
std::vector<const Statement*> all_statements(const Block& block);

// The variables that a statement itself reads: in values, the index and the shape of what it
// allocates.
std::vector<Expr> expressions_of(const Procedure& procedure, const Statement& statement);

// The procedure without statements that have no effect on results, outputs and assertions, and
// without variables and arrays that nothing mentions. dead_code.cpp
// `keeps_assertions`: loops of nothing but assertions, too.
Procedure without_dead_code(Procedure procedure, bool keeps_assertions = false);

// The same procedure in fewer words: no copies that come to nothing, variables of their own for
// loops that share one by accident, values where they are used. Variables may share names, where
// no loop or branch holds two of them. Copies that have one of the `names` stay. tidy.cpp
Procedure tidied(Procedure procedure, const std::set<std::string>& names);

// The same procedure, in which loops, and sides of branches, that share variables by accident, as
// no value goes from one to the other, have variables of their own, of the same names.
// own_variables.cpp
Procedure with_own_variables(Procedure procedure);

// The same procedure, whose branches say nothing twice: neighbours of one condition are one, a
// constant that both sides give a variable, or one does where the other gives it a new value, is
// given before the branch, and what a variable is already is not given again. short_branches.cpp
Procedure with_short_branches(Procedure procedure);

// The same procedure, which reads parameters in place of variables that are only ever copies of
// them, in extents too; parameters that are assigned stay as they are. tidy.cpp
Procedure with_parameters_for_copies(Procedure procedure);

// The same procedure, in which what several statements add to a variable or an element, one behind
// the other, is added in one: x[i] += a; x[i] += b to x[i] += a + b; variables that have one of the
// `names`, and arrays, stay as they are. gather.cpp
Procedure with_sums_gathered(Procedure procedure, const std::set<std::string>& names);

// The same procedure, in which a loop that takes elements from the one before it, over the same
// range, runs in its iterations, and local arrays whose elements first receive an addition each are
// not filled with zeros, if they have none of the `names`: for i: x[i] += a; for i: v = x[i] to
// for i: v = x[i] + a where nothing reads x behind. loops_together.cpp
Procedure with_loops_together(Procedure procedure, const std::set<std::string>& names);

// The same procedure without assertions that hold for certain, because those before them do: in the
// same iteration, or in all of a loop that ran before over the same range. known_assertions.cpp
Procedure without_known_assertions(Procedure procedure);

// The same procedure, which computes once what several statements of a block compute of the same
// values: indices, and what has none of the `names`. values_once.cpp
Procedure with_values_once(Procedure procedure, const std::set<std::string>& names);

// The same procedure, which loads the elements that one statement reads twice once. gather.cpp
Procedure with_elements_read_once(Procedure procedure);

// The same procedure, whose loops of plain statements that stand in no other loop assert nothing: a
// loop of the assertions alone, with what they read, stands before each, so that compilers can
// vectorise the other. What holds is the same; of two assertions that do not, another one may be
// met first. What a branch only asserts is asserted without the branch.
// assertions_ahead.cpp
Procedure with_assertions_ahead(Procedure procedure);

// The same procedure, with two versions of each loop within another one that asserts nothing but
// that indices, which are its counter and what it does not change, lie within: if the first and
// the last do, one that neither asserts nor wraps negative ones; else the loop as it was.
//   for (b = a; b < d; ++b) y += x[at(c + b)]  to
//   if (c + a >= 0 & c + a <= c + d - 1 & c + d - 1 < l) for (…) y += x[c + b] else for (…) …
// indices_ahead.cpp
Procedure with_indices_ahead(Procedure procedure);

// The procedure for each row: arrays have one more axis, the first, numbers stand in arrays of one
// axis and results are outputs. Its bits are those of a call for each row, and so are those of
// `jvp` and `reverse`. Outputs: an array for each result, then those of the procedure.
// NotSupported, with the line, where an extent depends on a number that each row has one of.
//   y(x, n, w): return v   to   vy(x, rows, n, w, y): for (row …) y[row] = v of x[row], w[row]
// over_rows.cpp
Procedure over_rows(const Procedure& procedure);
// `reverse` of what `over_rows` makes of the procedure: `over_rows` of its derivative, with outputs
// in the order of the floating operands.
Procedure reverse_over_rows(const Procedure& procedure);

// The results as expressions over the parameters: branches are choices, of which both sides are
// computed; a loop runs only where it is reached. flatten.cpp
std::vector<Expr> flatten(const Procedure& procedure);

// ----- derivatives, which are procedures again (tangents.cpp). Control flow stays as it is; beside
// each variable that depends on what is derived for, its tangent is carried, through branches and
// loops: no past states are kept, and a variable costs as much again for each floating parameter.
// Tangents that are always zero are not carried. Functions that are constant in pieces (floor,
// comparisons, conversions to integers) have the tangent 0. NotSupported, with the line, for what
// has no derivative.

// The tangents of the floating results: the parameters are those of `procedure`, then a tangent for
// each floating one.
Procedure jvp(const Procedure& procedure);
// What the floating parameters receive of the gradients of the floating results: the parameters are
// those of `procedure`, then a gradient for each floating result. NotSupported for procedures with
// arrays, as for the next two: that is what `reverse` is for.
Procedure vjp(const Procedure& procedure);
// The same by reverse accumulation, at a cost that does not grow with the number of parameters, for
// procedures that may hold arrays: the statements, then their adjoints from the last to the first.
// A loop's iterations are run again, from the last to the first, each from the state in which it
// started: of the variables that it reads of the iteration before and that derivatives need, a
// tape as long as the loop keeps the values. Outputs are the gradients of floating input arrays.
// Where a loop overwrites elements that were read before, the old ones are noted, and put back
// before each iteration is run again. NotSupported for procedures with arrays that grow, unless
// they are the first derivative in reverse of another. reverse.cpp
Procedure reverse(const Procedure& procedure);
// The same for one parameter, of one result.
Procedure vjp_of(const Procedure& procedure, size_t result, size_t parameter);
// d result / d parameter.
Procedure slope(const Procedure& procedure, size_t result, size_t parameter);

// ----- rows.cpp
// d result / d parameter for each floating parameter, at the parameters themselves: calls of rows.
// Empty for the others.
std::vector<Expr> slopes_of(const Procedure& procedure, size_t result);

// Makes the procedure for parameters of these dtypes.
using Maker = std::function<Procedure(const std::vector<DType>& parameters)>;
// The row whose value is result `result` of the procedure, flattened, and whose derivatives are
// those of the procedure. `types` gives the dtypes of parameters for those of operands. A row that
// stands in no table.
scalar::Row row_of(std::string name, std::string doc, int arity, scalar::TypeRule types,
                   Maker maker, size_t result = 0);
// The same for operands of the procedure's own dtypes; TypeError for others.
scalar::Row row_of(const Procedure& procedure, size_t result = 0);

// The procedure that a scalar function is, with a variable for each value that has a name, whether
// it was composed of expressions or parsed (scalar/parse.h). from_function.cpp
Procedure procedure_of(const std::string& name, const scalar::Function& function);

}  // namespace composit::ir::procedure
