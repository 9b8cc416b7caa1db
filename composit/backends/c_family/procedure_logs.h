// Logs of loops as text: whole rows of them, in place of one element more behind the other.
#pragma once

#include "composit/backends/c_family/procedure_elements.h"
#include "composit/backends/c_family/procedure_variables.h"
#include "composit/backends/c_family/taken_names.h"
#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/procedure.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

// An array that is allocated at a place of the block, and all of whose elements the loop behind
// copies from another one.
struct Copied {
    int from = -1, to = -1;
};
std::optional<Copied> copied_at(const ir::procedure::Procedure& procedure,
                                const ir::procedure::Block& block, size_t index);

// What stands in the text before a loop that logs, and in it.
class LoggedText {
  public:
    LoggedText(const ir::procedure::Procedure& procedure, const Homes& homes,
               const Elements& elements, const std::vector<std::string>& arrays, TakenNames& taken)
        : procedure_(procedure),
          homes_(homes),
          elements_(elements),
          arrays_(arrays),
          taken_(taken),
          between_(ir::procedure::arrays_between(procedure)) {
        for (const ir::procedure::Statement* each : all_statements(procedure.body))
            if (each->kind == ir::procedure::Statement::Kind::allocate &&
                between_.contains(static_cast<size_t>(each->array)))
                said_.insert(each);
    }

    // The lines before a loop, into which the text goes.
    std::vector<std::string> begin(const ir::procedure::Statement& loop);
    void end();
    // Whether the lines before its loop say what the statement does; all statements of the loop.
    bool says_all_of(const ir::procedure::Statement& loop) const {
        return !loop.body.empty() &&
               std::all_of(loop.body.begin(), loop.body.end(),
                           [this](const auto& each) { return is_said(each); });
    }
    bool is_said(const ir::procedure::Statement& statement) const {
        return said_.contains(&statement);
    }
    bool has_row(const ir::procedure::Statement& statement) const {
        return rows_.contains(statement.array);
    }
    // "std::vector<double> y(x, x + n);"
    std::string copy(const Copied& copied, const std::string& count) const;
    // "std::swap(x, y);" of arrays that the statements from a place on exchange, and then says so
    // of them; "" for others.
    std::string exchange(const ir::procedure::Block& block, size_t place);
    // The arrays by way of which arrays are exchanged: the text has none.
    const std::set<size_t>& between() const { return between_; }
    // "x_log_row[i]", for one that appends or takes.
    std::string element(const ir::procedure::Statement& statement);

  private:
    struct Row {
        std::string name;
        ir::scalar::Expr position;
        int64_t each, next;
    };

    const ir::procedure::Procedure& procedure_;
    const Homes& homes_;
    const Elements& elements_;
    const std::vector<std::string>& arrays_;
    TakenNames& taken_;
    int depth_ = 0;  // of loops
    std::set<const ir::procedure::Statement*> said_;
    const std::set<size_t> between_;
    std::map<int, Row> rows_;  // of the loop that is printed, by array
};

}  // namespace composit::c_family
