// Writes the body of a procedure as C++: statements, what has a short way to be said, marks.
#pragma once

#include "composit/backends/c_family/block_writer.h"
#include "composit/backends/c_family/called_functions.h"
#include "composit/backends/c_family/called_parts.h"
#include "composit/backends/c_family/procedure_elements.h"
#include "composit/backends/c_family/procedure_extents.h"
#include "composit/backends/c_family/procedure_extremes.h"
#include "composit/backends/c_family/procedure_idioms.h"
#include "composit/backends/c_family/procedure_logs.h"
#include "composit/backends/c_family/procedure_roundings.h"
#include "composit/backends/c_family/procedure_runs.h"
#include "composit/backends/c_family/scoped_names.h"
#include "composit/ir/procedure/procedure.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

// How a procedure is written.
struct Writing {
    bool asks = false;  // its loops ask whether they are to stop
    // The call that all of it is of, and what is known around it; null: it is of no call.
    const ir::procedure::InlinedCall* within = nullptr;
    const KnownAround* known = nullptr;
};

// A function that a procedure calls in place of a part of it.
struct PrintedFunction {
    std::string name;
    std::vector<int> arguments;  // those that the text reads, as in CalledPart
};

// A call that says what values receive of their extremum's gradient, in place of its last loop.
struct SlopeCall {
    ExtremeSlopes slopes;
    std::string function, value;  // "largest_vjp", the function that gives the values
};

class ProcedureWriter : public BlockWriter {
  public:
    ProcedureWriter(const ir::procedure::Procedure& procedure, CalledFunctions& called,
                    const Writing& writing);

    // The text between the braces.
    std::string run();
    const std::vector<std::string>& arrays() const { return arrays_; }

  private:
    std::string name_of(const std::string& wanted, size_t place);
    std::vector<std::string> values(const std::vector<Expr>& given,
                                    std::vector<std::string>& before) override;
    size_t print_at(const Block& block, size_t index) override;
    void declare_arrays(const Block& block, size_t index) override;
    bool is_one_branch(const Block& block) const override;
    bool begin_loop(const Statement& loop) override;
    void end_loop() override {
        logs_.end();
        is_for_vectors_ = false;
    }
    std::vector<std::string> hints_of(const Statement& loop, bool has_plain_head) override;
    std::vector<std::string> fetches_of(const Statement& loop);
    std::string first_line_of(const Statement& loop) override;

    void print_nameless(const Statement& statement);
    void print_dot(const Block& block, size_t i, const Dot& dot);
    void print_extreme(const Block& block, size_t i, const Extreme& extreme);
    void print_multiples(const Multiples& made);
    // Of an extremum of values, how many statements a call says; 0: they are no such ones.
    size_t print_values_extreme(const Block& block, size_t i);
    void print_slopes(const Statement& loop, const SlopeCall& call);
    std::string value_function(const Block& body, const ValuesExtreme& extreme);
    // Whether statements from one place to before another one are parts, or hold some.
    bool has_part_in(const Block& block, size_t begin, size_t end) const;
    void print_index(const Block& block, size_t i, const PrintedIndex& index);
    void print_exchange(const Block& block, size_t i);
    void print_statement(const Block& block, size_t index);
    void print_allocation(const Block& block, size_t index);
    // Two loops through neighbouring axes, as one.
    bool print_nest(const Block& block, size_t index);

    // Of the statements at a place that a function says, which part they are; none: they are
    // written where they stand.
    std::optional<size_t> part_at(const Block& block, size_t index) const;
    bool is_moved(const Statement& statement) const;
    void print_call(size_t number_of_part);

    const std::string& array(const Statement& statement) const {
        return arrays_[static_cast<size_t>(statement.array)];
    }
    std::string integer(const Expr& value, std::vector<std::string>& before) const {
        return elements_.integer(value, before);
    }
    std::string element(const Statement& statement, std::vector<std::string>& before);
    std::string count_of(size_t array);
    // "std::vector<double> t", "double t[6]"; with its size, where that is known. What is loaded
    // clears no elements that need no zeros.
    std::string array_declaration(size_t array, bool with_size, bool is_zeroed);
    bool is_declaration(const Block& block, size_t index, size_t array) const;

    const Writing writing_;
    bool is_for_vectors_ = false;  // the loop that is being printed, if it is loaded
    const ProcedureRoundings roundings_;
    std::set<const Statement*> sums_in_order_;
    std::vector<std::string> arrays_;
    std::string turns_;  // counts iterations; empty: no loop asks
    Elements elements_{procedure_, names_, arrays_, taken_};
    LoggedText logs_{procedure_, homes_, elements_, arrays_, taken_};
    ScopedNames scoped_{taken_};
    const Naturals naturals_;
    const std::map<int, std::vector<Expr>> rooms_;
    std::set<size_t> hoisted_;
    std::set<size_t> exchanged_;   // arrays that exchange their elements, if it is loaded
    std::map<int, int> nameless_;  // variables that stand where they are read
    std::set<const Statement*> said_elsewhere_;  // by a call behind them
    std::map<const Statement*, SlopeCall> slope_calls_;
    std::vector<std::unique_ptr<CalledPart>> parts_;
    std::vector<PrintedFunction> functions_;  // of the parts
};

// How it looks to who asks whether there are several of it; `called` stays as it is.
PartText text_of(const CalledPart& part, CalledFunctions called, bool asks);
PrintedFunction print_function_of(const CalledPart& part, bool asks, CalledFunctions& called);

}  // namespace composit::c_family
