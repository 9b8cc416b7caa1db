// What is known of a procedure's variables when its text is made.
#pragma once

#include "composit/backends/c_family/procedure_room.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/scalar/function.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace composit::c_family {

// The values of parameters, and of what is computed of those alone.
class KnownValues {
  public:
    KnownValues(const ir::procedure::Procedure& procedure,
                const std::map<int, ir::scalar::Bits>& parameters);

    std::optional<ir::scalar::Bits> of(const ir::scalar::Expr& value) const;
    // How many elements an array of the shape has; none where that is not known, or an extent is
    // negative and `is_shape`.
    std::optional<int64_t> count_of(const std::vector<ir::scalar::Expr>& shape,
                                    bool is_shape = true) const;
    // The value of a sum of products whose factors count: those below zero stand for zero.
    std::optional<int64_t> most_of(const SumOfProducts& sum) const;

  private:
    std::vector<ir::scalar::Bits> bits_;
    std::map<int, ir::scalar::Bits> known_;
};

}  // namespace composit::c_family
