// Functions, operators and modules: what a call records.
#include "composit/cg/module.h"

#include "composit/base/error.h"
#include "composit/cg/jacobians.h"
#include "composit/cg/node_state.h"
#include "composit/cg/numbers.h"
#include "composit/functional/functional.h"
#include "composit/ir/body.h"
#include "composit/numpy/linear.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <random>
#include <set>
#include <type_traits>
#include <typeindex>
#include <typeinfo>

namespace composit::cg {

using numpy::Operand;

// ----- inputs

namespace {

// A number as a constant of its own dtype.
Tensor strong_value(const Tensor& value) {
    return value.type().weak ? ir::constant(ir::constant_value(value.node())) : value;
}

}  // namespace

Input::Input(std::string name, Kind kind, const Operand& value)
    : name_(std::move(name)), kind_(kind), value_(value.tensor()) {
    is_number_ = value && value_.type().weak && value_.dtype() != DType::boolean;
    // Literals stay weak: functions of tensors know what to do with them.
    if (value && kind_ == Kind::parameter) value_ = strong_value(value_);
}

void Input::assign(const Operand& value) {
    user_check(kind_ == Kind::parameter, "'", name_,
               "' is no parameter and cannot have another value. A parameter is required for what "
               "changes.");
    is_number_ = value.tensor().type().weak && value.tensor().dtype() != DType::boolean;
    value_ = strong_value(value);
}

void Input::update(const Tensor& value) {
    const bool was_number = is_number_;
    assign(value);
    is_number_ = was_number;
}

InputRef variable(const std::string& name) {
    return std::make_shared<Input>(name, Input::Kind::variable);
}
InputRef parameter(const std::string& name, const Operand& value) {
    return std::make_shared<Input>(name, Input::Kind::parameter, value);
}
InputRef constant(const std::string& name, const Operand& value) {
    return std::make_shared<Input>(name, Input::Kind::constant, value);
}

// ----- the call in progress

namespace {

thread_local Session* current_session = nullptr;

std::string six_digits() {
    static thread_local std::mt19937_64 random{std::random_device{}()};
    std::string digits;
    for (int i = 0; i < 6; ++i) digits += "0123456789abcdef"[random() & 15];
    return digits;
}

Session& session_for(const std::string& what) {
    Session* session = Session::current();
    user_check(session != nullptr, what,
               ": nodes are made within the call of a module only. A module's call is required.");
    return *session;
}

void check_count(const Function& function, size_t count) {
    const std::vector<InputRef>& inputs = function.inputs();
    std::string missing;
    for (size_t i = count; i < inputs.size(); ++i)
        missing += (missing.empty() ? "'" : ", '") + inputs[i]->name() + "'";
    user_check(count >= inputs.size(), function.name(), ": ", count, " of ", inputs.size(),
               " inputs are given; without: ", missing,
               ". When a function is called, all its inputs must be instantiated.");
    user_check(count == inputs.size(), function.name(), ": ", count, " values are given for ",
               inputs.size(), " inputs. One for each is required.");
}

// "(x: float64[3])": what a function was given.
std::string described(const Function& function, const Nodes& nodes) {
    std::string list;
    for (size_t i = 0; i < nodes.size(); ++i)
        list += text(i ? ", " : "", function.inputs()[i]->name(), ": ", nodes[i].tensor().type());
    return "(" + list + ")";
}

// Throws an error of the same class, whose text goes on with `words`; returns where that class is
// none of those that graphs are refused with.
void rethrow_with(const Error& error, const std::string& words) {
    const auto as = [&]<class E>(std::type_identity<E>) {
        if (typeid(error) == typeid(E)) throw E(error.what() + words);
    };
    const auto one_of = [&]<class... E>(std::type_identity<E>... kinds) { (as(kinds), ...); };
    one_of(std::type_identity<ValueError>{}, std::type_identity<TypeError>{},
           std::type_identity<IndexError>{}, std::type_identity<AxisError>{},
           std::type_identity<LinAlgError>{}, std::type_identity<OverflowError>{},
           std::type_identity<NotSupported>{});
}

}  // namespace

Session::Session(std::vector<std::pair<InputRef, Tensor>> values, bool are_all)
    : call_id_(six_digits()),
      values_(std::move(values)),
      are_all_(are_all),
      before_(current_session) {
    current_session = this;
}

Session::~Session() { current_session = before_; }

Session* Session::current() { return current_session; }

Node Session::node(NodeState state) {
    state.call_id = call_id_;
    state.number = count_++;
    state.frame = frame_;
    return Node(std::make_shared<NodeState>(std::move(state)));
}

Node Session::leaf(const InputRef& input, const Tensor& value) {
    NodeState state;
    state.name = input->name();
    state.input = input;
    state.tensor = value;
    return node(std::move(state));
}

Node Session::leaf(const InputRef& input) {
    const auto found = leaves_.find(input.get());
    if (found != leaves_.end()) return found->second;
    user_check(static_cast<bool>(input->value()), "'", input->name(),
               "' has no value in this call. A parameter or constant, or a node of this call, is "
               "required.");
    const auto given =
        std::ranges::find_if(values_, [&](const auto& one) { return one.first == input; });
    if (given == values_.end() && are_all_ && input->kind() == Input::Kind::parameter &&
        ir::is_inexact(input->value().dtype()))
        throw HiddenParameter(input, text("'", input->name(),
                                          "' is used, and no value is given for it. Values for "
                                          "all parameters are required."));
    const Node made = leaf(input, given == values_.end() ? input->value() : given->second);
    made.state().is_number = input->is_number();
    leaves_.emplace(input.get(), made);
    return made;
}

Node Session::made(std::string name, const Apply& apply, Nodes children) {
    Tensors tensors;
    for (const Node& child : children) {
        user_check(child.call_id() == call_id_, name, ": is given a node of another call, '",
                   child.name(), "'. A node of this call, or a value, is required.");
        tensors.push_back(child.tensor());
    }
    NodeState state;
    state.name = std::move(name);
    state.apply = apply;
    state.tensor = apply(operands_of(children, tensors));
    state.children = std::move(children);
    return node(std::move(state));
}

Nodes Session::within(const Function& module, const Nodes& nodes,
                      const std::function<Nodes(const Nodes&)>& call) {
    struct Leave {
        FrameRef& frame;
        FrameRef before;
        ~Leave() { frame = before; }
    };
    const Leave leave{frame_, frame_};
    auto inner = std::make_shared<Frame>();
    inner->module = module.name();
    for (const InputRef& input : module.inputs()) inner->names.push_back(input->name());
    inner->inputs = nodes;
    inner->outer = frame_;
    inner->depth = frame_ ? frame_->depth + 1 : 0;
    frame_ = inner;
    const std::string label = module.name() + "#" + std::to_string(++uses_[module.name()]);
    Nodes results;
    try {
        results = call(nodes);
    } catch (const Error& error) {
        rethrow_with(error, text(" In the call ", label, described(module, nodes), "."));
        throw;
    }
    for (const Node& result : results)
        user_check(result.call_id() == call_id_, module.name(),
                   ": call returned a node of another call, '", result.name(),
                   "'. Nodes of this call are required.");
    return results;
}

Node::Node(const InputRef& input) {
    user_check(input != nullptr, "cg: an input is empty. A parameter or constant is required.");
    *this = session_for(input->name().empty() ? "a number" : input->name()).leaf(input);
}
NodeState& Node::state() const {
    user_check(state_ != nullptr,
               "cg: a node is empty. One that an operator or a call made is required.");
    return *state_;
}
const std::string& Node::name() const { return state().name; }
const std::string& Node::call_id() const { return state().call_id; }
const InputRef& Node::input() const { return state().input; }
const Nodes& Node::children() const { return state().children; }
const Tensor& Node::tensor() const { return state().tensor; }
const Tensor& Node::gradient() const { return state().gradient; }

// ----- functions

Function::Function(std::string name, std::vector<InputRef> inputs, std::vector<InputRef> params)
    : name_(std::move(name)), inputs_(std::move(inputs)), params_(std::move(params)) {
    for (const std::vector<InputRef>* every : {&inputs_, &params_})
        for (const InputRef& one : *every)
            user_check(one != nullptr, name_,
                       ": an input or a parameter is empty. variable(…), parameter(…) or "
                       "constant(…) is required.");
    std::set<std::string> names;
    for (const InputRef& input : inputs_)
        user_check(names.insert(input->name()).second, name_, ": '", input->name(),
                   "' names two of its inputs. A name for each is required.");
    for (const InputRef& input : inputs_)
        user_check(input->kind() == Input::Kind::variable, name_, ": input '", input->name(),
                   "' is no variable, which is required.");
    for (const InputRef& param : params_)
        user_check(param->kind() != Input::Kind::variable, name_, ": '", param->name(),
                   "' is no parameter or constant, which is required.");
}

namespace {

const InputRef& found(const std::string& function, const std::vector<InputRef>& every,
                      const std::string& name, const char* what) {
    const auto at =
        std::ranges::find_if(every, [&](const InputRef& one) { return one->name() == name; });
    user_check(at != every.end(), function, " has no ", what, " '", name,
               "'. One of its own is required.");
    return *at;
}

}  // namespace

const InputRef& Function::input(const std::string& name) const {
    return found(name_, inputs_, name, "input");
}
const InputRef& Function::param(const std::string& name) const {
    return found(name_, params_, name, "parameter");
}

// ----- operators

Operator::Operator(std::string name, std::vector<InputRef> inputs, std::vector<InputRef> constants)
    : Function(std::move(name), std::move(inputs), std::move(constants)) {
    for (const InputRef& one : params())
        user_check(one->kind() == Input::Kind::constant, this->name(), ": '", one->name(),
                   "' is a parameter of an operator, which has no derivative with respect to it. "
                   "An input is required, which a module that has the parameter gives it.");
}

Tensor Operator::gradient(size_t, const Tensors&) const { return {}; }

namespace {

// Derivatives that operators give are traced when the operators are: where they use the operators
// themselves, up to this order.
constexpr int64_t orders = 2;

using Kind = std::pair<std::type_index, std::string>;
thread_local std::vector<Kind> traced;  // the operators whose derivatives are being traced

struct Tracing {
    explicit Tracing(Kind kind) { traced.push_back(std::move(kind)); }
    ~Tracing() { traced.pop_back(); }
    Tracing(const Tracing&) = delete;
    Tracing& operator=(const Tracing&) = delete;
};

}  // namespace

Tensor Operator::apply(const Tensors& given) const {
    check_count(*this, given.size());
    const Tensors arrays = strong_operands(given);
    ir::Body body{name(), {}, {}}, back{name() + "_back", {}, {}};
    for (size_t i = 0; i < arrays.size(); ++i)
        body.parameters.push_back(
            ir::input(inputs()[i]->name(), arrays[i].dtype(), arrays[i].shape()));
    body.results = {numpy::strong(op_impl(body.parameters))};
    const Tensor& result = body.results[0];
    const Tensor cotangent = ir::input("gradient", result.dtype(), result.shape());
    back.parameters = body.parameters;
    back.parameters.push_back(cotangent);
    const auto shared = [](ir::Body one) {
        return std::make_shared<const ir::Body>(std::move(one));
    };
    const Kind kind(typeid(*this), name());
    const bool is_last = std::ranges::count(traced, kind) == orders;
    bool is_given = ir::is_inexact(result.dtype()) && !is_last;
    const Tracing tracing(kind);
    for (size_t i = 0; i < arrays.size() && is_given; ++i) {
        const Tensor& x = body.parameters[i];
        if (!ir::is_inexact(x.dtype())) {
            back.results.push_back(ops::zeros_like(x));
            continue;
        }
        const Tensor local = gradient(i, body.parameters);
        is_given = static_cast<bool>(local);
        if (is_given)
            back.results.push_back(pulled(name(), inputs()[i]->name(), cotangent, local, x));
    }
    if (is_last)
        return refuse_gradient(
            ops::call(shared(std::move(body)), arrays)[0],
            text(name(), ": a derivative of order ", orders + 1,
                 ", whose gradient uses the operator itself. Derivatives up to order ", orders,
                 " are had; one that follows from op_impl (no gradient) has all orders."));
    if (!is_given) return ops::call(shared(std::move(body)), arrays)[0];
    return call_with_pullback(shared(std::move(body)), shared(std::move(back)), arrays)[0];
}

Node Operator::operator()(const Nodes& nodes) const {
    check_count(*this, nodes.size());
    Tensors arrays;
    for (const Node& node : nodes) arrays.push_back(node.tensor());
    // The node outlives the operator: what was traced is enough to do it again.
    const Tensor traced = apply(operands_of(nodes, arrays));
    const auto again = [traced](const Tensors& others) {
        return Tensor(ir::with_operands(traced.node(), strong_operands(others)),
                      traced.output_index());
    };
    return session_for(name()).made(name(), again, nodes);
}

// ----- modules

ModuleGraph Module::outermost(Session& session, const Tensors& values) const {
    check_count(*this, values.size());
    Nodes nodes;
    for (size_t i = 0; i < values.size(); ++i) {
        user_check<TypeError>(static_cast<bool>(values[i]), name(), ": input '",
                              inputs()[i]->name(), "' is given no tensor, which is required.");
        nodes.push_back(session.leaf(inputs()[i], numpy::strong(values[i])));
    }
    const Nodes results =
        session.within(*this, nodes, [this](const Nodes& inside) { return call(inside); });
    user_check<TypeError>(results.size() == 1, name(), ": call returned ", results.size(),
                          " nodes. One is required of a call from outside.");
    return {name(), results[0], nodes, parameters()};
}

ModuleGraph Module::called(const Tensors& values) const {
    Session session;
    return outermost(session, values);
}

Nodes Module::operator()(const Nodes& nodes) const {
    check_count(*this, nodes.size());
    return session_for(name()).within(*this, nodes,
                                      [this](const Nodes& inside) { return call(inside); });
}

Tensor Module::apply(const std::vector<std::pair<InputRef, Tensor>>& parameters,
                     const Tensors& inputs, bool are_all) const {
    Session session(parameters, are_all);
    return outermost(session, inputs).tensor();
}

std::vector<InputRef> Module::parameters() const {
    std::vector<const Module*> modules{this};
    std::vector<InputRef> found;
    for (size_t i = 0; i < modules.size(); ++i) {
        for (const InputRef& one : modules[i]->params())
            if (one->kind() == Input::Kind::parameter && std::ranges::count(found, one) == 0)
                found.push_back(one);
        for (const Module* inner : modules[i]->submodules())
            if (std::ranges::count(modules, inner) == 0) modules.push_back(inner);
    }
    return found;
}

execute::Compiled Module::compiled(const Tensors& examples, const execute::Options& options) const {
    check_count(*this, examples.size());
    Tensors placeholders;
    for (size_t i = 0; i < examples.size(); ++i)
        placeholders.push_back(
            ir::input(inputs()[i]->name(), examples[i].dtype(), examples[i].shape()));
    const auto function = [this](const Tensors& given) { return Tensors{apply({}, given)}; };
    return compile_function(function, placeholders, options, name());
}

BuiltModule Module::build(const std::string& name, CallFunction call, std::vector<InputRef> inputs,
                          std::vector<InputRef> params) {
    return {name, std::move(call), std::move(inputs), std::move(params)};
}

BuiltModule::BuiltModule(std::string name, CallFunction call, std::vector<InputRef> inputs,
                         std::vector<InputRef> params)
    : Module(std::move(name), std::move(inputs), std::move(params)), call_(std::move(call)) {
    user_check<TypeError>(static_cast<bool>(call_), this->name(),
                          ": call is empty. A function of the module and its nodes is required.");
}

Nodes BuiltModule::call(const Nodes& nodes) const { return call_(*this, nodes); }

// ----- operators by name

namespace op {

Node apply(const std::string& name, const std::function<Tensor(const Tensors&)>& f,
           const Nodes& nodes) {
    return session_for(name).made(name, f, nodes);
}

Node map(const std::string& row, const Nodes& nodes) {
    return apply(row, [row](const Tensors& arrays) { return ops::map(row, arrays); }, nodes);
}

Node add(const Node& a, const Node& b) { return map("add", {a, b}); }
Node multiply(const Node& a, const Node& b) { return map("multiply", {a, b}); }
Node square(const Node& x) { return map("square", {x}); }
Node identity(const Node& x) { return map("positive", {x}); }
Node dot(const Node& a, const Node& b) {
    return apply("dot", [](const Tensors& x) { return numpy::dot(x[0], x[1]); }, {a, b});
}

}  // namespace op

}  // namespace composit::cg
