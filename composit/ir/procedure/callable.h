// Procedures that nodes of graphs call, by number.
//
// A node has operands: the numbers and arrays of the procedure's head, without the extents of
// arrays, which shapes tell. Its outputs are the results, then the output arrays.
#pragma once

#include "composit/ir/procedure/interpret.h"

#include <functional>
#include <mutex>

namespace composit::ir::procedure {

// Fills the outputs and returns the results; arguments as those of `interpret`. Any thread calls
// it.
using Run =
    std::function<std::vector<Bits>(const std::vector<Bits>& parameters, void* const* arrays)>;
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
    struct Extent {
        int array = -1;  // among input arrays
        size_t axis = 0;
    };
    Extent extent_of(size_t parameter) const { return extents_[parameter]; }

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
    mutable std::once_flag is_loaded_;
    mutable Run run_;
    mutable std::mutex mutex_;
    mutable int64_t vjp_ = -1, jvp_ = -1;
};

// The procedure's number; it is kept for good, as nodes are that name it.
int64_t keep_callable(Procedure procedure);
// Null: there is none of that number.
const Callable* find_callable(int64_t number);

}  // namespace composit::ir::procedure
