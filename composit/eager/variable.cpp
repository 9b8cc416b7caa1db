#include "composit/eager/variable.h"

#include "composit/base/error.h"
#include "composit/eager/overwriting.h"
#include "composit/eager/saved_values.h"
#include "composit/eager/tape.h"
#include "composit/eager/tape_gradients.h"
#include "composit/eager/writing.h"
#include "composit/ir/body.h"
#include "composit/ir/scalar/values.h"
#include "composit/nn/differentiation.h"
#include "composit/nn/training.h"
#include "composit/numpy/index_plan.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <bit>

namespace composit::eager {

namespace {

// A parameter on the tape.
class Parameter final : public Leaf {
  public:
    explicit Parameter(Ref<Cell> cell) : cell_(std::move(cell)) {}
    Tensor now() const override { return cell_->tensor(); }

    void add_gradient(Tensor found) const {
        for (const Variable::GradientHook& hook : hooks_) found = hook(found);
        gradient_ = gradient_ ? *gradient_ + found : found;
    }
    std::optional<Tensor>& gradient() const { return gradient_; }
    void add_hook(Variable::GradientHook hook) const { hooks_.push_back(std::move(hook)); }

  private:
    Ref<Cell> cell_;
    mutable std::optional<Tensor> gradient_;
    mutable std::vector<Variable::GradientHook> hooks_;
};

const Parameter& as_parameter(const Leaf& leaf) { return static_cast<const Parameter&>(leaf); }

}  // namespace

// What views of one memory have in common.
struct Variable::Memory {
    Ref<Cell> cell;
    Ref<Leaf> parameter;  // null: it is none
    Ref<Record> record;   // of the operations that made it; null: gradients go nowhere

    bool is_recorded() const { return parameter || record; }
    // What stands for it in the records of operations that read it.
    Ref<TapeNode> node() const {
        if (!parameter) return Ref<TapeNode>(record.get());
        parameter->readings().note(cell->tensor());
        return Ref<TapeNode>(parameter.get());
    }
};

struct Variable::State {
    std::shared_ptr<Memory> memory;
    Ref<Cell> cell;  // the memory's, or a view of it
    Ref<VersionCounter> counter;
    bool is_detached = false;
    mutable Tensor stopped;  // of a detached one: what it holds, as it is seen

    bool is_recorded() const { return !is_detached && memory->is_recorded(); }
    Savable savable() const {
        Savable made{cell->tensor(), cell, {}, counter, nullptr};
        if (is_detached) return made;
        if (memory->parameter && cell->is_plain()) made.leaf = memory->parameter;
        made.record = memory->record.get();
        return made;
    }
};

Variable::Variable(Tensor tensor) : state_(std::make_shared<State>()) {
    state_->memory = std::make_shared<Memory>();
    state_->cell = state_->memory->cell = Cell::make(std::move(tensor));
    state_->counter = VersionCounter::make();
}
Variable::Variable(Array value) : Variable(ir::constant(std::move(value))) {}

Variable Variable::parameter(Array value) {
    Variable made(std::move(value));
    Memory& memory = *made.state_->memory;
    memory.parameter = Ref<Leaf>(new Parameter(memory.cell));
    return made;
}

const Tensor& Variable::tensor() const {
    const Tensor& held = state_->cell->tensor();
    if (!state_->is_detached) return held;
    Tensor& stopped = state_->stopped;
    if (!stopped || !(stopped.node().operand(0) == held)) stopped = nn::stop_gradient(held);
    return stopped;
}
bool Variable::is_parameter() const {
    return state_->memory->parameter && !state_->is_detached && state_->cell->is_plain();
}
bool Variable::is_leaf() const { return is_parameter() || !state_->is_recorded(); }
int64_t Variable::version() const { return state_->counter->version(); }

Array Variable::value() const {
    const Cell& cell = *state_->cell;
    Array found = look({cell.tensor()})[0];
    // Nothing goes back through it: its graph is not needed any more.
    const Memory& memory = *state_->memory;
    if (cell.is_plain() && (!memory.record || memory.record->is_freed()) &&
        !ir::is_constant(cell.tensor().node()))
        cell.replace(ir::constant(found));
    return found;
}

double Variable::number() const {
    if (const Ref<Deferred> known = state_->cell->number()) {
        const ir::scalar::Bits bits =
            ir::scalar::cast_bits(known->dtype(), ir::DType::float64, {known->bits(), 0});
        return std::bit_cast<double>(bits[0]);
    }
    const Array found = value();
    user_check(found.size() == 1 && !ir::is_complex(found.dtype()), "number: the variable is ",
               state_->cell->tensor().type(), ". One real element is required.");
    const Tensor one = ops::astype(ir::constant(found), ir::DType::float64);
    return *look({one})[0].data_as<double>();
}

Variable Variable::at(const numpy::Index& index) const {
    const Ref<Cell>& cell = state_->cell;
    Ref<Cell> view;
    if (auto part = numpy::basic_part(cell->type().shape, index))
        view = Cell::make_view(std::move(*part), cell);
    if (!view) {
        const Tensor part = numpy::get_item(cell->tensor(), index);
        if (numpy::is_basic(index) && is_layout_path(cell->tensor(), part))
            view = Cell::make_view(part, cell);
    }
    if (!view) return made(numpy::get_item(tensor(), index), {*this});
    auto state = std::make_shared<State>();
    state->memory = state_->memory;
    state->cell = std::move(view);
    state->counter = state_->counter;
    state->is_detached = state_->is_detached;
    return Variable(std::move(state));
}

Variable Variable::alias(bool is_counted) const {
    auto state = std::make_shared<State>();
    state->memory = state_->memory;
    state->cell = state_->cell;
    state->counter = is_counted ? state_->counter : VersionCounter::make_uncounted(state_->counter);
    state->is_detached = true;
    return Variable(std::move(state));
}

Variable Variable::detached() const { return alias(true); }
Variable Variable::data() const { return alias(false); }

Variable Variable::copied() const { return made(tensor(), {*this}); }

bool Variable::write_number(const Variable& value) const {
    const Cell& cell = *state_->cell;
    const Memory& memory = *state_->memory;
    if (!cell.is_view() || !cell.type().shape.empty() || memory.parameter || state_->is_detached ||
        value.state_->is_detached)
        return false;
    if (!is_recording() && (memory.record || value.state_->is_recorded())) return false;
    const Ref<Deferred> number = value.state_->cell->number();
    return number && write_element(cell, 0, number);
}

void Variable::assign(const Variable& value) const {
    if (write_number(value))
        add_record_of(value);
    else
        overwrite(value);
    state_->counter->count();
}

void Variable::overwrite(const Variable& value) const {
    const Tensor& held = state_->cell->tensor();
    const bool fits = [&] {
        const ir::Shape &from = value.tensor().shape(), &to = held.shape();
        if (from.size() > to.size()) return false;
        for (size_t d = 0; d < from.size(); ++d) {
            const int64_t length = from[from.size() - 1 - d];
            if (length != 1 && length != to[to.size() - 1 - d]) return false;
        }
        return true;
    }();
    user_check(fits, "assign: ", value.tensor().type(), " for ", held.type(),
               ". A shape that broadcasts to that one is required.");
    const Memory& memory = *state_->memory;
    const bool is_seen = !state_->is_detached && is_recording();
    Write written{state_->cell, memory.cell};
    if (memory.parameter)
        written.of_owner = Write::Owner::leaf;
    else if (memory.record && !is_seen)
        written.of_owner = Write::Owner::unseen;
    write(written, is_seen ? value.tensor() : nn::stop_gradient(value.tensor()));
    if (!memory.parameter) {
        if (is_seen) add_record_of(value);
        return;
    }
    const Tensor& now = memory.cell->tensor();
    if (!ir::is_constant(now.node())) memory.cell->replace(ir::constant(look({now})[0]));
}

void Variable::add_record_of(const Variable& value) const {
    if (!value.state_->is_recorded()) return;
    static const ir::Interned name = ir::intern("CopySlices");
    Memory& memory = *state_->memory;
    memory.record =
        Record::make(name, {Ref<TapeNode>(memory.record.get()), value.state_->memory->node()});
}

Variable made(Tensor tensor, const std::vector<Variable>& operands, std::string_view operation) {
    const bool is_recorded = std::any_of(operands.begin(), operands.end(), [](const auto& operand) {
        return operand.state_->is_recorded();
    });
    if (!is_recorded) return Variable(std::move(tensor));
    if (!is_recording()) return Variable(nn::stop_gradient(tensor));
    static const ir::Interned unnamed = ir::intern("ApplyBackward0");
    const ir::Interned name = operation.empty() ? unnamed : ir::intern(record_name(operation));
    std::vector<Ref<TapeNode>> nodes;
    for (const Variable& operand : operands)
        if (operand.state_->is_recorded()) nodes.push_back(operand.state_->memory->node());
    Variable result(std::move(tensor));
    const Ref<Record> record = Record::make(name, std::move(nodes));
    result.state_->memory->record = record;
    if (operation.empty() || !saves_values(name)) return result;
    SavingCall call;
    for (size_t i = 0; i < operands.size(); ++i)
        call.operands.push_back({static_cast<int>(i), operands[i].state_->savable(),
                                 operands[i].state_->is_recorded()});
    call.results.emplace_back(result.state_->savable());
    save_values(*record, call);
    return result;
}

void Variable::backward(const std::optional<Tensor>& gradient, bool retain_graph) const {
    const Tensor& output = tensor();
    user_check(state_->is_recorded(), "backward: the variable was made from no parameter. ",
               "Variable::parameter makes one.");
    user_check(gradient || output.size() == 1, "backward: the variable has ", output.size(),
               " elements. One is required, or a gradient of its shape.");
    const Below found = below({state_->memory->node()});
    check_saved(found.records);
    std::vector<GradientInput> inputs;
    for (const Ref<Leaf>& leaf : found.leaves) inputs.push_back({leaf->now(), leaf});
    const GradientRule of_ones = [](const auto& outputs, const auto& ends) {
        return nn::chain_rule({{outputs[0], outputs[0]}}, ends);
    };
    const std::vector<Tensor> gradients = eager::gradients(
        gradient ? chain_rule_of({*gradient}) : of_ones, {output}, inputs, found.records);
    for (size_t i = 0; i < inputs.size(); ++i)
        as_parameter(*found.leaves[i]).add_gradient(nn::stop_gradient(gradients[i]));
    if (retain_graph) return;
    for (const Ref<Record>& record : found.records) record->free();
}

std::optional<Tensor> Variable::gradient() const {
    user_check(is_parameter(), "gradient: this is no parameter. Variable::parameter makes one.");
    return as_parameter(*state_->memory->parameter).gradient();
}

void Variable::forget_gradient() const {
    if (state_->memory->parameter) as_parameter(*state_->memory->parameter).gradient().reset();
}

void Variable::register_hook(GradientHook hook) const {
    user_check(is_parameter(), "register_hook: this is no parameter. A hook of a parameter, or a ",
               "function within `apply` that has its own derivative, is required.");
    as_parameter(*state_->memory->parameter).add_hook(std::move(hook));
}

void swap(const Variable& a, const Variable& b) {
    const Variable before = a.copied();
    a.assign(b.copied());
    b.assign(before);
}

void update(const std::vector<Variable>& parameters, const nn::OptimizerFunction& optimizer) {
    std::vector<Variable> chosen;
    std::vector<Tensor> tensors, gradients;
    for (const Variable& parameter : parameters) {
        const std::optional<Tensor> gradient = parameter.gradient();
        if (!gradient) continue;
        chosen.push_back(parameter);
        tensors.push_back(parameter.tensor());
        gradients.push_back(*gradient);
    }
    const std::vector<Tensor> updated = nn::optimize(tensors, gradients, optimizer);
    for (size_t i = 0; i < chosen.size(); ++i) chosen[i].assign(Variable(updated[i]));
}

}  // namespace composit::eager
