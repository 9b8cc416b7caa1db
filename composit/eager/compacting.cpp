#include "composit/eager/compacting.h"

#include "composit/base/hash.h"
#include "composit/eager/small.h"
#include "composit/ir/depth_first.h"
#include "composit/ir/operation.h"
#include "composit/ops/forgotten.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace composit::eager {
namespace {

using ir::Node;

// Whether a graph may begin at its value.
bool has_value(const Tensor& tensor) {
    const Node& node = tensor.node();
    return !node.operands().empty() && !tensor.type().weak && node.has_kept() &&
           node.kept(tensor.output_index());
}

bool is_leaf(const Node& node) { return node.operands().empty(); }

// What a node keeps, another one of the same meaning keeps, too.
void keep_as(const Node& made, const Node& before) {
    if (!before.has_kept()) return;
    std::array<std::byte, 16> number{};
    if (before.output_count() == 1 && before.types()[0].shape.empty() &&
        before.copy_kept_number(number.data()))
        return made.keep_number(number.data());
    for (int i = 0; i < before.output_count(); ++i)
        if (ir::ConstantArray value = before.kept(i)) made.keep(i, std::move(value));
}

}  // namespace

std::vector<Tensor> Held::tensors() const {
    std::vector<Tensor> all;
    all.reserve(cells.size() + numbers.size());
    for (const Ref<const Cell>& cell : cells) all.push_back(cell->tensor());
    for (const Ref<const Deferred>& number : numbers) all.push_back(number->tensor());
    return all;
}

std::mutex& Reach::making() {
    static auto& mutex = *new std::mutex;
    return mutex;
}

namespace {

// As ir::topological_order gives them. Each has been marked with its place.
std::vector<const Node*> marked_order(const std::vector<Tensor>& roots) {
    std::vector<const Node*> met;
    const std::vector<const Node*> order = ir::depth_first(roots, [&](const Node& node) {
        const size_t mark = node.mark();
        if (mark < met.size() && met[mark] == &node) return false;
        node.set_mark(static_cast<uint32_t>(met.size()));
        met.push_back(&node);
        return true;
    });
    for (size_t i = 0; i < order.size(); ++i) order[i]->set_mark(static_cast<uint32_t>(i));
    return order;
}

}  // namespace

Reach::Reach(std::vector<Tensor> roots) : roots_(std::move(roots)), order_(marked_order(roots_)) {
    is_behind_.resize(order_.size());
    for (size_t i = order_.size(); i-- > 0;) {
        if (!is_behind_[i] && !order_[i]->has_kept()) continue;
        for (const Tensor& operand : order_[i]->operands())
            if (!is_leaf(operand.node())) is_behind_[place_of(operand.node())] = true;
    }
}

std::vector<uint64_t> Reach::history() const {
    std::vector<uint64_t> numbers;
    for (size_t i = 0; i < order_.size(); ++i)
        if (is_behind_[i]) numbers.push_back(order_[i]->number());
    return numbers;
}

Cut Reach::cut_before(uint64_t number) const {
    Cut cut;
    cut.stays.resize(order_.size());
    cut.is_frontier.resize(order_.size());
    std::vector<const Node*> open;
    const auto enter = [&](const Tensor& tensor) {
        const Node& node = tensor.node();
        const size_t place = place_of(node);
        if (cut.stays[place]) return;
        if (node.number() < number && has_value(tensor)) {
            cut.frontier.push_back(tensor);
            cut.left += is_behind_[place] && !cut.is_frontier[place];
            cut.is_frontier[place] = true;
            return;
        }
        cut.stays[place] = true;
        cut.left += is_behind_[place];
        open.push_back(&node);
    };
    for (const Tensor& root : roots_) enter(root);
    while (!open.empty()) {
        const Node& node = *open.back();
        open.pop_back();
        for (const Tensor& operand : node.operands()) enter(operand);
    }
    return cut;
}

size_t Compacting::Hash::operator()(const Key& key) const {
    return hash_combine(reinterpret_cast<uintptr_t>(key.node), static_cast<uint64_t>(key.output));
}

Compacting::Compacting(const Reach& reach, const Cut& cut, const Held& held, int64_t bound)
    : reach_(reach), cut_(cut), bound_(bound) {
    const std::vector<const Node*>& order = reach.order();
    sets_.resize(order.size());
    moved_.resize(order.size());
    count_names(held);
    std::vector<std::vector<Tensor>> forgotten(order.size());  // by place
    for (const Tensor& tensor : cut.frontier) {
        std::vector<Tensor>& there = forgotten[reach.place_of(tensor.node())];
        if (std::find(there.begin(), there.end(), tensor) == there.end()) there.push_back(tensor);
    }
    for (size_t i = 0; i < order.size(); ++i) {
        if (!cut.stays[i] || cut.is_frontier[i])
            for (const Tensor& operand : order[i]->operands())
                sets_[i] = united_within(sets_[i], behind(operand));
        for (const Tensor& tensor : forgotten[i]) forget(tensor);
        if (cut.stays[i]) rebuild(*order[i]);
    }
}

Compacting::~Compacting() {
    for (const Ref<Node>& node : held_) node->count_holders(-1);
}

// Cells and numbers are given what takes the place of what they hold; what others hold stays as it
// is.
void Compacting::count_names(const Held& held) {
    const std::vector<const Node*>& order = reach_.order();
    std::vector<uint32_t> known(order.size());
    is_named_.resize(order.size());
    for (const Node* node : order)
        for (const Tensor& operand : node->operands()) ++known[reach_.place_of(operand.node())];
    for (const Tensor& root : reach_.roots()) ++known[reach_.place_of(root.node())];
    for (const Tensor& tensor : cut_.frontier) ++known[reach_.place_of(tensor.node())];
    const auto count = [&](const Tensor& tensor) {
        const size_t place = reach_.place_of(tensor.node());
        if (is_leaf(tensor.node()))
            is_named_[place] = true;
        else
            ++known[place];
    };
    for (const Ref<const Cell>& cell : held.cells) cell->each_held(count);
    for (const Ref<const Deferred>& number : held.numbers) count(number->tensor());
    for (size_t i = 0; i < order.size(); ++i)
        is_named_[i] = is_named_[i] || order[i]->use_count() > known[i];
}

Compacting::Set Compacting::only(const Tensor& tensor) {
    const Key key{&tensor.node(), tensor.output_index()};
    const auto [place, is_new] = number_.emplace(key, named_.size());
    if (is_new) named_.push_back(tensor);
    return std::make_shared<const std::vector<size_t>>(1, place->second);
}

// What can be named among what `tensor` was made of, or that itself.
Compacting::Set Compacting::behind(const Tensor& tensor) {
    const Node& node = tensor.node();
    const size_t place = reach_.place_of(node);
    if (is_leaf(node)) return is_named_[place] && !tensor.type().weak ? only(tensor) : Set();
    const bool is_forgotten = cut_.is_frontier[place] && !(moved(tensor) == tensor);
    if (cut_.stays[place] || is_forgotten || is_named_[place]) return only(tensor);
    return sets_[place];
}

NameSet united(const NameSet& a, const NameSet& b) {
    if (!a || a == b) return b;
    if (!b || std::includes(a->begin(), a->end(), b->begin(), b->end())) return a;
    if (std::includes(b->begin(), b->end(), a->begin(), a->end())) return b;
    auto both = std::make_shared<std::vector<size_t>>();
    std::set_union(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*both));
    return both;
}

Compacting::Set Compacting::united_within(const Set& a, const Set& b) {
    constexpr size_t most = 64;  // of a set, which many nodes may have
    const Set both = united(a, b);
    if (!both || both == a || both == b || both->size() <= most) return both;
    // A leaf without elements stands for them.
    const Tensor one = ops::forgotten(tensors_of(both), Array(ir::DType::float32, {0}), bound_);
    named_.push_back(one);
    return std::make_shared<const std::vector<size_t>>(1, named_.size() - 1);
}

std::vector<Tensor> Compacting::tensors_of(const Set& set) const {
    std::vector<Tensor> tensors;
    if (!set) return tensors;
    for (const size_t number : *set) tensors.push_back(moved(named_[number]));
    return tensors;
}

Tensor Compacting::moved(const Tensor& tensor) const {
    if (!reach_.contains(tensor.node())) return tensor;
    const std::vector<Tensor>& outputs = moved_[reach_.place_of(tensor.node())];
    if (outputs.empty()) return tensor;
    const Tensor& found = outputs[static_cast<size_t>(tensor.output_index())];
    return found ? found : tensor;
}

void Compacting::forget(const Tensor& tensor) {
    const Node& node = tensor.node();
    const size_t place = reach_.place_of(node);
    const ir::LocationScope scope(node);
    std::vector<Tensor>& outputs = moved_[place];
    outputs.resize(static_cast<size_t>(node.output_count()));
    outputs[static_cast<size_t>(tensor.output_index())] =
        ops::forgotten(tensors_of(sets_[place]), node.kept(tensor.output_index()), bound_);
}

void Compacting::rebuild(const Node& node) {
    bool differs = false;
    std::vector<Tensor> operands;
    for (const Tensor& operand : node.operands()) {
        operands.push_back(moved(operand));
        differs = differs || !(operands.back() == operand);
    }
    if (!differs) return;
    const Ref<Node> made = ir::with_operands(node, std::move(operands));
    // Values that cells hold are no history, not even for a moment.
    if (node.holders() > 0) {
        made->count_holders(1);
        held_.push_back(made);
    }
    keep_as(*made, node);
    std::vector<Tensor>& outputs = moved_[reach_.place_of(node)];
    const std::vector<Tensor> all = ir::outputs_of(made);
    outputs.resize(all.size());
    for (size_t i = 0; i < all.size(); ++i)
        if (!outputs[i]) outputs[i] = all[i];
}

}  // namespace composit::eager
