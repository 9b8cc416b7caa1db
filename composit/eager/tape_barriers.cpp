#include "composit/eager/tape_barriers.h"

#include "composit/ir/body.h"
#include "composit/ir/depth_first.h"
#include "composit/ir/operation.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/operators.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace composit::eager {
namespace {

using Tensors = std::vector<Tensor>;

bool is_same_node(const Tensor& a, const Tensor& b) { return &a.node() == &b.node(); }

// A graph that is cut at barriers.
class CutGraph {
  public:
    CutGraph(const FlowRule& rule, const Tensors& inputs, const std::vector<Barrier>& barriers,
             Arrivals* arrivals)
        : rule_(rule), inputs_(inputs), arrivals_(arrivals) {
        for (const Barrier& barrier : barriers) {
            if (!barrier.is_hook) continue;
            const Tensor& at = barrier.sinks[0];
            hooked_.push_back(at);
            stand_ins_.push_back(
                ir::input("hooked" + std::to_string(hooked_.size()), at.dtype(), at.shape()));
        }
        for (const Barrier& barrier : barriers) {
            begins_.push_back(sinks_.size());
            for (const Tensor& sink : barrier.sinks) {
                sinks_.push_back(sink);
                hook_before_.push_back(barrier.is_hook ? std::nullopt : hook_at(sink));
            }
        }
        begins_.push_back(sinks_.size());
    }

    size_t begin_of(size_t barrier) const { return begins_[barrier]; }

    struct Found {
        Tensors inputs, sinks;  // sinks: of the barriers from `first` on
    };
    // What flows from `starts` into the inputs and into the sinks of the barriers from `first` on.
    // `hook`: the barrier of hooks that it flows on from, at whose sink the graph is whole.
    Found flow_on(const Tensors& starts, const Tensors& flows, size_t first,
                  const Tensor* hook = nullptr) const {
        note_flow(starts, hook);
        const auto rest = static_cast<std::ptrdiff_t>(begins_[first]);
        Tensors all = starts;
        all.insert(all.end(), inputs_.begin(), inputs_.end());
        all.insert(all.end(), sinks_.begin() + rest, sinks_.end());
        if (all.size() == starts.size()) return {};
        const Substitution cut = without_hooked(all, hook);
        const auto middle = cut.graphs.begin() + static_cast<std::ptrdiff_t>(starts.size());
        Tensors found =
            rule_(Tensors(cut.graphs.begin(), middle), flows, Tensors(middle, cut.graphs.end()));
        found = ir::substitute(found, cut.made, cut.instead_of);
        const auto of_sinks = found.begin() + static_cast<std::ptrdiff_t>(inputs_.size());
        Found made{Tensors(found.begin(), of_sinks), Tensors(of_sinks, found.end())};
        for (size_t i = 0; i < made.sinks.size(); ++i) {
            const std::optional<Tensor>& before = hook_before_[begins_[first] + i];
            if (before && !(hook && is_same_node(*before, *hook)))  // it flows into the hooks first
                made.sinks[i] = numpy::zeros_like(made.sinks[i]);
        }
        return made;
    }

  private:
    void note_flow(const Tensors& starts, const Tensor* hook) const {
        if (!arrivals_) return;
        Tensors stops;
        for (const Tensor& at : hooked_)
            if (!hook || !is_same_node(at, *hook)) stops.push_back(at);
        arrivals_->flow_on(starts, stops);
    }

    std::optional<Tensor> hook_at(const Tensor& tensor) const {
        for (const Tensor& at : hooked_)
            if (is_same_node(at, tensor)) return at;
        return std::nullopt;
    }

    // Graphs in which stand-ins are where hooked tensors were, and how to go back.
    struct Substitution {
        Tensors graphs;
        // The tensors that were made, and those that they stand for. A gradient holds the latter:
        // a later gradient looks for those at which it stops, and for those that were saved.
        Tensors made, instead_of;
    };
    // The hooked tensor at `but` stays.
    Substitution without_hooked(const Tensors& graphs, const Tensor* but) const {
        Tensors from;
        Substitution found;
        for (size_t i = 0; i < hooked_.size(); ++i) {
            if (but && is_same_node(hooked_[i], *but)) continue;
            from.push_back(hooked_[i]);
            found.made.push_back(stand_ins_[i]);
        }
        found.instead_of = from;
        if (from.empty()) {
            found.graphs = graphs;
            return found;
        }
        found.graphs = ir::substitute(graphs, from, found.made);
        std::unordered_set<const ir::Node*> seen;
        for (const Tensor& stand_in : found.made) seen.insert(&stand_in.node());
        std::vector<std::pair<const ir::Node*, const ir::Node*>> open;
        for (size_t i = 0; i < graphs.size(); ++i)
            open.emplace_back(&graphs[i].node(), &found.graphs[i].node());
        while (!open.empty()) {
            const auto [before, after] = open.back();
            open.pop_back();
            if (before == after || !seen.insert(after).second) continue;
            for (size_t output = 0; output < before->types().size(); ++output) {
                found.made.emplace_back(Ref<ir::Node>(after), static_cast<int>(output));
                found.instead_of.emplace_back(Ref<ir::Node>(before), static_cast<int>(output));
            }
            for (size_t i = 0; i < before->operands().size(); ++i)
                open.emplace_back(&before->operands()[i].node(), &after->operands()[i].node());
        }
        return found;
    }

    const FlowRule& rule_;
    const Tensors& inputs_;
    Arrivals* const arrivals_;
    Tensors hooked_, stand_ins_, sinks_;
    std::vector<std::optional<Tensor>> hook_before_;  // of a sink that has hooks, too
    std::vector<size_t> begins_;                      // where a barrier's sinks begin
};

}  // namespace

std::vector<Ref<Record>> gradient_order(const std::vector<Ref<Record>>& records) {
    std::vector<Ref<Record>> order;
    std::unordered_map<const Record*, bool> is_done;  // else those below it are being visited
    for (const Ref<Record>& start : records) {
        std::vector<const Record*> open{start.get()};
        while (!open.empty()) {
            const Record* const record = open.back();
            const auto known = is_done.find(record);
            if (known == is_done.end()) {
                is_done[record] = false;
                const auto& operands = record->operands();
                for (auto at = operands.rbegin(); at != operands.rend(); ++at) {
                    const Record* const below = *at ? (*at)->record() : nullptr;
                    if (below && !is_done.contains(below)) open.push_back(below);
                }
                continue;
            }
            open.pop_back();
            if (known->second) continue;
            known->second = true;
            order.emplace_back(record);
        }
    }
    std::reverse(order.begin(), order.end());
    return order;
}

Arrivals::Arrivals(const std::vector<Ref<TapeNode>>& starts,
                   const std::vector<Ref<Record>>& records)
    : order_(gradient_order(records)) {
    for (const Ref<TapeNode>& start : starts) {
        met_.insert(start.get());
        come_to_.insert(start.get());
    }
}

void Arrivals::give(const Record& record, std::vector<bool> given) {
    given_[&record] = std::move(given);
}

bool Arrivals::operator()(const TapeNode& node) {
    while (next_ < order_.size() && order_[next_].get() != &node) pass(*order_[next_++]);
    return come_to_.contains(&node) || !met_.contains(&node);
}

void Arrivals::pass(const Record& record) {
    const auto written = given_.find(&record);
    const bool comes = come_to_.contains(&record);
    for (size_t i = 0; i < record.operands().size(); ++i) {
        const TapeNode* const operand = record.operands()[i].get();
        if (!operand) continue;
        met_.insert(operand);
        const bool goes_on =
            written == given_.end() ? comes : i < written->second.size() && written->second[i];
        if (goes_on) come_to_.insert(operand);
    }
}

void Arrivals::flow_on(const Tensors& from, const Tensors& stops) {
    // What is below a stop stays to be met: gradients may flow on from there later.
    std::unordered_set<const ir::Node*> met;
    for (const Tensor& stop : stops) met.insert(&stop.node());
    ir::depth_first(from, [&](const ir::Node& node) {
        reached_.insert(&node);
        return node.operation().name != "stop_gradient" && met.insert(&node).second;
    });
}

bool Arrivals::reaches(const Tensor& tensor) const { return reached_.contains(&tensor.node()); }

Tensors gradients_through(const FlowRule& rule, const Tensors& outputs, const Tensors& flows,
                          const Tensors& inputs, const std::vector<Barrier>& barriers,
                          Arrivals* arrivals) {
    const CutGraph graph(rule, inputs, barriers, arrivals);
    CutGraph::Found total = graph.flow_on(outputs, flows, 0);
    size_t passed = 0;  // sinks of earlier barriers
    for (size_t number = 0; number < barriers.size(); ++number) {
        const Barrier& barrier = barriers[number];
        const auto begin = total.sinks.begin() + static_cast<std::ptrdiff_t>(passed);
        const auto end = begin + static_cast<std::ptrdiff_t>(barrier.sinks.size());
        Tensors starts, going;
        for (auto& [start, flow] : barrier.through(Tensors(begin, end))) {
            starts.push_back(start);
            going.push_back(flow);
        }
        passed += barrier.sinks.size();
        if (starts.empty()) continue;
        const Tensor* const hook = barrier.is_hook ? &barrier.sinks[0] : nullptr;
        const CutGraph::Found more = graph.flow_on(starts, going, number + 1, hook);
        for (size_t i = 0; i < more.inputs.size(); ++i)
            total.inputs[i] = hook && is_same_node(inputs[i], *hook)
                                  ? going[0]
                                  : total.inputs[i] + more.inputs[i];
        for (size_t i = 0; i < more.sinks.size(); ++i)
            total.sinks[passed + i] = total.sinks[passed + i] + more.sinks[i];
    }
    return total.inputs;
}

}  // namespace composit::eager
