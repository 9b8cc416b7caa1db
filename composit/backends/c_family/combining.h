// What a reduction or a scan keeps while it goes along, and how two of that become one.
#pragma once

#include "composit/backends/c_family/kernel_names.h"
#include "composit/backends/c_family/scalar_spelling.h"
#include "composit/ir/kernel/kernel.h"

#include <string>
#include <vector>

namespace composit::c_family {

// One value, or for argmax and argmin a value and its position. A state begins as one that changes
// nothing it is combined with, not even the sign of a zero: absent lanes and blocks need no case of
// their own.
class Combining {
  public:
    // `dtype`: of the values. `end`: a position behind all of them, for argmax and argmin; 0 where
    // states are not combined with one another.
    Combining(const ScalarSpelling& spelling, ir::kernel::Combiner combiner, ir::DType dtype,
              std::string position_type, int64_t end);

    bool finds_position() const { return ir::kernel::finds_position(combiner_); }
    const std::string& type() const { return type_; }  // in which values are combined
    const std::string& position_type() const { return position_type_; }

    // Names, or places of an array: "sum", "lanes[3]".
    struct State {
        std::string value, position;
    };
    // The same with `suffix` behind both: "[thread]".
    static State at(const State& state, const std::string& suffix) {
        return {state.value + suffix, state.position.empty() ? "" : state.position + suffix};
    }
    State claim(Names& names) const;
    State claim(Names& names, const std::string& wish) const;
    // Statements.
    std::vector<std::string> declare(const State& state) const;  // as nothing yet
    std::vector<std::string> declare_array(const State& state, int64_t count,
                                           const std::string& local = "") const;
    std::vector<std::string> clear(const State& state) const;
    std::vector<std::string> assign(const State& to, const State& from) const;
    // state = state op value; the value stands behind everything that the state has seen.
    std::vector<std::string> add(const State& state, const std::string& value,
                                 const std::string& position, Names names) const;
    // state = state op right.
    std::vector<std::string> combine(const State& state, const State& right) const;
    // The result: the value, or the position; 0 where no element was better than nothing.
    std::string result(const State& state) const;

  private:
    std::string combined(const std::string& a, const std::string& b) const;
    std::string narrowed(const std::string& value) const;

    const ScalarSpelling& spelling_;
    ir::kernel::Combiner combiner_;
    ir::DType dtype_;
    std::string type_, position_type_, nothing_, end_;
};

}  // namespace composit::c_family
