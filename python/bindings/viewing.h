// Bindings of functions whose results are views of their first argument, as NumPy's are.
#pragma once

#include "casters.h"
#include "content.h"

#include <utility>
#include <vector>

namespace composit::python {

// Functions whose results share memory with their first argument in NumPy.
template <class... Arguments, class Function>
auto viewing(Function function) {
    return [function](nb::handle x, Arguments... arguments) {
        const Tensor result = function(tensor_from(x), std::move(arguments)...);
        if (!nb::isinstance<LazyTensor>(x)) return wrap(result);
        return wrap_view(result, content_of<LazyTensor>(x));
    };
}

// The same for functions of several results.
inline nb::list viewed(const std::vector<Tensor>& parts, nb::handle x) {
    nb::list result;
    for (const Tensor& part : parts)
        result.append(nb::isinstance<LazyTensor>(x) ? wrap_view(part, content_of<LazyTensor>(x))
                                                    : wrap(part));
    return result;
}

}  // namespace composit::python
