// Writes the blocks of a procedure as C: where variables are declared, branches, loops. How single
// statements are said is for the writers of C++ (procedure_writer.h) and of devices' C.
#pragma once

#include "composit/backends/c_family/procedure_lines.h"
#include "composit/backends/c_family/procedure_variables.h"
#include "composit/backends/c_family/taken_names.h"
#include "composit/ir/procedure/procedure.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

class BlockWriter {
  public:
    virtual ~BlockWriter() = default;
    const std::vector<std::string>& names() const { return names_; }

  protected:
    using Block = ir::procedure::Block;
    using Statement = ir::procedure::Statement;
    using Expr = ir::scalar::Expr;

    // `names_` gets a name for each variable before anything is printed.
    BlockWriter(const ir::procedure::Procedure& procedure, TakenNames taken)
        : procedure_(procedure), homes_(procedure), taken_(std::move(taken)) {}

    // Values as texts; what they share or is long comes before, as constants.
    virtual std::vector<std::string> values(const std::vector<Expr>& given,
                                            std::vector<std::string>& before) = 0;
    // Prints the statement at a place, and those behind that are part of what it says; returns
    // how many these are.
    virtual size_t print_at(const Block& block, size_t index) = 0;
    // Declares arrays that live from this statement of the block on.
    virtual void declare_arrays(const Block& block, size_t index) = 0;
    // Whether the statements of a block are said by its one branch alone.
    virtual bool is_one_branch(const Block& block) const;
    // What stands before a loop; false: nothing else is to be said of it.
    virtual bool begin_loop(const Statement&) { return true; }
    virtual void end_loop() {}
    // Lines for the compiler, before the loop's head; at the begin of its body.
    virtual std::vector<std::string> hints_of(const Statement& loop, bool has_plain_head) = 0;
    virtual std::string first_line_of(const Statement& loop) = 0;

    const ir::procedure::Variable& variable(int number) const {
        return procedure_.variables[static_cast<size_t>(number)];
    }
    const std::string& name(int number) const { return names_[static_cast<size_t>(number)]; }
    void line(const std::string& text, int source_line = 0) {
        lines_.push_back({indent_, text, source_line});
    }
    bool is_declared_by(const Block& block, size_t index, int number) const;
    // What cannot be declared where it is assigned is declared before the statement.
    void declare(const Block& block, size_t index);
    std::set<int> reads(const Statement& statement) const { return homes_.reads(statement); }
    int counter_of(const Block& block, size_t index) const {
        return homes_.counter_of(block, index);
    }
    // A variable that is assigned, with its type where this declares it; a constant, if it is
    // assigned in as many statements.
    std::string target_of(const Block& block, size_t index, int assignments = 1) const;

    void print_block(const Block& block);
    void print_inner(const Block& block);
    void print_branch(const Statement& statement, bool is_continued = false);
    void print_loop(const Block& block, size_t index);

    const ir::procedure::Procedure& procedure_;
    const Homes homes_;
    TakenNames taken_;
    std::vector<std::string> names_;  // of variables; or what stands where they are read
    std::vector<PrintedLine> lines_;
    size_t indent_ = 1;

  private:
    // `else if`: a branch alone, that needs nothing before its condition.
    bool is_chain(const Block& block);
};

}  // namespace composit::c_family
