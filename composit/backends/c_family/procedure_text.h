// Integers that count and index, as a person writes them: i * n + j.
#pragma once

#include "composit/backends/c_family/scalar_roundings.h"
#include "composit/backends/c_family/scalar_spelling.h"
#include "composit/backends/c_family/taken_names.h"
#include "composit/ir/procedure/procedure.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::c_family {

// An int64 made of variables and literals by + - *; "" for another one. Wraps nowhere: indices of
// elements fit.
std::string plain_integer(const ir::scalar::Expr& value, const std::vector<std::string>& names);

// "a", "(a + b)"
std::string factor(const std::string& text);

// A comparison of two such integers; "" for another one.
std::string plain_comparison(const ir::scalar::Expr& value, const std::vector<std::string>& names);

// The condition of a branch, `text`, or "!name" where that is what it says.
std::string plain_condition(const ir::scalar::Expr& value, const std::vector<std::string>& names,
                            const std::string& text);
// "return {a, bool(b & c)};" of the texts of several values: in braces no integer is a bool.
std::string returned(const std::vector<ir::scalar::Expr>& values, std::vector<std::string> texts,
                     size_t indent);

// What follows an iteration, in the head of a loop: "++i", or "i = …, x = …"; `value` prints what
// is no plain integer.
std::string steps_of(const ir::procedure::Statement& loop, const std::vector<std::string>& names,
                     const std::function<std::string(const ir::procedure::Statement&)>& value);

// Printed text with small integers without the suffix that says their width, where nothing depends
// on it.
std::string plain(const std::string& text, std::string_view suffix = "ll");

// Of a local array: std::vector<bool> has no bools.
std::string type_of_elements(ir::DType dtype);

// "0.0", "false"
std::string zero_of(ir::DType dtype);

// Where an element is in memory, of its indices and of the array's extents (the first of which does
// not matter): "i * n + j", and of extents that are numbers "i * 12 + j * 4 + 3".
std::string flat_place(const std::vector<std::string>& indices,
                       const std::vector<std::string>& extents);

// Values as texts; what they share or is long comes before, as constants.
std::vector<std::string> value_texts(const std::vector<ir::scalar::Expr>& values,
                                     const std::vector<std::string>& names, TakenNames& taken,
                                     const Roundings& roundings, std::vector<std::string>& before,
                                     const ScalarSpelling& spelling = cpp_spelling);

}  // namespace composit::c_family
