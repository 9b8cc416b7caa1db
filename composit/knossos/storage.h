// Arrays that procedures store: their elements are loaded and stored by loops over indices.
#pragma once

#include "composit/knossos/integers.h"
#include "composit/knossos/sharing.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace composit::knossos {

using Role = ir::procedure::ArrayVariable::Role;

// Makes arrays, fills them, and says what is loaded and stored.
class Storage {
  public:
    Storage(Code& code, Integers& integers, Sharing& sharing, Found& found)
        : code_(code), integers_(integers), sharing_(sharing), found_(found) {}

    // `lists`: of how many axes Python makes lists.
    StoredRef add_array(const std::string& wanted, Kind kind, std::vector<Value> shape,
                        Role role = Role::local, int lists = 0);
    // The names of arrays and variables.
    std::set<std::string> taken_names() const;
    // An array that has no name in the text, allocated here, whose elements are stored next, or
    // added to.
    StoredRef fresh_array(const std::string& wanted, Kind kind, std::vector<Value> shape,
                          bool is_zeroed = false);
    void store(const Stored& array, const Index& indices, const Value& value);
    // Loops over all indices.
    void nest(const std::vector<Value>& shape, const std::function<void(const Index&)>& body);
    // A name for the counter of a loop that has none in the text: a letter that neither the kernel
    // nor a loop around has, until its loop ends.
    std::string begin_counter();
    void end_counter(const std::string& name);
    // Allocates the array and stores the value in it. `is_again`: it may hold another one, whose
    // elements derivatives in reverse note as they are overwritten.
    void fill(const Stored& target, const Array& value, bool is_again = false);
    // The same without an allocation.
    void store_all(const Stored& target, const Array& value);
    // The array, whose elements are stored.
    StoredRef stored(const ArrayRef& value, const std::string& name);
    // Another array of the same elements.
    StoredRef copied(const Array& value) { return made("new_value", value); }

  private:
    StoredRef made(const std::string& name, const Array& value);
    void nest_rest(const std::vector<Value>& shape, size_t axis, Index& indices,
                   const std::function<void(const Index&)>& body);

    Code& code_;
    Integers& integers_;
    Sharing& sharing_;
    Found& found_;
    std::set<std::string> counters_;  // of the loops around
};

}  // namespace composit::knossos
