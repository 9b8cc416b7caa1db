// composit/functional/folds.h.
#include "composit/functional/folds.h"

#include "casters.h"
#include "flags.h"
#include "indexing.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {

void bind_folds(nb::module_& module) {
    const nb::call_guard<Located> located;
    // Rows go by their names: a user's may have been replaced. `initial`: a tuple of one value, or
    // of none where it is not given.
    module.def(
        "reduce",
        [](const std::string& row, const Tensor& x, const numpy::Axis& axis,
           std::optional<ir::DType> dtype, IntegerFlag keepdims, nb::tuple initial,
           nb::object where) {
            folds::Options options{.dtype = dtype, .keepdims = keepdims};
            if (!where.is(nb::bool_(true))) options.where = tensor_from(where);
            if (initial.size() > 0)
                options.initial = initial[0].is_none() ? numpy::Operand()
                                                       : numpy::Operand(tensor_from(initial[0]));
            return folds::reduce(ir::scalar::row(row), x, axis, options);
        },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg(),
        nb::arg().none(), located);
    module.def(
        "accumulate",
        [](const std::string& row, const Tensor& x, const numpy::Axis& axis,
           std::optional<ir::DType> dtype) {
            return folds::accumulate(ir::scalar::row(row), x, axis, dtype);
        },
        located);
    module.def(
        "reduceat",
        [](const std::string& row, const Tensor& x, const Tensor& indices, const numpy::Axis& axis,
           std::optional<ir::DType> dtype) {
            return folds::reduceat(ir::scalar::row(row), x, indices, axis, dtype);
        },
        located);
    module.def(
        "at",
        [](const std::string& row, const Tensor& x, nb::handle index,
           const std::vector<Tensor>& operands) {
            return folds::at(ir::scalar::row(row), x, index_from(index), operands);
        },
        located);
}

}  // namespace composit::python
