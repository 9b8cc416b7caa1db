// autograd.Functions within torch.func's vmap and forward mode: a call is one node, whose rules are
// the Function's own backward, jvp and vmap.
#include "arguments.h"
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "composit/functional/functional.h"
#include "composit/functional/ruled_call.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "content.h"
#include "interpreter_lock.h"
#include "location.h"
#include "provided.h"
#include "shown.h"
#include "structures.h"
#include "tape.h"
#include "tape_hooks.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "user_functions.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

constexpr const char* more_of_rules = "https://pytorch.org/docs/main/notes/extending.func.html";

std::string name_of_function(const nb::object& function) {
    return nb::str(function.attr("__name__")).c_str();
}

// While a rule runs: nothing is recorded, calls of Functions have rules, too.
struct WithinRule {
    OutsideOfTraces outside;
    IgnoredErrors ignored;
    eager::NoGrad mode;
    Counted ruled{function_transforms().ruled};
};

bool is_several(nb::handle value) {
    return PyTuple_Check(value.ptr()) || PyList_Check(value.ptr());
}

// Parts as the value that they are of, a tuple, a list or one part.
nb::object like_parts(nb::handle value, const nb::list& parts) {
    return is_several(value) ? value.type()(parts) : nb::object(parts[0]);
}

nb::object tensor_or_none(const Tensor& value) {
    return value ? wrapped_tensor(value) : nb::none();
}

Tensor zeros_as(const Tensor& x) { return numpy::zeros(x.shape(), x.dtype()); }

[[noreturn]] void refuse_writes(const nb::object& function) {
    refuse_unbuilt(name_of_function(function) +
                   ": writes into an argument (mark_dirty), which within torch.func's vmap and "
                   "forward mode is not built. A forward that makes new tensors is required.");
}

// What a Function's rule gives. Its errors are the user's, whatever transform calls it.
template <class Rule>
auto as_users(const Rule& rule) {
    try {
        return rule();
    } catch (const Error&) {
        set_python_error();
        throw nb::python_error();
    }
}

// The rules of one call.
class FunctionRules final : public Rules, public std::enable_shared_from_this<FunctionRules> {
  public:
    // `args` has None for tensors, which stand at `places`, `result` for those that it returned.
    FunctionRules(nb::object function, nb::list args, std::vector<size_t> places, nb::object result)
        : function_(std::move(function)),
          args_(std::move(args)),
          result_(std::move(result)),
          places_(std::move(places)) {}
    ~FunctionRules() override {
        if (!Py_IsInitialized()) {
            (void)function_.release();
            (void)args_.release();
            (void)result_.release();
            return;
        }
        const Acquired acquired;
        function_.reset();
        args_.reset();
        result_.reset();
    }

    // The gradients that backward gives.
    Tensors vjp(const Tensors& inputs, const Tensors& outputs,
                const Tensors& gradients) const override {
        const Acquired acquired;
        return as_users([&] { return gradients_of(inputs, outputs, gradients); });
    }

    // The tangents that jvp gives.
    Tensors jvp(const Tensors& inputs, const Tensors& outputs,
                const Tensors& tangents) const override {
        const Acquired acquired;
        return as_users([&] { return tangents_of(inputs, outputs, tangents); });
    }

    // What vmap gives; nothing where the rule is generated.
    Tensors batch(const Tensors& inputs, const std::vector<bool>& batched,
                  int64_t size) const override {
        const Acquired acquired;
        return as_users([&] { return batched_results(inputs, batched, size); });
    }

    std::shared_ptr<const Rules> rules_of_batch(const std::vector<bool>& batched,
                                                int64_t size) const override;

  private:
    Tensors gradients_of(const Tensors& inputs, const Tensors& outputs,
                         const Tensors& gradients) const {
        const WithinRule scope;
        const nb::object context = context_of(inputs, outputs);
        const nb::list results = nb::borrow<nb::list>(nb::object(context.attr("_results")));
        const bool has_zeros = nb::cast<bool>(context.attr("_materializes"));
        const nb::list returned = as_parts(result_);
        nb::list given;
        size_t next = 0;
        for (size_t i = 0; i < nb::len(results); ++i) {
            const bool is_tensor = returned[i].is_none();
            Tensor gradient = is_tensor ? gradients.at(next) : Tensor();
            if (is_left_out(context, results[i])) gradient = Tensor();
            if (is_tensor && !gradient && has_zeros) gradient = zeros_as(outputs.at(next));
            if (is_tensor) ++next;
            given.append(tensor_or_none(gradient));
        }
        const nb::object base = provided("autograd_function");
        const bool is_vjp = nb::object(function_.attr("backward")).is(base.attr("backward")) &&
                            !nb::object(function_.attr("vjp")).is(base.attr("vjp"));
        const std::string name = name_of_function(function_) + "Backward";
        const nb::object returned_by_it =
            function_.attr(is_vjp ? "vjp" : "backward")(context, *given);
        const nb::list found = returned_gradients(name, returned_by_it, nb::len(args_));
        Tensors made;
        for (size_t i = 0; i < inputs.size(); ++i) {
            const nb::object gradient = found[places_[i]];
            const bool is_none = gradient.is_none() || !ir::is_inexact(inputs[i].dtype());
            made.push_back(is_none
                               ? Tensor()
                               : fitting_gradient(name, places_[i], held_by(gradient), inputs[i]));
        }
        return made;
    }

    Tensors tangents_of(const Tensors& inputs, const Tensors& outputs,
                        const Tensors& tangents) const {
        const WithinRule scope;
        const nb::object context = context_of(inputs, outputs);
        const nb::object saved = context.attr("_saved_for_forward");
        context.attr("save_for_backward")(*saved);
        const bool has_zeros = nb::cast<bool>(context.attr("_materializes"));
        nb::list flows = nb::list(args_);
        for (size_t i = 0; i < nb::len(flows); ++i) flows[i] = nb::none();
        for (size_t i = 0; i < inputs.size(); ++i) {
            const bool is_zero = !tangents[i] && has_zeros && ir::is_inexact(inputs[i].dtype());
            flows[places_[i]] = tensor_or_none(is_zero ? zeros_as(inputs[i]) : tangents[i]);
        }
        const nb::list found = as_parts(function_.attr("jvp")(context, *flows));
        const nb::list returned = as_parts(result_);
        const nb::list results = nb::borrow<nb::list>(nb::object(context.attr("_results")));
        user_check<RuntimeError>(
            nb::len(found) == nb::len(returned),
            "Function's jvp returned an invalid number of forward gradients (expected ",
            nb::len(returned), " but got ", nb::len(found), ")");
        Tensors made;
        for (size_t i = 0; i < nb::len(returned); ++i) {
            if (!returned[i].is_none()) continue;
            const bool is_none = found[i].is_none() || is_left_out(context, results[i]);
            made.push_back(is_none ? Tensor() : held_by(found[i]));
        }
        return made;
    }

    Tensors batched_results(const Tensors& inputs, const std::vector<bool>& batched,
                            int64_t size) const {
        const nb::object base = provided("autograd_function");
        const bool is_own = !nb::object(function_.attr("vmap")).is(base.attr("vmap"));
        const bool is_generated =
            nb::cast<bool>(nb::bool_(nb::object(function_.attr("generate_vmap_rule"))));
        if (is_generated && !is_own) return {};
        user_check<RuntimeError>(
            is_own != is_generated, "You tried to vmap over ", name_of_function(function_),
            is_own ? ", but it has both generate_vmap_rule=True and an overridden vmap "
                     "staticmethod. Please set generate_vmap_rule=False or delete the overridden "
                     "vmap staticmethod to avoid ambiguity. "
                   : ", but it does not have vmap support. Please override and implement the vmap "
                     "staticmethod or set generate_vmap_rule=True. ",
            "For more details, please see ", more_of_rules);
        const WithinRule scope;
        nb::list in_dims = nb::list(args_);
        for (size_t i = 0; i < nb::len(in_dims); ++i) in_dims[i] = nb::none();
        for (size_t i = 0; i < places_.size(); ++i)
            if (batched[i]) in_dims[places_[i]] = 0;
        const nb::object info =
            provided("vmap_info")(size, function_transforms().randomness.c_str());
        const nb::list given = whole(inputs);
        return with_first_axes(function_.attr("vmap")(info, nb::tuple(in_dims), *given), size);
    }

    static bool is_left_out(const nb::object& context, nb::handle result) {
        const nb::object marked = context.attr("_not_differentiable");
        const nb::object number = nb::steal(PyLong_FromVoidPtr(result.ptr()));
        return PySequence_Contains(marked.ptr(), number.ptr()) == 1;
    }

    // The arguments with tensors.
    nb::list whole(const Tensors& inputs) const {
        nb::list made;
        for (nb::handle value : args_) made.append(value);
        for (size_t i = 0; i < inputs.size(); ++i) made[places_[i]] = tensor_or_none(inputs[i]);
        return made;
    }

    // What setup_context leaves for these values.
    nb::object context_of(const Tensors& inputs, const Tensors& outputs) const {
        const nb::object context = provided("function_context")();
        nb::list needed, results;
        for (size_t i = 0; i < nb::len(args_); ++i)
            needed.append(std::find(places_.begin(), places_.end(), i) != places_.end());
        context.attr("needs_input_grad") = nb::tuple(needed);
        size_t next = 0;
        for (nb::handle part : as_parts(result_))
            results.append(part.is_none() ? wrapped_tensor(outputs.at(next++)) : nb::borrow(part));
        context.attr("_results") = results;
        function_.attr("setup_context")(context, nb::tuple(whole(inputs)),
                                        like_parts(result_, results));
        if (nb::len(nb::object(context.attr("_dirty"))) > 0) refuse_writes(function_);
        return context;
    }

    // The results of vmap, the new dimension first.
    Tensors with_first_axes(const nb::object& made, int64_t size) const {
        const bool is_tuple = PyTuple_Check(made.ptr());
        if (!is_tuple || nb::len(made) != 2)
            throw RuntimeError(composit::text(
                "Expected the vmap staticmethod to have two returns, an output and out_dims with "
                "pytree structure compatible with the output. Got ",
                is_tuple ? composit::text(nb::len(made), " returns")
                         : composit::text("a ", Said{made.type()}),
                " instead"));
        const nb::object out_dims = made[1];
        const nb::list outputs = as_parts(nb::object(made[0]));
        nb::list dims;
        if (is_several(out_dims))
            dims = nb::list(out_dims);
        else
            for (size_t i = 0; i < nb::len(outputs); ++i) dims.append(out_dims);
        const size_t count = nb::len(as_parts(result_));
        user_check<RuntimeError>(
            nb::len(dims) == nb::len(outputs) && nb::len(outputs) == count,
            "The autograd.Function's vmap staticmethod returned an incompatible (output, "
            "out_dims) tuple. Expected out_dims=",
            Said{out_dims}, " to be compatible with the structure of `output`, which has ",
            nb::len(outputs), " results where forward has ", count,
            ". For more details, please see ", more_of_rules);
        Tensors found;
        for (size_t i = 0; i < nb::len(outputs); ++i) {
            if (!is_tensor_of_torch(outputs[i])) continue;
            const Tensor x = held_by(outputs[i]);
            if (!dims[i].is_none()) {
                found.push_back(numpy::moveaxis(x, integer_from(nb::object(dims[i])), 0));
                continue;
            }
            ir::Shape shape{size};
            shape.insert(shape.end(), x.shape().begin(), x.shape().end());
            found.push_back(numpy::broadcast_to(x, shape));
        }
        return found;
    }

    nb::object function_;
    nb::list args_;
    nb::object result_;
    std::vector<size_t> places_;
};

// Generated rules: those of one slice, over the first dimension.
class BatchedRules final : public Rules, public std::enable_shared_from_this<BatchedRules> {
  public:
    BatchedRules(std::shared_ptr<const Rules> rules, std::vector<bool> batched)
        : rules_(std::move(rules)), batched_(std::move(batched)) {}

    // Gradients of slices; of what is the same for all, their sum.
    Tensors vjp(const Tensors& inputs, const Tensors& outputs,
                const Tensors& gradients) const override {
        const InAxes axes(gradients.size(), 0);
        const Tensors found = mapped(
            [this](const Tensors& x, const Tensors& y, const Tensors& flows) {
                return zeros_for_nothing(rules_->vjp(x, y, flows), x);
            },
            inputs, outputs, gradients, axes);
        Tensors made;
        for (size_t i = 0; i < inputs.size(); ++i)
            made.push_back(!ir::is_inexact(inputs[i].dtype()) ? Tensor()
                           : batched_[i]                      ? found[i]
                                                              : numpy::sum(found[i], 0));
        return made;
    }
    Tensors jvp(const Tensors& inputs, const Tensors& outputs,
                const Tensors& tangents) const override {
        return mapped(
            [this](const Tensors& x, const Tensors& y, const Tensors& flows) {
                return zeros_for_nothing(rules_->jvp(x, y, flows), y);
            },
            inputs, outputs, tangents, axes_of_inputs());
    }
    Tensors batch(const Tensors&, const std::vector<bool>&, int64_t) const override { return {}; }
    std::shared_ptr<const Rules> rules_of_batch(const std::vector<bool>& batched,
                                                int64_t) const override {
        return std::make_shared<BatchedRules>(shared_from_this(), batched);
    }

  private:
    using Rule = std::function<Tensors(const Tensors&, const Tensors&, const Tensors&)>;

    static Tensors zeros_for_nothing(Tensors found, const Tensors& like) {
        for (size_t i = 0; i < found.size(); ++i)
            if (!found[i]) found[i] = zeros_as(like.at(i));
        return found;
    }

    InAxes axes_of_inputs() const {
        InAxes axes;
        for (const bool is_batched : batched_)
            axes.push_back(is_batched ? std::optional<int64_t>(0) : std::nullopt);
        return axes;
    }

    Tensors mapped(const Rule& rule, const Tensors& inputs, const Tensors& outputs,
                   const Tensors& flows, const InAxes& axes_of_flows) const {
        const Acquired acquired;
        const WithinRule scope;
        Tensors given = inputs;
        InAxes axes = axes_of_inputs();
        given.insert(given.end(), outputs.begin(), outputs.end());
        axes.insert(axes.end(), outputs.size(), 0);
        for (size_t i = 0; i < flows.size(); ++i) {
            if (!flows[i]) continue;
            given.push_back(flows[i]);
            axes.push_back(axes_of_flows[i]);
        }
        const auto of_slice = [&](const Tensors& parts) {
            const auto end_of_inputs = parts.begin() + static_cast<std::ptrdiff_t>(inputs.size());
            const auto end_of_outputs = end_of_inputs + static_cast<std::ptrdiff_t>(outputs.size());
            Tensors slices(flows.size());
            auto next = end_of_outputs;
            for (size_t i = 0; i < flows.size(); ++i)
                if (flows[i]) slices[i] = *next++;
            return rule(Tensors(parts.begin(), end_of_inputs),
                        Tensors(end_of_inputs, end_of_outputs), slices);
        };
        return vmap_function(of_slice, given, axes);
    }

    std::shared_ptr<const Rules> rules_;
    std::vector<bool> batched_;
};

std::shared_ptr<const Rules> FunctionRules::rules_of_batch(const std::vector<bool>& batched,
                                                           int64_t) const {
    return std::make_shared<BatchedRules>(shared_from_this(), batched);
}

// The parts of a value with None in place of tensors, whose places are added.
nb::list without_tensors(nb::handle parts, std::vector<size_t>& places) {
    nb::list made;
    size_t i = 0;
    for (nb::handle part : parts) {
        if (is_tensor_of_torch(part)) places.push_back(i);
        made.append(is_tensor_of_torch(part) ? nb::none() : nb::borrow(part));
        ++i;
    }
    return made;
}

void check_call_with_rules(const nb::object& function, const nb::dict& kwargs) {
    const nb::object base = provided("autograd_function");
    user_check<RuntimeError>(
        !nb::object(function.attr("setup_context")).is(base.attr("setup_context")),
        "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
        "...), it must override the setup_context staticmethod. For more details, please see ",
        more_of_rules);
    for (const auto& [name, value] : kwargs)
        if (is_tensor_of_torch(value)) {
            nb::list names = nb::list(kwargs.keys());
            names.attr("sort")();
            refuse_unbuilt(composit::text(
                "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass "
                "kwarg-only Tensors to autograd.Function. Got: ",
                Said{names}));
        }
}

}  // namespace

nb::object call_with_rules(const nb::object& function, const nb::tuple& args,
                           const nb::dict& kwargs) {
    check_call_with_rules(function, kwargs);
    std::vector<size_t> places, places_of_results;
    nb::list empty = without_tensors(args, places);
    Tensors given, parameters, tensors;
    nb::list inside;
    for (nb::handle value : args) inside.append(value);
    for (const size_t place : places) {
        given.push_back(held_by(args[place]));
        parameters.push_back(ir::input(composit::text("x", parameters.size()), given.back().dtype(),
                                       given.back().shape()));
        nb::object stand_in = new_tensor();  // in a cell of its own, which shows writes
        stand_in.attr("_lazy") = wrap_cell(eager::Cell::make(parameters.back()));
        enter(stand_in);
        inside[place] = stand_in;
    }
    nb::object result;
    {
        const WithinRule scope;
        result = function.attr("forward")(*inside, **kwargs);
    }
    for (size_t i = 0; i < places.size(); ++i)
        if (&held_by(inside[places[i]]).node() != &parameters[i].node()) refuse_writes(function);
    const nb::list parts = as_parts(result);
    nb::list made = without_tensors(parts, places_of_results);
    for (const size_t place : places_of_results) tensors.push_back(held_by(parts[place]));
    auto rules = std::make_shared<FunctionRules>(function, std::move(empty), places,
                                                 like_parts(result, made));
    ++function_transforms().made;
    const Located scope;
    const Tensors found =
        ruled_call(name_of_function(function), parameters, tensors, given, std::move(rules));
    nb::list results;
    for (nb::handle part : parts) results.append(part);
    for (size_t i = 0; i < found.size(); ++i)
        results[places_of_results[i]] = wrapped_tensor(found[i]);
    return like_parts(result, results);
}

nb::object without_function_rules(nb::handle value) {
    const FunctionTransforms& around = function_transforms();
    if (!around.made || around.graphs || around.ruled) return nb::borrow(value);
    const std::vector<nb::object> found = tensors_within(value);
    Tensors held;
    for (const nb::object& tensor : found) held.push_back(held_by(tensor));
    const Tensors plain = without_rules(held);
    for (size_t i = 0; i < found.size(); ++i) {
        if (&plain[i].node() == &held[i].node()) continue;
        const nb::object lazy = lazy_of(found[i]);
        content_of<LazyTensor>(lazy).replace(plain[i]);
    }
    return nb::borrow(value);
}

}  // namespace composit::python
