// Compiled procedures with arrays, as Python calls them.
#pragma once

#include "bindings.h"
#include "casters.h"
#include "composit/backends/c_family/procedure_file.h"
#include "composit/backends/cpp/cache.h"
#include "composit/ir/array.h"
#include "composit/ir/procedure/callable.h"

#include <memory>
#include <string>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

// Compiled code of the procedure, the one of that number in the library. `text` is the code, whose
// marks name the lines of failed assertions.
ir::procedure::Run compiled_run(std::shared_ptr<cpp::Library> library, size_t number,
                                ir::procedure::Procedure procedure,
                                std::shared_ptr<const std::string> text);

// Numbers and arrays in, numbers and new arrays out.
class CompiledArrays {
  public:
    // Interpreted where `run` is empty.
    CompiledArrays(ir::procedure::Procedure procedure, ir::procedure::Run run);

    // The parameters that are numbers, in order, and the input arrays, of the dtypes that the
    // procedure has for them, dense and of the shapes that its extents say.
    nb::tuple call(const std::vector<double>& floats, const std::vector<int64_t>& integers,
                   const std::vector<nb::object>& arrays) const;

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

void bind_compiled_arrays(nb::module_& module);

}  // namespace composit::python
