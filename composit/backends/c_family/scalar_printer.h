// Scalar expressions as C++17 text, or as C for devices (scalar_spelling.h): types, literals,
// statements, functions, tables and the few functions they need.
//
// The text vectorises in plain loops: no branches, no library calls where a formula does. Nothing
// in it depends on -fwrapv or on contraction: integers wrap through unsigned types, and the only
// fused operation is multiply_add. Values of dtype bool are `bool`; arrays of them are bytes that
// hold 0 or 1. Half and complex types are NotSupported.
#pragma once

#include "composit/backends/c_family/loop_questions.h"
#include "composit/backends/c_family/scalar_spelling.h"
#include "composit/backends/c_family/taken_names.h"
#include "composit/ir/scalar/expr.h"
#include "composit/ir/scalar/row.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace composit::c_family {

std::string type_name(ir::DType dtype);  // "float", "int32_t", "bool"
std::string literal(
    ir::DType dtype, ir::scalar::Bits bits,
    const ScalarSpelling& spelling = cpp_spelling);  // exact: 0.5f, -3, 255, __builtin_inf()

struct Roundings;

// `wanted` as a C++ identifier that is neither a word of the language nor of the prelude, and not
// in `taken`, into which it is entered: "x", else "x_2", "x_3", … `is_of_variable`: nor would it
// hide a function of C's library of the same meaning: "exp_1".
std::string unique_name(const std::string& wanted, TakenNames& taken, bool is_of_variable = false);

// `wanted` as the name of a namespace: nor is it a function of C's library, which headers declare
// outside of namespaces: "exp_1".
std::string namespace_name(const std::string& wanted);
// Whether C's library, or a compiler without its headers, knows something of this name: "powf".
bool is_of_library(std::string_view name);
// Whether it is a function of <math.h> that is a row of the table, too: "exp", "sin".
bool is_function_of_floats(const std::string& name);
// Whether the text has the identifier, as a whole word.
bool has_word(std::string_view text, std::string_view word);

// The row that a call is of, for the dtypes of its operands.
const ir::scalar::Specialisation& specialisation_of(const ir::scalar::Expr& call);

// Every specialisation (row and dtypes) that the expressions reach through calls, callees before
// callers, without those of one operation, which are printed in place.
std::vector<const ir::scalar::Specialisation*> functions_used(
    const std::vector<ir::scalar::Expr>& results);

// The definition of a specialisation as a static inline function called `specialisation.symbol`,
// after a comment line.
std::string print_function(const ir::scalar::Specialisation& specialisation,
                           LoopQuestion question = LoopQuestion::none,
                           const ScalarSpelling& spelling = cpp_spelling);

// Statements that compute `results` from C expressions that stand for the arguments (names,
// literals, or anything that binds as tightly). Names are made unique against `taken` and entered
// into it. With `roundings`, of the arguments, products are `rounded` where compilers might fuse
// them (scalar_roundings.h): in functions whose results may be neighbours in memory.
struct Statements {
    std::vector<std::string> lines;    // "const float t0 = x * x;"
    std::vector<std::string> results;  // expressions, one per result
};
Statements print_statements(const std::vector<ir::scalar::Expr>& results,
                            const std::vector<std::string>& arguments, TakenNames& taken,
                            const Roundings* roundings = nullptr,
                            const ScalarSpelling& spelling = cpp_spelling);

// The longest path through the values of operations that each need the one before, calls counted
// with what they do.
int longest_chain(const std::vector<ir::scalar::Expr>& values);
// Whether they, or functions that they call, choose between values.
bool has_choice(const std::vector<ir::scalar::Expr>& values);

// The arguments that stand in a value which a choice may leave out.
std::set<int> arguments_in_branches(const std::vector<ir::scalar::Expr>& values);

// The tables that lookups read, in `results` and in all functions that they use: `static const
// double table_…[4] = …`
std::string print_tables(const std::vector<ir::scalar::Expr>& results,
                         const ScalarSpelling& spelling = cpp_spelling);

// What must stand before text that makes integers of floating numbers and numbers of integers: a
// pragma, for compilers that would make a truncation of both, whose zeros are signed. Else "".
std::string zeros_pragma(const std::vector<ir::scalar::Expr>& values);

// What the printed text calls; needs <cstdint> before it. Opens no namespace.
std::string_view scalar_prelude();

}  // namespace composit::c_family
