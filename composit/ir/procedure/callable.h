// Procedures that nodes of graphs call, by number.
//
// A node has operands: the numbers and arrays of the procedure's head, without the extents of
// arrays, which shapes tell. Its outputs are the results, then the output arrays.
#pragma once

#include "composit/ir/procedure/interpret.h"

#include <functional>
#include <mutex>

namespace composit::ir::procedure {
// Compiles a procedure; an empty function where nothing can be compiled.
using Loader = std::function<Run(const Procedure&)>;

// What compiles procedures that are called; without one, they are interpreted.
void set_loader(Loader loader);

class Callable {
  public:
    explicit Callable(Procedure procedure);
    Callable(const Callable&) = delete;
    Callable& operator=(const Callable&) = delete;

    const Procedure& procedure() const { return procedure_; }

    // Of each operand the parameter or, as -1 - number, the input array.
    const std::vector<int>& operands() const { return operands_; }
    DType dtype_of(int operand) const;
    // The values of all parameters: extents from the arrays' shapes, the others as given, by
    // parameter.
    std::vector<Bits> with_extents(std::vector<Bits> parameters,
                                   const std::vector<std::vector<int64_t>>& shapes) const;
    bool is_extent(size_t parameter) const { return extents_[parameter].array >= 0; }
    // Whether an extent of an input or output depends on numbers, and not on other extents alone.
    bool has_numbers_in_extents() const { return has_numbers_in_extents_; }
    struct Extent {
        int array = -1;  // among input arrays
        size_t axis = 0;
    };
    Extent extent_of(size_t parameter) const { return extents_[parameter]; }

    // What texts of graphs call it (content.h); made when it is first asked for.
    const std::string& name() const;

    // Throws ValueError where arrays have other shapes than the parameters say: what runs writes as
    // many elements as these do, whatever memory there is. `shapes`: of the input arrays, then of
    // the output arrays. Of arrays with an extent that depends on a parameter which is not known,
    // nothing is said.
    void check_shapes(const std::vector<Bits>& parameters,
                      const std::vector<std::vector<int64_t>>& shapes,
                      const std::vector<bool>& is_known) const;

    // Compiled at the first call.
    std::vector<Bits> run(const std::vector<Bits>& parameters, void* const* arrays) const;

    // The numbers of the derivatives, made when they are first asked for. NotSupported for what has
    // none.
    int64_t vjp() const;
    int64_t jvp() const;

  private:
    void find_operands();

    Procedure procedure_;
    std::vector<int> operands_;
    std::vector<Extent> extents_;  // by parameter
    bool has_numbers_in_extents_ = false;
    mutable std::once_flag is_named_;
    mutable std::string name_;
    mutable std::once_flag is_loaded_;
    mutable Run run_;
    mutable std::mutex mutex_;
    mutable int64_t vjp_ = -1, jvp_ = -1;
};

// The procedure's number in this process; it is kept for good, as nodes are that call it.
int64_t keep_callable(Procedure procedure);
// Null: there is none of that number.
const Callable* find_callable(int64_t number);
// The number of the one that was kept last of those with that name, or that is a derivative of one
// that was kept; -1: there is none.
int64_t find_callable_named(const std::string& name);

}  // namespace composit::ir::procedure
