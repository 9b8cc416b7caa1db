#include "composit/eager/variable.h"

#include "composit/base/error.h"
#include "composit/eager/overwriting.h"
#include "composit/eager/readings.h"
#include "composit/ir/body.h"
#include "composit/ir/scalar/values.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/index_plan.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <bit>

namespace composit::eager {

// What views of one memory have in common.
struct Variable::Memory {
    Ref<Cell> cell;
    bool is_parameter = false;
    std::optional<Tensor> gradient;
    Readings readings;                             // of a parameter
    std::vector<std::shared_ptr<Memory>> sources;  // parameters that it was made from
};

struct Variable::State {
    std::shared_ptr<Memory> memory;
    Ref<Cell> cell;  // the memory's, or a view of it
    bool is_detached = false;
    mutable Tensor stopped;  // of a detached one: what it holds, as it is seen
};

namespace {

template <class Sources>
void add(Sources& sources, const typename Sources::value_type& source) {
    if (std::find(sources.begin(), sources.end(), source) == sources.end())
        sources.push_back(source);
}

}  // namespace

Variable::Variable(Tensor tensor) : state_(std::make_shared<State>()) {
    state_->memory = std::make_shared<Memory>();
    state_->cell = state_->memory->cell = Cell::make(std::move(tensor));
}
Variable::Variable(Array value) : Variable(ir::constant(std::move(value))) {}

Variable Variable::parameter(Array value) {
    Variable made(std::move(value));
    made.state_->memory->is_parameter = true;
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
    return state_->memory->is_parameter && !state_->is_detached && state_->cell->is_plain();
}

Array Variable::value() const {
    const Cell& cell = *state_->cell;
    Array found = look({cell.tensor()})[0];
    // Nothing goes back through it: its graph is not needed any more.
    const Memory& memory = *state_->memory;
    if (cell.is_plain() && memory.sources.empty() && !ir::is_constant(cell.tensor().node()))
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
    state->is_detached = state_->is_detached;
    return Variable(std::move(state));
}

Variable Variable::detached() const {
    auto state = std::make_shared<State>();
    state->memory = state_->memory;
    state->cell = state_->cell;
    state->is_detached = true;
    return Variable(std::move(state));
}

Variable Variable::copied() const { return made(tensor(), {*this}); }

bool Variable::write_number(const Variable& value) const {
    const Cell& cell = *state_->cell;
    if (!cell.is_view() || !cell.type().shape.empty() || state_->memory->is_parameter ||
        state_->is_detached || value.state_->is_detached)
        return false;
    const Ref<Deferred> number = value.state_->cell->number();
    return number && write_element(cell, 0, number);
}

void Variable::assign(const Variable& value) const {
    if (write_number(value)) return add_sources_of(value);
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
    Tensor written = ops::broadcast_to(ops::astype(value.tensor(), held.dtype()), held.shape());
    Memory& memory = *state_->memory;
    if (memory.is_parameter) {
        // A leaf, so that gradients stop there: of the values as they are now.
        state_->cell->replace(nn::stop_gradient(written));
        memory.cell->replace(ir::constant(look({memory.cell->tensor()})[0]));
        return;
    }
    if (state_->is_detached) {
        const Tensor before = memory.cell->tensor();
        state_->cell->replace(nn::stop_gradient(written));
        if (!memory.sources.empty())
            memory.cell->replace(ops::with_values(before, memory.cell->tensor()));
        return;
    }
    state_->cell->replace(std::move(written));
    add_sources_of(value);
}

void Variable::add_sources_of(const Variable& value) const {
    if (value.state_->is_detached) return;
    Memory& memory = *state_->memory;
    const std::shared_ptr<Memory>& from = value.state_->memory;
    if (from->is_parameter) {
        from->readings.note(from->cell->tensor());
        add(memory.sources, from);
    }
    for (const auto& source : from->sources) add(memory.sources, source);
}

Variable made(Tensor tensor, const std::vector<Variable>& operands) {
    Variable result(std::move(tensor));
    auto& sources = result.state_->memory->sources;
    for (const Variable& operand : operands) {
        if (operand.state_->is_detached) continue;
        const auto& memory = operand.state_->memory;
        if (memory->is_parameter) {
            memory->readings.note(memory->cell->tensor());
            add(sources, memory);
        }
        for (const auto& source : memory->sources) add(sources, source);
    }
    return result;
}

void Variable::backward() const {
    const auto& sources = state_->memory->sources;
    const Tensor& output = tensor();
    user_check(!sources.empty() && !state_->is_detached,
               "backward: the variable was made from no parameter. ",
               "Variable::parameter makes one.");
    user_check(output.size() == 1, "backward: the variable has ", output.size(),
               " elements. One is required.");
    std::vector<Tensor> inputs;
    std::vector<size_t> owners;
    for (size_t i = 0; i < sources.size(); ++i) {
        const Tensor& now = sources[i]->cell->tensor();
        inputs.push_back(now);
        owners.push_back(i);
        for (Tensor& read : reached({output}, sources[i]->readings.before(now))) {
            inputs.push_back(std::move(read));
            owners.push_back(i);
        }
    }
    const std::vector<Tensor> gradients = nn::chain_rule({{output, output}}, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
        std::optional<Tensor>& gradient = sources[owners[i]]->gradient;
        const Tensor found = nn::stop_gradient(gradients[i]);
        gradient = gradient ? *gradient + found : found;
    }
}

std::optional<Tensor> Variable::gradient() const {
    user_check(is_parameter(), "gradient: this is no parameter. Variable::parameter makes one.");
    return state_->memory->gradient;
}

void Variable::forget_gradient() const { state_->memory->gradient.reset(); }

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
