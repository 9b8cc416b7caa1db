// The procedure that is being written: its variables, its arrays, blocks of statements.
//
//   Operators operators(DType::float64);
//   Code code(operators);
//   const Emitting body(code);
//   code.assign(code.add_variable("y", Kind::floating), operators.cast(1.0, Kind::floating));
//   body.block()->statements is y = 1.0
#pragma once

#include "composit/ir/procedure/procedure.h"
#include "composit/knossos/operators.h"
#include "composit/knossos/syntax.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace composit::knossos {

using ir::procedure::Statement;

// Statements in the making. Blocks are told apart by what they are, not by what they hold.
struct Block {
    std::vector<Statement> statements;
};
using BlockRef = std::shared_ptr<Block>;

// What the text calls a variable, or the tuple or record that it is a part of.
std::string whole_of(const std::string& name);

class Code {
  public:
    // `assigned`: the names that the text assigns, which hidden variables do not take; the counts
    // say in how many places.
    explicit Code(Operators& operators, std::set<std::string> assigned = {},
                  std::map<std::string, int> counts = {});

    // ----- statements
    void add(Statement statement);
    void add(const std::vector<Statement>& statements);
    // An assignment to a variable, in the line that is being translated or in another one.
    void assign(int number, const Expr& value);
    void assign(int number, const Expr& value, int line);
    // The same of a number, in its own kind.
    void assign_number(int number, const Value& value);
    // An assertion, of whose claim `{}` stand for values and `%s` for what is translated.
    void expect(const Expr& condition, const std::string& error, std::string claim,
                std::vector<Expr> values = {});
    // The kind of what would be computed, of which nothing stays.
    Kind kind_by_trial(const std::function<Value()>& compute);

    // ----- variables
    int add_variable(const std::string& name, Kind kind);  // its number
    // A variable that the text has not; its name.
    std::string hidden_variable(const std::string& wanted, Kind kind);
    // The same as an expression.
    Expr hidden(const std::string& wanted, Kind kind);
    // A number as it is now: a hidden variable that has got it.
    Expr held(const Value& value, const std::string& wanted);
    Expr leaf(const std::string& name) const;
    Expr integer(const Value& value) const;
    // What the text calls the variable, or the tuple or record that it is a part of.
    std::string whole(int number) const;
    bool has(const std::string& name) const { return numbers.contains(name); }
    int number_of(const std::string& name) const { return numbers.at(name); }
    // The kind of a variable; nothing for a name that is none.
    std::optional<Kind> kind_named(const std::string& name) const;
    // In how many places the text assigns the name.
    int times_assigned(const std::string& name) const;
    // The name that a variable has in the text that is printed.
    const std::string& shown_name(int number) const;
    // Whether the block assigns the variable.
    bool is_at_home(int number, const BlockRef& block) const;
    // Whether the block is written around this place.
    bool is_within(const BlockRef& block) const;
    int count_of_variables() const { return static_cast<int>(variables.size()); }
    int count_of_arrays() const { return static_cast<int>(arrays.size()); }
    // Whether a variable is assigned in one place, or a parameter nowhere.
    bool is_assigned_once(const Expr& value) const;

    Operators& operators;
    std::set<std::string> assigned;
    std::map<std::string, int> count_of_assignments;

    BlockRef out = std::make_shared<Block>();  // where statements go: the innermost of the blocks
    std::vector<BlockRef> blocks;              // around this place, from the outermost
    std::vector<BlockRef> certain;  // of them, those that run wherever the one around does
    int line = 0;
    SyntaxRef construct;  // what is being translated, as assertions name it

    std::vector<ir::procedure::Variable> variables;
    int parameter_count = 0;
    std::map<std::string, int> numbers;  // of variables, by name
    std::map<std::string, Kind> kinds;
    std::map<int, std::string> shown;  // the names of hidden variables, which scopes tell apart
    std::map<int, BlockRef> homes;     // the blocks that assign variables
    std::set<int> loaded;              // variables that hold an element, and nothing else later
    std::vector<ir::procedure::ArrayVariable> arrays;
    std::vector<int> head;  // parameters in order: variables, and arrays as -1 - number

  private:
    int hidden_ = 0;
};

// While it lives, statements go to a block.
class Emitting {
  public:
    explicit Emitting(Code& code, BlockRef block = std::make_shared<Block>());
    ~Emitting();
    Emitting(const Emitting&) = delete;
    Emitting& operator=(const Emitting&) = delete;

    const BlockRef& block() const { return block_; }

  private:
    Code& code_;
    BlockRef block_, before_;
};

// While it lives, statements go before the loops around that run at least once, within `home`.
class EmittingFurtherOut {
  public:
    EmittingFurtherOut(Code& code, const BlockRef& home);
    ~EmittingFurtherOut();
    EmittingFurtherOut(const EmittingFurtherOut&) = delete;
    EmittingFurtherOut& operator=(const EmittingFurtherOut&) = delete;

  private:
    Code& code_;
    BlockRef before_;
};

// What the function computes, whose statements are those of one call of a function of the library.
Value within_call_of_library(Code& code, const std::string& name,
                             const std::function<Value()>& compute);

}  // namespace composit::knossos
