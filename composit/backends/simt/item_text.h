// What a procedure does for one item of a batch, as C for devices: the statements of a function
// whose parameters and arrays are declared already, and which ends by `return`.
//
// Arrays of its own that are small and of known size lie on the thread's stack; others are places
// in a workspace of which each item has a part (item_support). What must hold for the work to go
// on, assertions and room in the workspace, is reported as indices out of bounds are (fault.h): the
// lowest item that fails is the one whose failure is told.
#pragma once

#include "composit/backends/c_family/block_writer.h"
#include "composit/backends/c_family/procedure_extents.h"
#include "composit/backends/c_family/scoped_names.h"
#include "composit/backends/simt/dialect.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/scalar/function.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace composit::simt {

// In the record of a fault, `axis` says what did not hold for the item `outer`; `index` is the line
// of the text.
enum class ItemFault : int64_t { assertion = 0, workspace = 1 };

// What the text of items calls, behind the dialect's prelude and its fault_text.
std::string item_support(const Dialect& dialect, bool has_workspace);
// Identifiers that functions for items have for themselves: none of the user's is one of them.
const std::set<std::string>& item_words();

// The procedure as it is printed: without what nobody reads.
ir::procedure::Procedure for_items(const ir::procedure::Procedure& procedure);

struct ItemSetting {
    // Values of parameters that are known when the text is made.
    std::map<int, ir::scalar::Bits> known = {};
    // By array: its strides in elements, of inputs whose elements are not in row-major order.
    std::map<int, std::vector<int64_t>> strides = {};
    // Extents that must be so large.
    std::vector<std::pair<ir::scalar::Expr, int64_t>> extents = {};
};

class ItemText : private c_family::BlockWriter {
  public:
    // `procedure` is one of `for_items`, and outlives the text.
    ItemText(const ir::procedure::Procedure& procedure, const Dialect& dialect,
             const c_family::TakenNames& taken, ItemSetting setting);

    bool has_workspace() const { return !places_.empty(); }
    // So many bytes suffice, or do to begin with, if it may grow.
    int64_t workspace_bytes() const { return workspace_bytes_; }
    bool may_grow() const { return may_grow_; }

    // The text. `results`: where results go, "all_y[item]".
    std::string run(const std::vector<std::string>& results);

    // How many elements an array has; what is to be said before goes to `before`.
    std::string count_of(int array, std::vector<std::string>& before);
    // Of the text that was made: whether it asserts anything, and its names of parameters and
    // arrays, whose elements may be counted then.
    bool has_assertions() const { return has_assertions_; }
    const std::string& parameter(int number) const { return name(number); }
    const std::string& array(int number) const { return arrays_[static_cast<size_t>(number)]; }

  private:
    std::vector<std::string> values(const std::vector<Expr>& given,
                                    std::vector<std::string>& before) override;
    size_t print_at(const Block& block, size_t index) override;
    void declare_arrays(const Block& block, size_t index) override;
    std::vector<std::string> hints_of(const Statement&, bool) override { return {}; }
    std::string first_line_of(const Statement&) override { return ""; }

    const ir::procedure::ArrayVariable& array_of(int number) const {
        return procedure_.arrays[static_cast<size_t>(number)];
    }
    void find_places();
    void find_names();
    bool is_on_stack(int array) const { return on_stack_.contains(array); }
    bool is_declaration(const Block& block, size_t index) const;
    void print_statement(const Block& block, size_t index);
    void print_allocation(const Block& block, size_t index);
    void print_results(const Statement& leave, bool is_last);
    void assert_that(const std::string& condition, int source_line);
    std::string integer(const Expr& value, std::vector<std::string>& before);
    std::string element(const Statement& statement, std::vector<std::string>& before);
    std::string place_of(const Statement& statement, std::vector<std::string>& before);

    const Dialect& dialect_;
    const ItemSetting setting_;
    const c_family::Naturals naturals_;
    const c_family::Mentioned mentioned_;
    c_family::ScopedNames scoped_{taken_};
    std::vector<std::string> arrays_, results_;
    std::map<int, int64_t> on_stack_;  // local arrays: how many elements
    std::set<int> places_;             // local arrays in the workspace
    int64_t workspace_bytes_ = 0;
    bool may_grow_ = false, has_assertions_ = false;
};

}  // namespace composit::simt
