// The statements of a procedure as C without a heap, for devices and for plain text: those of a
// function whose parameters and arrays are declared already.
//
// Arrays of its own that are small and of known size lie on the stack. What becomes of others, and
// of what does not hold, is the setting's: a thread of a device works on an item of a batch, with
// macros that the text around defines; a function of plain text returns a status.
#pragma once

#include "composit/backends/c_family/block_writer.h"
#include "composit/backends/c_family/procedure_extents.h"
#include "composit/backends/c_family/procedure_roundings.h"
#include "composit/backends/c_family/scalar_spelling.h"
#include "composit/backends/c_family/scoped_names.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/scalar/function.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::c_family {

struct SettingInC {
    const ScalarSpelling& scalars;
    // Before the type that a pointer to memory outside of the text points to: "__global ".
    std::string_view memory = "";
    // The text is of a function that returns 0, or a status where something does not hold:
    // `fault_of_index`, `fault_of_others`. It has arrays that are too large for the stack as
    // parameters. False: require(holds) ends the work, which ends by `return`, and allocate(type,
    // x, count) and append(type, x, value) find room in a workspace of which each item has a part.
    bool is_function = false;
    // Values of parameters that are known when the text is made: of each call that it is made for.
    std::vector<std::map<int, ir::scalar::Bits>> known = {{}};
    // By array: its strides in elements, of inputs whose elements are not in row-major order.
    std::map<int, std::vector<int64_t>> strides = {};
    // Extents that must be so large.
    std::vector<std::pair<ir::scalar::Expr, int64_t>> extents = {};
};
inline constexpr int fault_of_index = 1, fault_of_others = 2;

// The procedure as it is printed: without what nobody reads.
ir::procedure::Procedure for_c(const ir::procedure::Procedure& procedure);

class ProcedureInC : private BlockWriter {
  public:
    // `procedure` is one of `for_c`, and outlives the text.
    ProcedureInC(const ir::procedure::Procedure& procedure, const TakenNames& taken,
                 SettingInC setting);

    // Local arrays that do not lie on the stack, and of a function how many elements suffice.
    const std::map<int, int64_t>& places() const { return places_; }
    bool has_workspace() const { return !setting_.is_function && !places_.empty(); }
    // So many bytes suffice, or do to begin with, if it may grow.
    int64_t workspace_bytes() const { return workspace_bytes_; }
    bool may_grow() const { return may_grow_; }
    // Arrays of which a function does not know how many elements suffice: it cannot be printed.
    const std::vector<int>& unbounded() const { return unbounded_; }
    // Whether something may not hold: an assertion, an extent of an array.
    bool can_fail() const { return can_fail_; }
    // Whether a function returns its only result; else it returns a status, if it can fail, and
    // stores results.
    bool returns_result() const {
        return setting_.is_function && !can_fail_ && procedure_.results.size() == 1;
    }

    // The text. `results`: where results go, "all_y[item]".
    std::string run(const std::vector<std::string>& results);

    // Whether the text that was made has an array on the stack whose elements are set one by one.
    bool has_unset_arrays() const { return has_unset_arrays_; }

    // How many elements an array has; what is to be said before goes to `before`.
    std::string count_of(int array, std::vector<std::string>& before);
    // Names of parameters and arrays of the text that was made, whose elements may be counted then.
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
    bool finds_failure() const;
    bool is_on_stack(int array) const { return on_stack_.contains(array); }
    bool begins_with_allocation(int array) const;
    bool is_declaration(const Block& block, size_t index) const;
    void declare_places();
    void print_statement(const Block& block, size_t index);
    void print_allocation(const Block& block, size_t index);
    void print_results(const Statement& leave, bool is_last);
    void require(const std::string& condition, int source_line, bool is_of_index);
    std::string integer(const Expr& value, std::vector<std::string>& before);
    // "x = in_order_float64(x + a);" for "add_in_order(x, a);"
    std::string with_dtype(const std::string& statement, const std::string& place, ir::DType dtype);
    std::string element(const Statement& statement, std::vector<std::string>& before);
    std::string place_of(const Statement& statement, std::vector<std::string>& before);

    const SettingInC setting_;
    // Of a function, what compilers of CPUs do with neighbours: products that they may fuse, sums
    // that they may not join.
    const std::optional<ProcedureRoundings> roundings_;
    const std::set<const Statement*> sums_in_order_;
    const Naturals naturals_;
    const Mentioned mentioned_;
    ScopedNames scoped_{taken_};
    std::vector<std::string> arrays_, results_;
    std::map<int, int64_t> on_stack_, places_;  // local arrays: how many elements
    std::set<int> sure_;  // of those, whose extents are known, and none is negative
    std::vector<int> unbounded_;
    int64_t workspace_bytes_ = 0;
    bool may_grow_ = false, can_fail_ = false, has_unset_arrays_ = false;
};

}  // namespace composit::c_family
