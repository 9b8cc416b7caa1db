// Places, matrices, products and draws: composit/aten/places.h, linalg.h, products.h, sampling.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/linalg.h"
#include "composit/aten/places.h"
#include "composit/aten/products.h"
#include "composit/aten/sampling.h"
#include "flags.h"
#include "location.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

namespace composit::python {
namespace {

void bind_linalg(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "lu_factor",
        [](const Tensor& a) {
            const aten::LuResult found = aten::lu_factor(a);
            return std::vector<Tensor>{found.lu, found.pivots, found.order};
        },
        located);
    module.def("split_lu", &aten::split_lu, located);
    module.def("order_of", &aten::order_of, located);
    module.def(
        "unpack_lu",
        [](const Tensor& lu, const Tensor& pivots, TruthFlag data, TruthFlag permutation) {
            const aten::UnpackedLu made = aten::unpack_lu(lu, pivots, data, permutation);
            return std::make_tuple(made.permutation, made.lower, made.upper);
        },
        located);
    module.def("permutation_of", &aten::permutation_of, located);
    module.def("lu_solve", &aten::lu_solve, located);
    module.def("householder_product", &aten::householder_product, located);
    module.def("solve", &aten::solve, located);
    module.def("solve_triangular", &aten::solve_triangular, located);
    module.def("lstsq", &aten::lstsq, located);
    module.def(
        "pinv",
        [](const Tensor& a, const MaybeOperand& atol, const MaybeOperand& rtol) {
            const numpy::Operand& least = atol;
            return aten::pinv(a, least ? least : numpy::Operand(0.0), rtol);
        },
        nb::arg(), nb::arg().none(), nb::arg().none(), located);
    module.def(
        "matrix_rank",
        [](const Tensor& a, const MaybeOperand& tol, const MaybeOperand& atol,
           const MaybeOperand& rtol) { return aten::matrix_rank(a, tol, atol, rtol); },
        nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(), located);
    module.def(
        "svd_lowrank",
        [](const Tensor& a, const Tensor& drawn, int64_t iterations) {
            const aten::LowRank made = aten::svd_lowrank(a, drawn, iterations);
            return std::make_tuple(made.u, made.s, made.v);
        },
        located);
    const auto product = [&](const char* name, auto function) {
        module.def(name, function, nb::arg(), nb::arg(), nb::arg().none() = nb::none(), located);
    };
    module.def(
        "product_dtype",
        [](const std::string& function, const Tensor& a, const Tensor& b,
           std::optional<ir::DType> out_dtype) {
            return aten::product_dtype(function, a, b, out_dtype);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg().none() = nb::none());
    product("matmul", &aten::matmul);
    product("mm", &aten::mm);
    product("bmm", &aten::bmm);
    product("mv", &aten::mv);
    product("dot", &aten::dot);
    product("cross", &aten::cross);
    module.def(
        "linear",
        [](const Tensor& x, const Tensor& weight, const MaybeOperand& bias) {
            return aten::linear(x, weight, bias);
        },
        nb::arg(), nb::arg(), nb::arg().none() = nb::none(), located);
    module.def(
        "multinomial",
        [](const Tensor& key, const Tensor& weights, int64_t count, TruthFlag replacement) {
            return aten::multinomial(key, weights, count, replacement);
        },
        located);
    module.def("dirichlet", &aten::dirichlet, located);
    module.def("matrix_exp", &aten::matrix_exp, located);
    module.def("vander", &aten::vander, nb::arg(), nb::arg().none(), located);
}

}  // namespace

void bind_aten_places(nb::module_& module) {
    const nb::call_guard<Located> located;
    bind_linalg(module);
    module.def("counted_from_first", &aten::counted_from_first, located);
    module.def("check_index_rank", &aten::check_index_rank);
    module.def("gather", &aten::gather, located);
    module.def("index_select", &aten::index_select, located);
    module.def("take_along_dim", &aten::take_along_dim, nb::arg(), nb::arg(), nb::arg().none(),
               located);
    module.def("scatter", &aten::scatter, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg("reduce") = "", located);
    const auto reductions = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source,
                       const std::string& reduce, TruthFlag include_self) {
                return function(x, dim, index, source, reduce, include_self);
            },
            located);
    };
    reductions("scatter_reduce", aten::scatter_reduce);
    reductions("index_reduce", aten::index_reduce);
    module.def(
        "index_add",
        [](const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source,
           const MaybeOperand& alpha) { return aten::index_add(x, dim, index, source, alpha); },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none() = nb::none(), located);
    module.def("index_copy", &aten::index_copy, located);
    module.def(
        "put",
        [](const Tensor& x, const Tensor& index, const numpy::Operand& source,
           TruthFlag accumulate) { return aten::put(x, index, source, accumulate); },
        located);
    module.def("masked_scatter", &aten::masked_scatter, located);
    module.def(
        "segment_reduce",
        [](const Tensor& data, const std::string& reduce, const Tensor& lengths, bool are_offsets,
           TruthFlag unsafe, std::optional<double> initial) {
            return aten::segment_reduce(data, reduce, lengths, are_offsets, unsafe, initial);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), located);
}

}  // namespace composit::python
