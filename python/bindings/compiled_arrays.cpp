// Calls of compiled procedures with arrays.
#include "compiled_arrays.h"

#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/runtime/interrupt.h"
#include "interpreter_lock.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>

namespace composit::python {
namespace {

using ir::DType;
using ir::procedure::Procedure;
using ir::scalar::Bits;

nb::object number_of(const Bits& bits, DType dtype) {
    if (dtype == DType::boolean) return nb::borrow(bits[0] != 0 ? Py_True : Py_False);
    if (dtype == DType::int64) return nb::steal(PyLong_FromLongLong(static_cast<int64_t>(bits[0])));
    return nb::steal(PyFloat_FromDouble(ir::scalar::value_of(dtype, bits)));
}

}  // namespace

bool is_asked_to_stop() {
    try {
        if (PyGILState_Check()) const Released released;
        runtime::check_interrupt();
        return false;
    } catch (const runtime::Interrupted&) {
        return true;
    }
}

CompiledArrays::CompiledArrays(Procedure procedure, ir::procedure::Run run)
    : procedure_(std::move(procedure)),
      run_(run ? std::move(run) : ir::procedure::interpreted(procedure_)) {
    using Role = ir::procedure::ArrayVariable::Role;
    inputs_ = procedure_.arrays_of(Role::input);
    outputs_ = procedure_.arrays_of(Role::output);
}

nb::tuple CompiledArrays::call(const std::vector<double>& floats,
                               const std::vector<int64_t>& integers,
                               const std::vector<nb::object>& arrays) const {
    std::vector<Bits> parameters;
    size_t next_float = 0, next_integer = 0;
    for (size_t i = 0; i < procedure_.parameters; ++i) {
        const DType dtype = procedure_.variables[i].dtype;
        parameters.push_back(is_floating(dtype)
                                 ? ir::scalar::bits_of(dtype, floats.at(next_float++))
                                 : ir::scalar::bits_of_integer(dtype, integers.at(next_integer++)));
    }
    std::vector<void*> pointers;
    for (size_t i = 0; i < inputs_.size(); ++i)
        pointers.push_back(pointer_to(arrays.at(i), inputs_[i], parameters));
    std::vector<ir::Array> results;
    for (const int output : outputs_) {
        results.emplace_back(array(output).dtype,
                             ir::procedure::shape_of(array(output), parameters));
        pointers.push_back(results.back().mutable_data());
    }
    pointers.push_back(nullptr);
    std::vector<Bits> numbers;
    {
        const Released released;
        numbers = run_(parameters, pointers.data());
    }
    nb::list all;
    for (size_t i = 0; i < numbers.size(); ++i)
        all.append(number_of(numbers[i], procedure_.results[i].dtype));
    for (ir::Array& result : results) all.append(ndarray_from(std::move(result)));
    return nb::tuple(all);
}

void* CompiledArrays::pointer_to(const nb::object& object, int number,
                                 const std::vector<ir::scalar::Bits>& parameters) const {
    const auto found = plain_array(object);
    user_check<TypeError>(found && found->dtype == array(number).dtype, procedure_.name, ": ",
                          array(number).name, " is no dense array of dtype ", array(number).dtype,
                          ", which is required.");
    const ir::Shape own(found->shape, found->shape + found->rank);
    const ir::Shape wanted = ir::procedure::shape_of(array(number), parameters);
    user_check<ValueError>(own == wanted, procedure_.name, ": ", array(number).name,
                           " has the shape [", join(own), "]. [", join(wanted), "] is required.");
    return const_cast<void*>(static_cast<const void*>(found->data));
}

ArrayCall CompiledArrays::in_order(const std::vector<size_t>& order) const {
    return {procedure_, run_, order};
}

ArrayCall::ArrayCall(Procedure procedure, ir::procedure::Run run, std::vector<size_t> order)
    : procedure_(std::move(procedure)), run_(std::move(run)), order_(std::move(order)) {
    using Role = ir::procedure::ArrayVariable::Role;
    inputs_ = procedure_.arrays_of(Role::input);
    outputs_ = procedure_.arrays_of(Role::output);
    places_.resize(procedure_.arrays.size());
    for (size_t i = 0; i < inputs_.size(); ++i) places_[static_cast<size_t>(inputs_[i])] = i;
    const ir::procedure::Callable callable(procedure_);
    std::set<int> bound;
    for (const int place : callable.operands()) {
        Operand operand{place, DType::float64, {}};
        if (place >= 0) {
            operand.dtype = procedure_.variables[static_cast<size_t>(place)].dtype;
        } else {
            const auto& array = procedure_.arrays[static_cast<size_t>(-1 - place)];
            operand.dtype = array.dtype;
            for (const ir::scalar::Expr& extent : array.shape) {
                const int parameter = extent.op() == ir::scalar::Op::argument ? extent.index() : -1;
                const bool is_first = parameter >= 0 &&
                                      callable.is_extent(static_cast<size_t>(parameter)) &&
                                      bound.insert(parameter).second;
                operand.binds.push_back(is_first ? parameter : -1);
            }
        }
        operands_.push_back(std::move(operand));
    }
}

bool ArrayCall::take(const Operand& operand, nb::handle value, std::vector<Bits>& parameters,
                     std::vector<const int64_t*>& shapes, std::vector<void*>& pointers) const {
    if (operand.place < 0) {
        const auto found = plain_array(value);
        if (!found || found->dtype != operand.dtype ||
            found->rank != static_cast<int>(operand.binds.size()))
            return false;
        static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
        for (size_t axis = 0; axis < operand.binds.size(); ++axis)
            if (operand.binds[axis] >= 0)
                parameters[static_cast<size_t>(operand.binds[axis])] =
                    ir::scalar::bits_of_integer(DType::int64, found->shape[axis]);
        const size_t place = places_[static_cast<size_t>(-1 - operand.place)];
        shapes[place] = reinterpret_cast<const int64_t*>(found->shape);
        pointers[place] = const_cast<void*>(static_cast<const void*>(found->data));
        return true;
    }
    Bits& bits = parameters[static_cast<size_t>(operand.place)];
    if (is_floating(operand.dtype)) {
        if (!PyFloat_CheckExact(value.ptr())) return false;
        bits = ir::scalar::bits_of(operand.dtype, PyFloat_AS_DOUBLE(value.ptr()));
        return true;
    }
    if (operand.dtype == DType::boolean) {
        if (!PyBool_Check(value.ptr())) return false;
        bits = ir::scalar::bits_of_integer(operand.dtype, value.is(Py_True) ? 1 : 0);
        return true;
    }
    if (!PyLong_CheckExact(value.ptr())) return false;
    int overflow = 0;
    const int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    bits = ir::scalar::bits_of_integer(operand.dtype, number);
    return overflow == 0;
}

// Extents are parameters and constants, nearly always: no expression is evaluated for these.
int64_t ArrayCall::extent_of(const ir::scalar::Expr& extent,
                             const std::vector<Bits>& parameters) const {
    if (extent.op() == ir::scalar::Op::argument)
        return static_cast<int64_t>(parameters[static_cast<size_t>(extent.index())][0]);
    if (extent.op() == ir::scalar::Op::constant) return static_cast<int64_t>(extent.value());
    return static_cast<int64_t>(ir::scalar::evaluate({extent}, parameters)[0][0]);
}

bool ArrayCall::has_shape(size_t array, const int64_t* shape,
                          const std::vector<Bits>& parameters) const {
    for (const ir::scalar::Expr& extent : procedure_.arrays[array].shape)
        if (extent_of(extent, parameters) != *shape++) return false;
    return true;
}

nb::object ArrayCall::call(const nb::args& arguments) const {
    const nb::object other = nb::borrow(Py_NotImplemented);
    if (arguments.size() != operands_.size()) return other;
    std::vector<Bits> parameters(procedure_.parameters);
    std::vector<const int64_t*> shapes(inputs_.size());
    std::vector<void*> pointers(inputs_.size());
    for (size_t i = 0; i < operands_.size(); ++i)
        if (!take(operands_[i], arguments[i], parameters, shapes, pointers)) return other;
    for (size_t i = 0; i < inputs_.size(); ++i)
        if (!has_shape(static_cast<size_t>(inputs_[i]), shapes[i], parameters)) return other;
    std::vector<ir::Array> results;
    for (const int output : outputs_) {
        const auto& array = procedure_.arrays[static_cast<size_t>(output)];
        ir::Shape shape;
        for (const ir::scalar::Expr& extent : array.shape) {
            shape.push_back(extent_of(extent, parameters));
            if (shape.back() < 0) return other;
        }
        results.emplace_back(array.dtype, std::move(shape));
        pointers.push_back(results.back().mutable_data());
    }
    pointers.push_back(nullptr);
    std::vector<Bits> numbers;
    {
        const Released released;
        numbers = run_(parameters, pointers.data());
    }
    const auto result = [&](size_t i) {
        return i < numbers.size() ? number_of(numbers[i], procedure_.results[i].dtype)
                                  : ndarray_from(std::move(results[i - numbers.size()]));
    };
    if (order_.size() == 1) return result(order_[0]);
    const nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(order_.size())));
    for (size_t i = 0; i < order_.size(); ++i)
        PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(i), result(order_[i]).release().ptr());
    return all;
}

void bind_compiled_arrays(nb::module_& module) {
    nb::class_<ArrayCall>(module, "ArrayCall",
                          "A call of such code; NotImplemented for arguments to be converted.")
        .def("__call__", &ArrayCall::call, nb::arg("arguments"));
    nb::class_<CompiledArrays>(module, "CompiledArrays", "Compiled code of one with arrays.")
        .def("__call__", &CompiledArrays::call)
        .def("in_order", &CompiledArrays::in_order, nb::arg("order"),
             "A call whose arguments and results are in the order of the text.");
}

}  // namespace composit::python
