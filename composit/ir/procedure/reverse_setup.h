// What reverse accumulation starts with: the derivative's parameters and the adjoints.
#pragma once

#include "composit/ir/procedure/keep.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace composit::ir::procedure {

class ReverseSetup {
  public:
    explicit ReverseSetup(const Procedure& procedure);

  protected:
    size_t moved(size_t variable) const;
    // The parameters of the procedure, then what its results receive; p_'s variables behind them.
    void add_parameters();
    // Returns become assignments to variables of the results, behind which nothing follows.
    void end_early_returns();
    // A new variable that has the value of one.
    int copy_of(int variable, const std::string& suffix, Block& out, const SourceLine& line);
    [[noreturn]] void refuse(const Statement& statement, const std::string& why) const;
    void add_adjoints();
    void add_array_adjoint(int number);
    bool is_loaded(int array) const;
    // All elements, which go through the variable `by`.
    void copy_all(int from, int to, const std::string& by, Block& out);
    // Copies of the floating results, as they are when they are asked for: their variables, which
    // the result holds; arrays become outputs.
    std::vector<int> copy_results(Block& out);
    // Instead of a value of a function that the block stores, to an element that a loop which runs
    // again finds written: a load of that element. Whether there is one.
    bool loads_stored(const Block& block, const Statement& made, Block& out) const;
    // The arrays whose elements a loop finds written when it runs again.
    std::set<int> found_written_by(const Statement& loop, bool is_logged) const;
    // Whether the array is made before all loops, and each of its elements is given one value, that
    // stays: whoever runs again finds it.
    bool stays(int array) const;
    Expr adjoint(int variable) const;
    // Gives the variable the value that another one saved, if one did; 0.
    void restore(int variable, int saved, Block& out, const SourceLine& line) const;
    void clear(int variable, Block& out, const SourceLine& line) const;

    std::set<std::string> names_;  // of the function's variables
    Procedure p_;                  // with the numbers of out_
    Procedure out_;
    size_t added_ = 0;              // parameters of out_ beyond p_'s
    std::vector<size_t> received_;  // parameters of out_
    std::vector<int> results_;      // variables of results
    Block body_, start_;
    std::unique_ptr<ArrayUse> use_;
    std::map<int, int> mentions_, assignments_;
    std::set<int> active_;
    std::map<int, int> adjoints_, array_adjoints_;
    std::set<int> is_adjoint_;
    std::set<int> infinite_;  // variables and arrays whose adjoints may be
    Kept kept_;
    std::set<int> changing_;  // arrays whose elements change after a loop read them
    std::set<int> is_there_;  // arrays whose elements a loop that runs again finds written
};

}  // namespace composit::ir::procedure
