// Where the variables of a procedure are declared, and which are read at all.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace composit::c_family {

// The variables that expressions read.
std::set<int> read_by(const std::vector<ir::scalar::Expr>& values);

// Where a variable lives: the innermost block around all that mentions it, and the first statement
// there that does.
struct Home {
    const ir::procedure::Block* block = nullptr;
    size_t first = 0;
    int assignments = 0;
};

class Homes {
  public:
    explicit Homes(const ir::procedure::Procedure& procedure);
    const Home& of(int variable) const { return homes_[static_cast<size_t>(variable)]; }
    size_t count() const { return homes_.size(); }

  private:
    using Path = std::vector<std::pair<const ir::procedure::Block*, size_t>>;

    void mention(const ir::procedure::Statement& statement);
    void walk(const ir::procedure::Block& block);
    void find(size_t variable);

    Path path_;
    std::map<int, std::vector<Path>> mentions_;
    std::vector<Home> homes_;
};

}  // namespace composit::c_family
