#include "calling.h"

#include "arrays.h"
#include "cell.h"

namespace composit::python {

std::vector<ir::Array> arrays_from(nb::handle values) {
    std::vector<ir::Array> arrays;
    for (nb::handle value : values)
        arrays.push_back(array_from(nb::isinstance<LazyTensor>(value)
                                        ? nb::object(value.attr("evaluated")())
                                        : nb::object(numpy_attribute("asarray")(value)),
                                    false));
    return arrays;
}

nb::list ndarrays_from(std::vector<ir::Array> arrays) {
    nb::list result;
    for (ir::Array& array : arrays) {
        ir::Array one = std::exchange(array, ir::Array());
        result.append(ndarray_from(std::move(one)));
    }
    return result;
}

}  // namespace composit::python
