// composit/functional/ruled_call.h for Python: rules are methods of an object.
#include "composit/functional/ruled_call.h"

#include "bindings.h"
#include "casters.h"
#include "interpreter_lock.h"
#include "location.h"

#include <memory>

namespace composit::python {
namespace {

using Tensors = std::vector<Tensor>;

// Empty tensors are None.
nb::list listed(const Tensors& tensors) {
    nb::list made;
    for (const Tensor& x : tensors) made.append(x ? nb::cast(x) : nb::none());
    return made;
}

Tensors tensors_of(const nb::object& given) {
    Tensors made;
    for (const nb::handle x : given) made.push_back(x.is_none() ? Tensor() : nb::cast<Tensor>(x));
    return made;
}

class PythonRules : public Rules {
  public:
    explicit PythonRules(nb::object object) : object_(std::move(object)) {}
    ~PythonRules() override {
        if (!Py_IsInitialized()) {
            (void)object_.release();
            return;
        }
        const Acquired acquired;
        object_.reset();
    }

    Tensors vjp(const Tensors& inputs, const Tensors& outputs,
                const Tensors& gradients) const override {
        const Acquired acquired;
        return tensors_of(object_.attr("vjp")(listed(inputs), listed(outputs), listed(gradients)));
    }
    Tensors jvp(const Tensors& inputs, const Tensors& outputs,
                const Tensors& tangents) const override {
        const Acquired acquired;
        return tensors_of(object_.attr("jvp")(listed(inputs), listed(outputs), listed(tangents)));
    }
    Tensors batch(const Tensors& inputs, const std::vector<bool>& batched,
                  int64_t size) const override {
        const Acquired acquired;
        return tensors_of(object_.attr("batch")(listed(inputs), flags(batched), size));
    }
    std::shared_ptr<const Rules> rules_of_batch(const std::vector<bool>& batched,
                                                int64_t size) const override {
        const Acquired acquired;
        return std::make_shared<PythonRules>(object_.attr("rules_of_batch")(flags(batched), size));
    }

  private:
    static nb::list flags(const std::vector<bool>& values) {
        nb::list made;
        for (const bool value : values) made.append(value);
        return made;
    }

    nb::object object_;
};

}  // namespace

void bind_ruled_call(nb::module_& module) {
    using namespace nb::literals;
    // rules: an object with the methods of composit::Rules; None stands for an empty tensor.
    module.def(
        "ruled_call",
        [](const std::string& name, const Tensors& parameters, const Tensors& results,
           const Tensors& arguments, nb::object rules) {
            return ruled_call(name, parameters, results, arguments,
                              std::make_shared<PythonRules>(std::move(rules)));
        },
        "name"_a, "parameters"_a, "results"_a, "arguments"_a, "rules"_a, nb::call_guard<Located>());
    module.def("without_rules", &without_rules, "tensors"_a);
}

}  // namespace composit::python
