// Attributes: the parameters of an operation that are part of the program's structure (axes,
// shapes, names, bodies).
#pragma once

#include "composit/ir/constant_array.h"
#include "composit/ir/dtype.h"
#include "composit/ir/scalar/row.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace composit::ir {

struct Body;  // body.h: a named graph with parameters, held by `call` nodes

using Attribute = std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>,
                               ConstantArray, scalar::RowRef, std::shared_ptr<const Body>>;

// Name -> value, sorted by name; a handful at most.
class Attributes {
  public:
    Attributes() = default;
    Attributes(std::initializer_list<std::pair<std::string, Attribute>> items);

    static Attributes from(std::vector<std::pair<std::string, Attribute>> items);

    bool has(std::string_view name) const { return find(name) != nullptr; }
    const Attribute* find(std::string_view name) const;
    // The value of a name that must be there, with the type that it must have: anything else is an
    // internal error.
    template <class T>
    const T& get(std::string_view name) const;
    const std::vector<std::pair<std::string, Attribute>>& items() const { return items_; }
    bool empty() const { return items_.empty(); }

  private:
    std::vector<std::pair<std::string, Attribute>> items_;
    [[noreturn]] static void missing(std::string_view name);
};

template <class T>
const T& Attributes::get(std::string_view name) const {
    const Attribute* attribute = find(name);
    const T* value = attribute ? std::get_if<T>(attribute) : nullptr;
    if (!value) missing(name);
    return *value;
}

// Attributes that never change, with the hash of their structure: what nodes hold. Who makes many
// nodes with the same attributes makes these once.
struct HashedAttributes {
    explicit HashedAttributes(Attributes attributes);

    const Attributes values;
    const uint64_t hash;
};
using SharedAttributes = std::shared_ptr<const HashedAttributes>;
SharedAttributes shared(Attributes attributes);  // one and the same for no attributes

// Structure only: arrays count by dtype and shape, not by value (a plan serves every value of its
// leaves).
uint64_t structural_hash(const Attribute& attribute);
bool structurally_equal(const Attribute& a, const Attribute& b);

}  // namespace composit::ir
