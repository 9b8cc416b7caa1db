// Gradients through what Python wrote: backward of autograd.Functions, hooks.
#include "tape_hooks.h"

#include "cell.h"
#include "composit/aten/shapes.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "composit/execute/devices.h"
#include "composit/execute/execute.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "content.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "torch_calls.h"
#include "user_functions.h"
#include "values.h"

#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

namespace composit::python {
namespace {

// The tensors with hooks that hold a node, by their points.
struct HookedNode {
    std::vector<nb::object> points;
    std::unordered_set<const eager::Record*> records;  // that made them
};
using Points = std::shared_ptr<HookedNode>;
using Arrivals = std::shared_ptr<eager::Arrivals>;

// A gradient through which gradients go on to those records.
void record_gradient(nb::handle gradient, const nb::list& operands) {
    static const ir::Interned name = ir::intern("GradBackward0");
    std::vector<Ref<eager::TapeNode>> nodes;
    for (nb::handle operand : operands) nodes.push_back(tape_node(operand));
    gradient.attr("_record") = make_record(name, std::move(nodes));
}

// What the hooks of one node make of its gradient. `records` are None where nothing is recorded.
eager::Barrier::Flow through_hooks(const Points& points, nb::handle records, const Tensor& arrived,
                                   const Arrivals& arrivals) {
    const nb::object from = points->points.front().attr("lazy");
    const Tensor node = content_of<LazyTensor>(from).tensor();
    if (arrivals && points->records.size() == 1 &&
        !arrives(*arrivals, operand_of(*points->records.begin()), node)) {
        for (const nb::object& point : points->points)
            after_hooks(nb::object(point.attr("hooks")), nb::none());
        return {};
    }
    nb::object gradient = wrapped_tensor(arrived);
    if (records.is_none())
        as_tensor(gradient)->is_tainted = 1;
    else
        record_gradient(gradient, nb::borrow<nb::list>(records));
    for (const nb::object& point : points->points)
        gradient = after_hooks(nb::object(point.attr("hooks")), std::move(gradient));
    return {{node, held_by(gradient)}};
}

// Whether a gradient is the zeros of what was not used.
bool is_zero(const Tensor& gradient) {
    const Tensor found = numpy::all(numpy::apply("equal", {gradient, numpy::Operand(0)}));
    return *execute::evaluate({found}).at(0).data_as<bool>();
}

// What the backward of a call gives, one for each argument.
nb::list backward_of(nb::handle call, nb::list gradients, bool is_recording) {
    const nb::object context = call.attr("context"), function = call.attr("function");
    if (!nb::cast<bool>(context.attr("_materializes")))
        for (size_t i = 0; i < gradients.size(); ++i)
            if (!gradients[i].is_none() && is_zero(held_by(gradients[i])))
                gradients[i] = nb::none();
    const nb::object base = provided("autograd_function");
    const bool is_vjp = function.attr("backward").is(base.attr("backward")) &&
                        !function.attr("vjp").is(base.attr("vjp"));
    nb::object result;
    {
        const eager::RecordingScope scope(is_recording);
        result = function.attr(is_vjp ? "vjp" : "backward")(context, *gradients);
    }
    return returned_gradients(nb::str(nb::object(call.attr("name")())).c_str(), result,
                              nb::len(nb::object(call.attr("inputs"))));
}

// The nodes from which a Function's gradients flow on, with the gradients.
eager::Barrier::Flow through_function(nb::handle call, bool is_recording,
                                      const std::vector<Tensor>& arrived,
                                      const Arrivals& arrivals) {
    const eager::Record& record = checked_record(call);
    if (tangents_are_asked() && nb::cast<bool>(call.attr("has_tangents"))) {
        arrivals->give(record, std::vector<bool>(record.operands().size()));
        return {};
    }
    // Its first operands are the inputs that need a gradient, others are of an earlier backward().
    std::vector<bool> given(record.operands().size(), true);
    size_t operand = 0;
    nb::list gradients, sources, looked_at;
    if (is_recording)
        for (nb::handle input : call.attr("inputs"))
            if (!input.is_none() && is_recorded(as_tensor(input))) sources.append(record_of(input));
    size_t next = 0;
    const nb::list zeros = nb::borrow<nb::list>(nb::object(call.attr("zeros")));
    for (nb::handle node : call.attr("outputs")) {
        const nb::object zero = zeros[gradients.size()];
        if (node.is_none()) {
            gradients.append(zero.is_none()
                                 ? nb::none()
                                 : wrapped_tensor(content_of<LazyTensor>(zero).tensor()));
            continue;
        }
        const nb::object gradient = wrapped_tensor(
            execute::beside(arrived.at(next++), content_of<LazyTensor>(node).tensor()));
        if (is_recording) record_gradient(gradient, sources);
        gradients.append(gradient);
    }
    const nb::list found = backward_of(call, gradients, is_recording);
    for (nb::handle gradient : found)
        looked_at.append(gradient.is_none() ? nb::object(nb::none())
                                            : wrap_array(held_by(gradient)));
    provided("check_function_gradients")(call.attr("name")(), looked_at);
    const nb::list nodes = nb::borrow<nb::list>(nb::object(call.attr("nodes")));
    const nb::object needed = call.attr("context").attr("needs_input_grad");
    eager::Barrier::Flow flow;
    for (size_t i = 0; i < found.size(); ++i) {
        if (!nb::cast<bool>(needed[i])) continue;
        given.at(operand++) = !found[i].is_none();
        if (found[i].is_none()) continue;
        const Tensor node = content_of<LazyTensor>(nodes[i]).tensor();
        const std::string name = nb::str(nb::object(call.attr("name")())).c_str();
        flow.emplace_back(node, fitting_gradient(name, i, held_by(found[i]), node));
        // Functions that backward called are found.
        PyObject* const made = as_tensor(found[i])->record;
        if (is_recording && is_there(made)) call.attr("add_operand")(nb::handle(made));
    }
    arrivals->give(record, std::move(given));
    return flow;
}

}  // namespace

nb::object after_hooks(nb::handle hooks, nb::object gradient) {
    for (nb::handle hook : nb::list(nb::object(hooks.attr("values")()))) {
        const nb::object changed = hook(gradient);
        if (changed.is_none()) continue;
        user_check<RuntimeError>(!gradient.is_none(),
                                 "can't replace a None gradient with a non-None value");
        user_check<TypeError>(is_tensor_of_torch(changed), "expected Variable, but hook returned '",
                              Py_TYPE(changed.ptr())->tp_name, "'");
        const auto name = nb::getattr(hook, "__name__", nb::object(nb::repr(hook)));
        const nb::object was = gradient.attr("dtype"), got = changed.attr("dtype");
        if (!was.equal(got))
            fail<RuntimeError>("hook '", Said{name}, "' has changed the type of value (was ",
                               Said{gradient.attr("type")()}, " got ", Said{changed.attr("type")()},
                               ")");
        const bool is_like = nb::tuple(nb::object(changed.attr("shape")))
                                 .equal(nb::tuple(nb::object(gradient.attr("shape"))));
        user_check<RuntimeError>(is_like, "hook '", Said{name}, "' has changed the size of value");
        gradient = changed;
    }
    return gradient;
}

Tensor fitting_gradient(const std::string& record, size_t argument, const Tensor& gradient,
                        const Tensor& x) {
    const ir::Shape &shape = gradient.shape(), &wanted = x.shape();
    bool fits = wanted.size() <= shape.size();
    for (size_t i = 1; fits && i <= wanted.size(); ++i) {
        const int64_t length = wanted[wanted.size() - i];
        fits = length == 1 || length == shape[shape.size() - i];
    }
    user_check<RuntimeError>(fits, "Function ", record, " returned an invalid gradient at index ",
                             argument, " - got [", join(shape),
                             "] but expected shape compatible with [", join(wanted), "]");
    const Tensor sum = shape == wanted ? gradient : aten::sum_to_size(gradient, wanted);
    return sum.dtype() == x.dtype() ? sum : numpy::astype(sum, x.dtype());
}

nb::list returned_gradients(const std::string& record, nb::handle result, size_t count) {
    nb::list found;
    if (PyTuple_Check(result.ptr()))
        found = nb::list(nb::borrow(result));
    else
        found.append(result);
    bool fits = found.size() >= count;
    for (size_t i = count; i < found.size(); ++i) fits = fits && found[i].is_none();
    user_check<RuntimeError>(fits, "function ", record,
                             " returned an incorrect number of gradients (expected ", count,
                             ", got ", found.size(), ")");
    while (found.size() > count) nb::del(found[found.size() - 1]);
    for (nb::handle gradient : found)
        user_check<RuntimeError>(gradient.is_none() || is_tensor_of_torch(gradient),
                                 "expected Variable or None (got ",
                                 Py_TYPE(gradient.ptr())->tp_name, ")");
    return found;
}

bool is_function_record(nb::handle record) { return record.type().is(provided("function_record")); }

bool arrives(eager::Arrivals& arrivals, nb::handle from, const Tensor& held) {
    if (!arrivals(*tape_node(from))) return false;
    return !is_function_record(from) || arrivals.reaches(held);
}

std::vector<eager::Barrier> barriers_between(const nb::list& records, bool is_recording,
                                             const eager::Reaching* reaching,
                                             const Arrivals& arrivals) {
    std::vector<Ref<eager::Record>> known;
    for (nb::handle record : records) known.emplace_back(&checked_record(record));
    std::map<const ir::Node*, Points> points;  // several tensors may hold a node
    std::vector<eager::Barrier> barriers;
    for (const auto& each : eager::gradient_order(known)) {
        const nb::object record = nb::borrow(operand_of(each.get()));
        nb::list hooked;
        const nb::object held = record.attr("hook_points");
        if (!held.is_none() && (!reaching || (*reaching)(*each))) hooked = nb::list(held);
        for (size_t i = hooked.size(); i-- > 0;) {
            const nb::object point = hooked[i], lazy = point.attr("lazy");
            const Tensor sink = content_of<LazyTensor>(lazy).tensor();
            Points& group = points[&sink.node()];
            if (!group) {
                group = std::make_shared<HookedNode>();
                const nb::object recorded = is_recording ? nb::object(records) : nb::none();
                barriers.push_back(
                    {{sink},
                     [group, recorded, arrivals](const std::vector<Tensor>& arrived) {
                         return through_hooks(group, recorded, arrived.at(0), arrivals);
                     },
                     true});
            }
            group->points.push_back(point);
            group->records.insert(each.get());
        }
        if (!is_function_record(record)) continue;
        eager::Barrier barrier;
        for (nb::handle node : record.attr("outputs"))
            if (!node.is_none()) barrier.sinks.push_back(content_of<LazyTensor>(node).tensor());
        barrier.through = [record, is_recording, arrivals](const std::vector<Tensor>& arrived) {
            return through_function(record, is_recording, arrived, arrivals);
        };
        barriers.push_back(std::move(barrier));
    }
    return barriers;
}

}  // namespace composit::python
