// The parameters of a kernel's procedure, of the arguments of its function.
#pragma once

#include "composit/knossos/scope.h"
#include "composit/knossos/storage.h"

#include <string>

namespace composit::knossos {

// A parameter for each number and each array of the arguments, in order.
struct Parameters {
    Code& code;
    Scope& scope;
    Storage& storage;

    void add(const Syntax& function);

  private:
    void check_head(const Syntax& function) const;
    void check_default(const Syntax& parameter, const Structure& structure) const;
    // Parameters for the numbers and arrays of an argument; its structure, which knows the arrays.
    StructureRef add_parts(const std::string& name, const StructureRef& structure);
    StoredRef add_array(const std::string& wanted, const Structure& structure);
    const std::string& symbol(const std::string& extent, std::vector<int>& added);
};

}  // namespace composit::knossos
