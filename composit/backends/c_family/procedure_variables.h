// Where the variables of a procedure are declared, and which are read at all.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace composit::c_family {

// The variables that expressions read.
std::set<int> read_by(const std::vector<ir::scalar::Expr>& values);

// The variables and arrays that the text of statements names: parameters that it does not have no
// name.
struct Mentioned {
    std::set<int> variables, arrays;
};
Mentioned mentioned_in(const ir::procedure::Procedure& procedure);
// Takes the names from parameters and arrays that nothing mentions.
void clear_unmentioned(const ir::procedure::Procedure& procedure, std::vector<std::string>& names,
                       std::vector<std::string>& arrays);

// Where a variable lives: the innermost block around all that mentions it, and the first statement
// there that does.
struct Home {
    const ir::procedure::Block* block = nullptr;
    size_t first = 0;
    int assignments = 0;
    int mentions = 0;  // statements that read or assign it
};

// Where a name is known: from one statement to before another, in the order of the text.
struct Scope {
    int begin = 0, end = 0;
    bool meets(const Scope& other) const { return begin < other.end && other.begin < end; }
};

class Homes {
  public:
    explicit Homes(const ir::procedure::Procedure& procedure);
    const Home& of(int variable) const { return homes_[static_cast<size_t>(variable)]; }
    // Of an array: its assignments are its allocations.
    const Home& of_array(size_t array) const { return homes_[procedure_.variables.size() + array]; }
    // Of a variable, or an array behind all variables.
    Scope scope_of(size_t place) const;
    // The variable that the head of the loop at a place declares; -1: none.
    int counter_of(const ir::procedure::Block& block, size_t index) const;
    // Whether the head of the loop at a place gives a variable, which is read behind the loop, too,
    // its first value.
    bool begins_with(const ir::procedure::Block& block, size_t index, int variable) const;
    // Whether a loop's head gives a variable its first value, and nothing behind the loop knows it.
    bool is_of_loop(int variable) const;
    size_t count() const { return procedure_.variables.size(); }
    // How many variables and arrays live in a block.
    std::ptrdiff_t lives_in(const ir::procedure::Block& block) const {
        return std::count_if(homes_.begin(), homes_.end(),
                             [&](const Home& home) { return home.block == &block; });
    }

    // What a statement itself reads.
    std::set<int> reads(const ir::procedure::Statement& statement) const;
    // Whether an element that is loaded can stand where its variable is used: in statements that
    // follow, before what could change it.
    bool is_read_in_place(const ir::procedure::Block& block, size_t index) const;
    // Whether an element that is exchanged for 0 (is_exchange_at) can stand where its variable is
    // used: once, behind other exchanges alone.
    bool is_taken_in_place(const ir::procedure::Block& block, size_t index) const;
    bool is_exchanged_in_place(const ir::procedure::Block& block, size_t index) const;

    // Integers that only an index is made of: they stand in it. Of one that another line of the
    // source names, the index takes the name. Integer -> the index that is named so; -1: none.
    std::map<int, int> nameless() const;

  private:
    // The place in the block of the index that alone the integer of another place is made of.
    std::optional<size_t> index_of(const ir::procedure::Block& block, size_t place) const;
    bool mentions_within(const ir::procedure::Statement& statement, int variable) const;
    using Path = std::vector<std::pair<const ir::procedure::Block*, size_t>>;

    void mention(const ir::procedure::Statement& statement);
    void walk(const ir::procedure::Block& block);
    void find(size_t variable);

    const ir::procedure::Procedure& procedure_;
    Path path_;
    std::map<int, std::vector<Path>> mentions_;
    std::vector<Home> homes_;
    int order_ = 0;
    std::map<const ir::procedure::Statement*, Scope> spans_;
    std::map<const ir::procedure::Block*, int> ends_;
};

}  // namespace composit::c_family
