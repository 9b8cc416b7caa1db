#include "composit/ir/scalar/table_values.h"

#include <cstring>

namespace composit::ir::scalar {

Array table_values(const Expr& lookup) {
    const auto& table = *lookup.table();
    Array values(lookup.dtype(), {static_cast<int64_t>(table.size())});
    const auto size = static_cast<size_t>(size_of(lookup.dtype()));
    auto* to = static_cast<char*>(values.mutable_data());
    for (const Bits& element : table) {
        std::memcpy(to, element.data(), size);
        to += size;
    }
    return values;
}

}  // namespace composit::ir::scalar
