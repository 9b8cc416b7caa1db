// Python's operators on LazyTensor: NumPy's functions of the same meaning, reflected and in place.
#include "bindings.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/ops/ops.h"
#include "content.h"
#include "location.h"

namespace composit::python {
namespace {

struct Binary {
    const char* python;  // "add" of __add__, __radd__, __iadd__
    const char* row;
};
constexpr Binary arithmetic[] = {
    {"add", "add"},         {"sub", "subtract"},          {"mul", "multiply"},
    {"truediv", "divide"},  {"floordiv", "floor_divide"}, {"mod", "remainder"},
    {"pow", "power"},       {"and", "bitwise_and"},       {"or", "bitwise_or"},
    {"xor", "bitwise_xor"}, {"lshift", "left_shift"},     {"rshift", "right_shift"},
    {"matmul", "matmul"},
};
constexpr Binary comparisons[] = {
    {"__lt__", "less"},          {"__le__", "less_equal"}, {"__gt__", "greater"},
    {"__ge__", "greater_equal"}, {"__eq__", "equal"},      {"__ne__", "not_equal"},
};

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

Tensor applied(std::string_view row, const Tensor& a, const Tensor& b) {
    if (row == "matmul") return numpy::matmul(a, b);
    if (row == "power") return numpy::raised(a, b);
    return numpy::apply(row, {a, b});
}

// NumPy's rule for writing a result over an operand.
Tensor fitted(std::string_view row, const Tensor& result, const ir::TensorType& type) {
    user_check(result.shape() == type.shape, "non-broadcastable output operand with shape ",
               type.shape, " doesn't match the broadcast shape ", result.shape());
    user_check<TypeError>(numpy::kind_rank(result.dtype()) <= numpy::kind_rank(type.dtype),
                          "Cannot cast ufunc '", row, "' output from dtype('",
                          ir::name(result.dtype()), "') to dtype('", ir::name(type.dtype),
                          "') with casting rule 'same_kind'");
    return ops::astype(result, type.dtype);
}

void bind_binary(nb::class_<LazyTensor>& type, const Binary& operation) {
    const std::string name = operation.python;
    const char* row = operation.row;
    type.def(("__" + name + "__").c_str(),
             [row](const LazyTensor& self, nb::handle other) {
                 if (!is_operand(other)) return not_implemented();
                 return wrap(applied(row, self.tensor(), tensor_from(other)));
             },
             nb::call_guard<Located>());
    type.def(("__r" + name + "__").c_str(),
             [row](const LazyTensor& self, nb::handle other) {
                 if (!is_operand(other)) return not_implemented();
                 return wrap(applied(row, tensor_from(other), self.tensor()));
             },
             nb::call_guard<Located>());
    type.def(("__i" + name + "__").c_str(),
             [row](nb::handle object, nb::handle other) {
                 if (!is_operand(other)) return not_implemented();
                 const auto& self = content_of<LazyTensor>(object);
                 const Tensor before = self.tensor();
                 self.cell->replace(
                     fitted(row, applied(row, before, tensor_from(other)), before.type()));
                 return nb::borrow(object);
             },
             nb::call_guard<Located>());
}

void bind_unary(nb::class_<LazyTensor>& type, const char* python, const char* row) {
    type.def(
        python, [row](const LazyTensor& self) { return wrap(numpy::apply(row, {self.tensor()})); },
        nb::call_guard<Located>());
}

}  // namespace

void bind_operators(nb::module_& module) {
    auto type = nb::borrow<nb::class_<LazyTensor>>(module.attr("LazyTensor"));
    for (const Binary& operation : arithmetic) bind_binary(type, operation);
    for (const Binary& comparison : comparisons)
        type.def(
            comparison.python,
            [row = comparison.row](const LazyTensor& self, nb::handle other) {
                if (!is_operand(other)) return not_implemented();
                return wrap(numpy::apply(row, {self.tensor(), tensor_from(other)}));
            },
            nb::call_guard<Located>());
    bind_unary(type, "__neg__", "negative");
    bind_unary(type, "__pos__", "positive");
    bind_unary(type, "__abs__", "absolute");
    bind_unary(type, "__invert__", "invert");
    type.def(
        "__divmod__",
        [](const LazyTensor& self, nb::handle other) {
            if (!is_operand(other)) return not_implemented();
            const auto both = numpy::divmod(self.tensor(), tensor_from(other));
            return nb::object(nb::make_tuple(wrap(both[0]), wrap(both[1])));
        },
        nb::call_guard<Located>());
    type.def(
        "__rdivmod__",
        [](const LazyTensor& self, nb::handle other) {
            if (!is_operand(other)) return not_implemented();
            const auto both = numpy::divmod(tensor_from(other), self.tensor());
            return nb::object(nb::make_tuple(wrap(both[0]), wrap(both[1])));
        },
        nb::call_guard<Located>());
    module.def(
        "fitted",
        [](const std::string& function, const Tensor& result, const LazyTensor& out) {
            return fitted(function, result, out.tensor().type());
        },
        "A ufunc's result as it is written to out=: cast by the rule same_kind, or refused.");
}

}  // namespace composit::python
