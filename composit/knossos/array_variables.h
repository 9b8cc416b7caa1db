// Names that get arrays: which array they stand for from here on.
#pragma once

#include "composit/knossos/scope.h"
#include "composit/knossos/storage.h"

#include <string>
#include <utility>
#include <vector>

namespace composit::knossos {

// An array in the procedure for each array that a name has, or one for several of them.
struct ArrayVariables {
    Code& code;
    Scope& scope;
    Found& found;
    Integers& integers;
    Sharing& sharing;
    Storage& storage;

    // Arrays at once, `a, b = b, a`: one that reads what is assigned before it is computed first.
    void assign_arrays(const std::vector<std::pair<std::string, ArrayRef>>& pairs,
                       const Syntax& part);
    // Gives the names of arguments that are assigned in branches or loops copies of these.
    void copy_arguments(const Syntax& function);

  private:
    void assign(const std::string& name, const ArrayRef& value, const Syntax& part);
    void assign_array(const std::string& name, const ArrayRef& value, const Syntax& part);
    // The variable that the name has here, and keeps; null where it gets an array of its own.
    StructureRef kept(const std::string& name, const Array& value);
    bool is_another(const Structure& known, const Array& value) const;
    bool has_shape(const Stored& stored, const Array& value) const;
    void begin_copying(const std::string& name);
    StructureRef copy_of(const std::string& name, const ArrayRef& value);
    void rename(const StoredRef& stored, const std::string& name);
};

}  // namespace composit::knossos
