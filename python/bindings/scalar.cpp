// composit/ir/scalar/*.h: expressions, the table, rows registered at run time.
#include "bindings.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"
#include "scalar_values.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>

namespace composit::python {
namespace {

namespace scalar = ir::scalar;
using scalar::Expr;
using scalar::Op;
using scalar::Row;
using scalar::RowRef;

Op op_from(const std::string& name) {
    for (int i = 0; i < scalar::op_count; ++i)
        if (scalar::name(static_cast<Op>(i)) == name) return static_cast<Op>(i);
    fail<KeyError>("scalar operation '", name, "' does not exist.");
}

void bind_expr(nb::module_& module) {
    nb::class_<Expr>(module, "Expr", "What happens to one element: an immutable, typed expression.")
        .def_static("argument", &Expr::argument, nb::arg("index"), nb::arg("dtype"),
                    nb::arg("name") = "")
        .def_static("constant", &Expr::constant)
        .def_static("make",
                    [](const std::string& op, std::vector<Expr> operands) {
                        return Expr::make(op_from(op), std::move(operands));
                    })
        .def_static("cast", &Expr::cast)
        .def_static("bitcast", &Expr::bitcast)
        .def("named", &Expr::named)
        .def_prop_ro("op", [](const Expr& self) { return std::string(scalar::name(self.op())); })
        .def_prop_ro("dtype", &Expr::dtype)
        .def_prop_ro("operands", [](const Expr& self) { return self.operands(); })
        .def("with_operands",
             [](const Expr& self, std::vector<Expr> operands) {
                 return self.with_operands(std::move(operands));
             })
        .def_prop_ro("name", [](const Expr& self) { return self.name(); })
        .def_prop_ro("index", &Expr::index)
        .def_prop_ro("value", &Expr::value)
        .def_prop_ro("bits", &Expr::bits)
        .def_prop_ro("row",
                     [](const Expr& self) { return std::const_pointer_cast<Row>(self.row()); })
        .def_prop_ro("table", [](const Expr& self) { return *self.table(); })
        .def_prop_ro("loop", [](const Expr& self) { return *self.loop(); })
        .def("__hash__",
             [](const Expr& self) {
                 return static_cast<Py_ssize_t>(reinterpret_cast<uintptr_t>(self.id()) >> 4);
             })
        .def("is_same", [](const Expr& self, const Expr& other) { return self == other; })
        .def("__repr__", [](const Expr& self) { return scalar::print(self); });
}

void bind_loop(nb::module_& module) {
    using scalar::Loop;
    nb::class_<Loop>(module, "Loop",
                     "What a loop expression repeats; its operands start the state.")
        .def_ro("state", &Loop::state)
        .def_ro("condition", &Loop::condition)
        .def_ro("steps", &Loop::steps)
        .def_ro("limit", &Loop::limit);
}

nb::object domain_of(const Row& row) {
    nb::list domain;
    for (const scalar::Interval& interval : row.domain)
        domain.append(nb::make_tuple(interval.low, interval.high));
    return domain;
}

void bind_row(nb::module_& module) {
    nb::class_<Row>(module, "Row", "Everything there is to say about one elementwise function.")
        .def_ro("name", &Row::name)
        .def_ro("aliases", &Row::aliases)
        .def_ro("arity", &Row::arity)
        .def_ro("doc", &Row::doc)
        .def_ro("is_piecewise_constant", &Row::is_piecewise_constant)
        .def_prop_ro("domain", domain_of)
        .def(
            "types",
            [](const Row& self, const std::vector<ir::DType>& operands) {
                const scalar::Signature signature = self.types(self.name, operands);
                nb::list dtypes;
                for (ir::DType dtype : signature.operands) dtypes.append(dtype_object(dtype));
                return nb::make_tuple(dtypes, dtype_object(signature.result));
            },
            "Operand dtypes -> (dtypes computed in, dtype of the result).")
        .def("__repr__", [](const Row& self) { return "<Row(" + self.name + ")>"; });
    module.def("find_row", [](const std::string& name) {
        return std::const_pointer_cast<Row>(scalar::find_row(name));
    });
    module.def("all_rows", [] {
        std::vector<std::shared_ptr<Row>> rows;
        for (const RowRef& row : scalar::all_rows())
            rows.push_back(std::const_pointer_cast<Row>(row));
        return rows;
    });
    module.def(
        "specialise",
        [](const std::string& name, const std::vector<ir::DType>& operands) {
            return scalar::specialise(scalar::row(name), operands).body;
        },
        "The body of a row, by name, for operands of these dtypes.");
    module.def(
        "specialise",
        [](const std::shared_ptr<Row>& row, const std::vector<ir::DType>& operands) {
            return scalar::specialise(row, operands).body;
        },
        "The body of a row; of one that is in no table too.");
    module.def("slopes_of", [](const std::string& name, const std::vector<Expr>& x, const Expr& y) {
        return scalar::slopes_of(scalar::row(name), x, y);
    });
}

}  // namespace

void bind_scalar(nb::module_& module) {
    nb::module_ inner = module.def_submodule("scalar", "The scalar language and its table.");
    bind_expr(inner);
    bind_loop(inner);
    bind_row(inner);
    bind_scalar_values(inner);
}

}  // namespace composit::python
