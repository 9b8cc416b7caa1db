// composit/runtime/backend.h: the registry, and back ends written in Python.
#include "composit/runtime/backend.h"

#include "bindings.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/runtime/unavailable.h"
#include "composit/runtime/warning.h"
#include "held.h"
#include "interpreter_lock.h"
#include "location.h"

#include <nanobind/stl/shared_ptr.h>

namespace composit::python {
namespace {

using ir::kernel::Buffer;
using ir::kernel::Kernel;
using ir::kernel::Program;

// An ndarray over memory that lives while the run does.
nb::object ndarray_over(const Buffer& buffer, void* data, bool is_writable) {
    const nb::tuple shape = tuple_from(buffer.shape);
    const nb::object dtype = dtype_object(buffer.dtype);
    if (buffer.bytes == 0) return numpy_attribute("empty")(shape, dtype);
    const nb::object memory = nb::steal(PyMemoryView_FromMemory(
        static_cast<char*>(data), buffer.bytes, is_writable ? PyBUF_WRITE : PyBUF_READ));
    if (!memory.is_valid()) throw nb::python_error();
    return numpy_attribute("ndarray")(shape, dtype, memory);
}

class PythonExecutable : public runtime::Executable {
  public:
    PythonExecutable(const Program& program, nb::object callable)
        : callable_(held(std::move(callable))) {
        for (int buffer : program.inputs)
            inputs_.push_back(program.buffers[static_cast<size_t>(buffer)]);
        for (int buffer : program.outputs)
            outputs_.push_back(program.buffers[static_cast<size_t>(buffer)]);
    }

    void run(const runtime::Run& run) const override {
        const Acquired acquired;
        nb::list inputs;
        nb::list outputs;
        for (size_t i = 0; i < inputs_.size(); ++i)
            inputs.append(ndarray_over(inputs_[i], const_cast<void*>(run.inputs[i]), false));
        for (size_t i = 0; i < outputs_.size(); ++i)
            outputs.append(ndarray_over(outputs_[i], run.outputs[i], true));
        (*callable_)(inputs, outputs);
    }

    std::vector<runtime::SourceFile> sources() const override {
        const Acquired acquired;
        if (!has_attribute(*callable_, "source")) return {};
        return {{"program", nb::cast<std::string>(nb::str(callable_->attr("source")))}};
    }

  private:
    std::shared_ptr<nb::object> callable_;
    std::vector<Buffer> inputs_, outputs_;
};

// An object with `name`, refuses(kernel) -> reason or None, compile(program) -> callable(inputs,
// outputs), which reads the first and writes the second.
class PythonBackend : public runtime::Backend {
  public:
    explicit PythonBackend(nb::object object)
        : name_(nb::cast<std::string>(object.attr("name"))), object_(held(std::move(object))) {}

    std::string name() const override { return name_; }

    std::optional<std::string> refuses(const Kernel& kernel, const Program&) const override {
        const Acquired acquired;
        if (!has_attribute(*object_, "refuses")) return std::nullopt;
        const nb::object reason = object_->attr("refuses")(nb::cast(kernel));
        if (reason.is_none()) return std::nullopt;
        return nb::cast<std::string>(reason);
    }

    std::shared_ptr<runtime::Executable> compile(const Program& program,
                                                 const runtime::CompileOptions&) override {
        const Acquired acquired;
        return std::make_shared<PythonExecutable>(program,
                                                  object_->attr("compile")(nb::cast(program)));
    }

  private:
    std::string name_;
    std::shared_ptr<nb::object> object_;
};

void warn_in_python(const std::string& text) {
    const Acquired acquired;
    warn_user(text);
}

}  // namespace

void bind_backend(nb::module_& module) {
    nb::module_ inner = module.def_submodule("backends", "The back ends of this process.");
    inner.def("register", [](nb::object backend) {
        runtime::register_backend(std::make_shared<PythonBackend>(std::move(backend)));
    });
    inner.def("names", &runtime::backend_names);
    inner.def("full_name", [](const std::string& name) { return runtime::backend(name)->name(); });
    inner.def(
        "refuses",
        [](const std::string& name, const Kernel& kernel, const Program& program) -> nb::object {
            const auto reason = runtime::backend(name)->refuses(kernel, program);
            return reason ? nb::cast(*reason) : nb::none();
        });
    inner.def("warn_in_python", [] { runtime::set_warning_handler(warn_in_python); });
}

}  // namespace composit::python
