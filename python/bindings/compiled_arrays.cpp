// Calls of compiled procedures with arrays.
#include "compiled_arrays.h"

#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <sstream>

namespace composit::python {
namespace {

using c_family::Slot;
using ir::DType;
using ir::procedure::Procedure;
using ir::scalar::Expr;

nb::object number_of(const Slot& slot, DType dtype) {
    if (dtype == DType::boolean) return nb::borrow(slot.as_boolean ? Py_True : Py_False);
    if (dtype == DType::int64) return nb::steal(PyLong_FromLongLong(slot.as_int64));
    return nb::steal(
        PyFloat_FromDouble(dtype == DType::float32 ? slot.as_float32 : slot.as_float64));
}

}  // namespace

CompiledArrays::CompiledArrays(std::shared_ptr<cpp::Library> library, size_t number,
                               Procedure procedure, std::shared_ptr<const std::string> text)
    : library_(std::move(library)), procedure_(std::move(procedure)), text_(std::move(text)) {
    using Role = ir::procedure::ArrayVariable::Role;
    run_ = reinterpret_cast<Run>(library_->symbol(composit::text("run_", number)));
    inputs_ = procedure_.arrays_of(Role::input);
    outputs_ = procedure_.arrays_of(Role::output);
}

nb::tuple CompiledArrays::call(const std::vector<double>& floats,
                               const std::vector<int64_t>& integers,
                               const std::vector<nb::object>& arrays) const {
    std::vector<Slot> in(procedure_.parameters + 1), out(procedure_.results.size() + 1);
    std::vector<ir::scalar::Bits> parameters;
    size_t next_float = 0, next_integer = 0;
    for (size_t i = 0; i < procedure_.parameters; ++i) {
        const DType dtype = procedure_.variables[i].dtype;
        if (is_floating(dtype)) {
            const double value = floats.at(next_float++);
            parameters.push_back(ir::scalar::bits_of(dtype, value));
            if (dtype == DType::float32)
                in[i].as_float32 = static_cast<float>(value);
            else
                in[i].as_float64 = value;
            continue;
        }
        const int64_t value = integers.at(next_integer++);
        parameters.push_back(ir::scalar::bits_of_integer(dtype, value));
        if (dtype == DType::boolean)
            in[i].as_boolean = value != 0;
        else
            in[i].as_int64 = value;
    }
    std::vector<void*> pointers;
    for (size_t i = 0; i < inputs_.size(); ++i)
        pointers.push_back(pointer_to(arrays.at(i), inputs_[i], parameters));
    std::vector<ir::Array> results;
    for (const int output : outputs_) {
        results.emplace_back(array(output).dtype, shape_of(output, parameters));
        pointers.push_back(results.back().mutable_data());
    }
    pointers.push_back(nullptr);
    int failed = 0;
    {
        const nb::gil_scoped_release released;
        failed = run_(in.data(), out.data(), pointers.data());
    }
    if (failed != 0) fail_at(failed);
    nb::list all;
    for (size_t i = 0; i < procedure_.results.size(); ++i)
        all.append(number_of(out[i], procedure_.results[i].dtype));
    for (ir::Array& result : results) all.append(ndarray_from(std::move(result)));
    return nb::tuple(all);
}

ir::Shape CompiledArrays::shape_of(int number,
                                   const std::vector<ir::scalar::Bits>& parameters) const {
    ir::Shape shape;
    for (const Expr& extent : array(number).shape) {
        const auto bits = ir::scalar::evaluate({extent}, parameters)[0];
        shape.push_back(std::max<int64_t>(static_cast<int64_t>(bits[0]), 0));
    }
    return shape;
}

void* CompiledArrays::pointer_to(const nb::object& object, int number,
                                 const std::vector<ir::scalar::Bits>& parameters) const {
    const auto found = plain_array(object);
    user_check<TypeError>(found && found->dtype == array(number).dtype, procedure_.name, ": ",
                          array(number).name, " is no dense array of dtype ", array(number).dtype,
                          ", which is required.");
    const ir::Shape own(found->shape, found->shape + found->rank);
    const ir::Shape wanted = shape_of(number, parameters);
    user_check<ValueError>(own == wanted, procedure_.name, ": ", array(number).name,
                           " has the shape [", join(own), "]. [", join(wanted), "] is required.");
    return const_cast<void*>(static_cast<const void*>(found->data));
}

// The line of the text names the line of the source, or one before it does.
void CompiledArrays::fail_at(int line) const {
    user_check<OutOfMemory>(line > 0, procedure_.name, ": memory is exhausted.");
    std::vector<std::string> lines;
    std::istringstream stream(*text_);
    for (std::string each; std::getline(stream, each);) lines.push_back(each);
    std::string mark;
    for (size_t i = std::min(lines.size(), static_cast<size_t>(line)); i-- > 0 && mark.empty();)
        if (const size_t at = lines[i].find("// " + procedure_.file); at != std::string::npos)
            mark = lines[i].substr(at + 3);
    fail<IndexError>(procedure_.name,
                     ": an index lies outside of its array, or an assertion does not hold. [", mark,
                     "]");
}

void bind_compiled_arrays(nb::module_& module) {
    nb::class_<CompiledArrays>(module, "CompiledArrays", "Compiled code of one with arrays.")
        .def("__call__", &CompiledArrays::call);
}

}  // namespace composit::python
