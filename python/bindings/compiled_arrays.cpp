// Calls of compiled procedures with arrays.
#include "compiled_arrays.h"

#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace composit::python {
namespace {

using c_family::Slot;
using ir::DType;
using ir::procedure::Procedure;
using ir::scalar::Bits;

nb::object number_of(const Bits& bits, DType dtype) {
    if (dtype == DType::boolean) return nb::borrow(bits[0] != 0 ? Py_True : Py_False);
    if (dtype == DType::int64) return nb::steal(PyLong_FromLongLong(static_cast<int64_t>(bits[0])));
    return nb::steal(PyFloat_FromDouble(ir::scalar::value_of(dtype, bits)));
}

// The line of the text names the line of the source, or one before it does.
[[noreturn]] void fail_at(int line, const Procedure& procedure, const std::string& code) {
    user_check<OutOfMemory>(line > 0, procedure.name, ": memory is exhausted.");
    std::vector<std::string> lines;
    std::istringstream stream(code);
    for (std::string each; std::getline(stream, each);) lines.push_back(each);
    std::string mark;
    for (size_t i = std::min(lines.size(), static_cast<size_t>(line)); i-- > 0 && mark.empty();)
        if (const size_t at = lines[i].find("// " + procedure.file); at != std::string::npos)
            mark = lines[i].substr(at + 3);
    ir::procedure::fail_assertion(procedure, mark);
}

}  // namespace

ir::procedure::Run compiled_run(std::shared_ptr<cpp::Library> library, size_t number,
                                Procedure procedure, std::shared_ptr<const std::string> text) {
    using Entry = int (*)(const Slot*, Slot*, void* const*);
    const auto entry = reinterpret_cast<Entry>(library->symbol(composit::text("run_", number)));
    return [library = std::move(library), entry, procedure = std::move(procedure),
            text = std::move(text)](const std::vector<Bits>& parameters, void* const* arrays) {
        static_assert(sizeof(Slot) == sizeof(Bits::value_type));
        std::vector<Slot> in(procedure.parameters + 1), out(procedure.results.size() + 1);
        for (size_t i = 0; i < procedure.parameters; ++i)
            std::memcpy(&in[i], parameters[i].data(), sizeof(Slot));
        if (const int failed = entry(in.data(), out.data(), arrays); failed != 0)
            fail_at(failed, procedure, *text);
        std::vector<Bits> results(procedure.results.size());
        for (size_t i = 0; i < results.size(); ++i)
            std::memcpy(results[i].data(), &out[i],
                        static_cast<size_t>(size_of(procedure.results[i].dtype)));
        return results;
    };
}

CompiledArrays::CompiledArrays(Procedure procedure, ir::procedure::Run run)
    : procedure_(std::move(procedure)), run_(std::move(run)) {
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
        const nb::gil_scoped_release released;
        numbers = run_ ? run_(parameters, pointers.data())
                       : ir::procedure::interpret(procedure_, parameters, pointers.data());
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

void bind_compiled_arrays(nb::module_& module) {
    nb::class_<CompiledArrays>(module, "CompiledArrays", "Compiled code of one with arrays.")
        .def("__call__", &CompiledArrays::call);
}

}  // namespace composit::python
