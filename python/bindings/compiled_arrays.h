// Compiled procedures with arrays, as Python calls them.
#pragma once

#include "bindings.h"
#include "casters.h"
#include "composit/backends/cpp/procedures.h"
#include "composit/ir/array.h"
#include "composit/ir/procedure/callable.h"

#include <memory>
#include <string>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

// What loops of compiled kernels ask. Numbers are passed to kernels under Python's lock, which
// other threads get here.
bool is_asked_to_stop();

class ArrayCall;

// Numbers and arrays in, numbers and new arrays out.
class CompiledArrays {
  public:
    // Interpreted where `run` is empty.
    CompiledArrays(ir::procedure::Procedure procedure, ir::procedure::Run run);

    // The parameters that are numbers, in order, and the input arrays, of the dtypes that the
    // procedure has for them, dense and of the shapes that its extents say.
    nb::tuple call(const std::vector<double>& floats, const std::vector<int64_t>& integers,
                   const std::vector<nb::object>& arrays) const;
    ArrayCall in_order(const std::vector<size_t>& order) const;

  private:
    const ir::procedure::ArrayVariable& array(int number) const {
        return procedure_.arrays[static_cast<size_t>(number)];
    }
    void* pointer_to(const nb::object& object, int number,
                     const std::vector<ir::scalar::Bits>& parameters) const;

    ir::procedure::Procedure procedure_;
    ir::procedure::Run run_;
    std::vector<int> inputs_, outputs_;
};

// The same for arguments in the order of the text, where each is exactly what the procedure has for
// it: a Python number, or a dense array of its dtype and shape.
class ArrayCall {
  public:
    // `order`: which of the results, which are numbers, then arrays, stands where.
    ArrayCall(ir::procedure::Procedure procedure, ir::procedure::Run run,
              std::vector<size_t> order);

    // One result, or a tuple; NotImplemented where an argument is anything else.
    nb::object call(const nb::args& arguments) const;

  private:
    // An axis of an input: the parameter that is its extent, if it is the first axis with it.
    struct Operand {
        int place;  // the parameter, or as -1 - number the array
        ir::DType dtype;
        std::vector<int> binds;  // -1: none
    };
    bool take(const Operand& operand, nb::handle value, std::vector<ir::scalar::Bits>& parameters,
              std::vector<const int64_t*>& shapes, std::vector<void*>& pointers) const;
    bool has_shape(size_t array, const int64_t* shape,
                   const std::vector<ir::scalar::Bits>& parameters) const;
    int64_t extent_of(const ir::scalar::Expr& extent,
                      const std::vector<ir::scalar::Bits>& parameters) const;

    ir::procedure::Procedure procedure_;
    ir::procedure::Run run_;
    std::vector<size_t> order_, places_;  // places_: of arrays among pointers
    std::vector<Operand> operands_;
    std::vector<int> inputs_, outputs_;
};

void bind_compiled_arrays(nb::module_& module);

}  // namespace composit::python
