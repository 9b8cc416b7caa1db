// Where elements of a procedure's arrays are, and how many there are, as text.
#pragma once

#include "composit/backends/c_family/procedure_extents.h"
#include "composit/backends/c_family/procedure_runs.h"
#include "composit/backends/c_family/taken_names.h"
#include "composit/ir/procedure/procedure.h"

#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

// By the names of variables and arrays, which may change as the text goes on. What has to be said
// before goes to `before`.
class Elements {
  public:
    Elements(const ir::procedure::Procedure& procedure, const std::vector<std::string>& names,
             const std::vector<std::string>& arrays, TakenNames& taken)
        : procedure_(procedure), names_(names), arrays_(arrays), taken_(taken) {}

    // Of a counter that the next axis' one counts for: it is 0 in all places from now on.
    void leave_out(int counter) { left_out_.insert(counter); }

    std::string integer(const ir::scalar::Expr& value, std::vector<std::string>& before) const;
    // "x[i * n + j]"
    std::string element(const ir::procedure::Statement& statement,
                        std::vector<std::string>& before) const;
    // How many elements an array has: "n * m"; checked where extents may be negative.
    std::string count_of(size_t array, const Naturals& naturals,
                         std::vector<std::string>& before) const;
    // Statements that check the extents of an array, of which nothing else asks.
    std::vector<std::string> checks_of(size_t array, const Naturals& naturals) const;
    // "x + i * n", "t.data()"
    std::string run(const Run& run, std::vector<std::string>& before) const;
    // "dot_product(x + i * n, t.data(), n)"
    std::string dot(const Dot& dot, std::vector<std::string>& before) const;
    // "add_multiple(y, x + i * n, factor, n)"
    std::string multiple(const Multiple& multiple, const std::string& factor,
                         const ir::scalar::Expr& count, std::vector<std::string>& before) const;
    // "place_of_largest(x, n)"
    std::string extreme(const Extreme& extreme, std::vector<std::string>& before) const;

  private:
    std::string place(int array, const std::vector<ir::scalar::Expr>& index,
                      std::vector<std::string>& before) const;

    const ir::procedure::Procedure& procedure_;
    const std::vector<std::string>&names_, &arrays_;
    TakenNames& taken_;
    std::set<int> left_out_;
};

}  // namespace composit::c_family
