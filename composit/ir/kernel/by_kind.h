// A function for each kind of kernel, in a table that the kinds' own files fill.
//
//     using Printers = ByKind<void, KernelText&>;
//     Printers& printers();  // one table for all
//
// In the file of print_sort(KernelText&, const Sort&), and where kernels are printed:
//
//     const bool prints_sort = printers().add<Sort, print_sort>();
//     if (printers().has(kernel.body)) printers()(text, kernel.body);
#pragma once

#include "composit/base/error.h"
#include "composit/ir/kernel/kernel.h"

#include <array>

namespace composit::ir::kernel {

template <class Result, class... Given>
class ByKind {
  public:
    // Returns true, so that a variable of a file can be initialised by it.
    template <class Kind, Result (*function)(Given..., const Kind&)>
    bool add() {
        functions_[Body(Kind()).index()] = [](Given... given, const Body& body) {
            return function(given..., std::get<Kind>(body));
        };
        return true;
    }
    bool has(const Body& body) const { return functions_[body.index()] != nullptr; }
    Result operator()(Given... given, const Body& body) const {
        internal_check(has(body), "there is no function for ", kind_name(body), " kernels");
        return functions_[body.index()](given..., body);
    }

  private:
    std::array<Result (*)(Given..., const Body&), std::variant_size_v<Body>> functions_ = {};
};

}  // namespace composit::ir::kernel
