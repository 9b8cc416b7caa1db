// Loops that change elements after they were read: what they overwrite goes to the end of logs, and
// the backward sweep takes it from there, last first. No iteration runs again.
//
//   for i:                              for i: y_log.push(y[i]);  y[i] = y[i] * x[i]
//       y[i] = y[i] * x[i]       ->     for i, from the last one:
//                                           y[i] = y_log.take();  …the adjoints of the statement…
//
// Statements that neither are loops or branches with such stores nor leave a loop stand together in
// parts. A part is run again, from the state that it found, for what its own adjoints need; values
// that others need of it, too, have logs of their own.
#pragma once

#include "composit/ir/procedure/can_be_logged.h"
#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/reverse_records.h"
#include "composit/ir/procedure/reverse_setup.h"

#include <optional>
#include <set>
#include <vector>

namespace composit::ir::procedure {

class LoggedLoops : protected ReverseSetup {
  protected:
    explicit LoggedLoops(const Procedure& procedure) : ReverseSetup(procedure) {}
    ~LoggedLoops() = default;

    // ----- of who accumulates the adjoints
    virtual Block plain(const Block& block, const Undos& undos) = 0;
    virtual Block forward(const Block& block, std::vector<Record>& records) = 0;
    virtual void backward(const Block& block, const std::vector<Record>& records, Block& out,
                          Zeros& zeros) = 0;
    virtual void backward_branch(const Statement& statement, const Record& record, Block& out,
                                 Zeros& zeros) = 0;
    virtual void backward_loop(const Statement& loop, const Record& record, Block& out,
                               Zeros& zeros) = 0;

    bool is_logged(const Statement& loop) const {
        return can_be_logged(p_, body_, loop, changing_);
    }
    void forward_logged_loop(const Statement& loop, Record& record, Block& out);
    // The body as the sweeps see it: what follows a branch that leaves stands in its other side.
    static Block logged_body(const Statement& loop);
    // Statements with such bodies in all logged loops within: how often they mention what.
    Block as_swept(const Block& block) const;
    // At the start of an iteration of a loop that does not count: what its head changes.
    void take_head(const Statement& loop, const Expr& trip, Block& out);
    void backward_logged(const Block& block, const std::vector<Record>& records, Block& out,
                         Zeros& zeros);

    Logs* logs_ = nullptr;  // of the logged loop around

  private:
    // Integers that the backward sweep has while it is in a block.
    struct Had {
        std::set<int> there;             // wherever it is in the block
        std::map<int, size_t> put_back;  // behind the adjoints of the part with this number
    };
    Pushed pushed_by(const Block& block, const Block& part, const Had& had) const;
    // Of the parts of a block, each of which assigns a variable once, which put back what it was.
    std::map<int, size_t> put_back_in(const Block& block, const std::vector<Part>& parts) const;
    // What parts of a block push; what was `there` around them.
    std::vector<Pushed> pushed_in(const Block& block, const std::vector<Part>& parts) const;
    // The integers that the backward sweep has within a part.
    std::set<int> had_within(const Block& block, const std::vector<Part>& parts,
                             const std::vector<Pushed>& pushed, size_t number) const;
    // How many of the block's own branches with logs ask for the variable.
    int asks_of(const Block& block, int variable) const;
    Block forward_logged(const Block& block, std::vector<Record>& records);
    void forward_part(const Pushed& pushed, const Block& part, Block& out);
    void backward_part(const Pushed& pushed, const Block& part, Block& out, Zeros& zeros);
    // Whether values read nothing that the loop changes, but for what its heads do and for the
    // variables that were `found`.
    bool is_known_again(const std::vector<Expr>& values, const std::set<int>& found) const;
    // Adds to what a part makes again its statements that compute a variable, if each of them
    // assigns a variable `own_once`, in each iteration, for this one only. They read such values,
    // elements of inputs, and integers that the backward sweep has by then; without functions,
    // whose values take less time to log, also elements that the block leaves as they are, and
    // numbers.
    bool is_made_again(int variable, const Block& block, const Block& part,
                       const std::set<int>& own_once, const Had& had, Pushed& pushed,
                       bool is_for_cheap = true) const;
    // Whether an array has the same elements before the block, in it and behind it.
    bool has_same_elements(const Block& block, int array) const;
    // Whether the backward sweep of statements gives a variable the value from before them.
    bool is_put_back(const Block& block, int variable) const;
    // Stores of a part that give all elements of a small array new values, in order, before any of
    // it is read: the last one's place by the first one's. Their old elements are logged at once.
    std::map<size_t, size_t> rows_in(const Block& part) const;
    // for (k …) body, over all elements of the array; from the last one if `is_back`.
    Statement over_elements(int array, int counter, Block body, bool is_back,
                            const SourceLine& line) const;
    // Two arrays that change exchange their elements, in three loops: nothing is logged, as the
    // backward sweep exchanges them once more, and their adjoints. logged_exchanges.cpp
    std::optional<Exchange> exchange_of(const Block& block, size_t place) const;
    void backward_exchange(const Block& block, size_t place, Block& out);
    // Whether what the statement overwrites is logged.
    bool is_overwriting(const Statement& statement) const;
    int log_of(int variable);
    int log_of_array(int array, std::map<int, int>& logs, const std::string& suffix, DType dtype);
    Statement push(int variable, const SourceLine& line);
    std::set<int> had_;  // integers that the backward sweep has in the logged block around
    Expr read(int variable) const { return out_.variable(static_cast<size_t>(variable)); }
};

}  // namespace composit::ir::procedure
