// What stands in the way of gradients through a graph: operations whose derivative somebody wrote,
// and hooks on results. The graph is cut at these. What flows into a cut is given to the
// derivative or the hooks, and what they return flows on from there, the latest cut first.
#pragma once

#include "composit/eager/tape.h"

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace composit::eager {

// The gradients of `ends`, in order, for what flows into `outputs`, one for each.
using FlowRule = std::function<std::vector<Tensor>(const std::vector<Tensor>& outputs,
                                                   const std::vector<Tensor>& flows,
                                                   const std::vector<Tensor>& ends)>;

struct Barrier {
    // Where gradients arrive; none goes on from there through the graph.
    std::vector<Tensor> sinks;
    // What flows on, for what arrived at each sink: tensors of the graph, and what flows into them.
    using Flow = std::vector<std::pair<Tensor, Tensor>>;
    std::function<Flow(const std::vector<Tensor>& arrived)> through;
    // It is of hooks on its only sink, from where `through`'s only flow goes on. That is the
    // gradient of the sink itself, too.
    bool is_hook = false;
};

// Records, each before those that its gradient goes on to; of two that are apart, the one that was
// made later comes first. Those below the given ones are among them.
[[nodiscard]] std::vector<Ref<Record>> gradient_order(const std::vector<Ref<Record>>& records);

// To which nodes of the tape a gradient comes. A derivative that somebody wrote may give an operand
// none. That is not a gradient of zeros: a leaf to which none comes keeps the grad that it had.
class Arrivals {
  public:
    // `starts`: the records and leaves of the outputs; `records`: all records below these.
    Arrivals(const std::vector<Ref<TapeNode>>& starts, const std::vector<Ref<Record>>& records);

    // What a written derivative gave: for each operand of its record whether that is a gradient;
    // for operands that were added since then, it is none.
    void give(const Record& record, std::vector<bool> given);
    // Whether a gradient comes to a record or leaf; true where it is not below the outputs. All
    // records with a written derivative that are before it in gradient_order(records) have given.
    [[nodiscard]] bool operator()(const TapeNode& node);

    // Gradients flow on from those tensors, and stop at others.
    void flow_on(const std::vector<Tensor>& from, const std::vector<Tensor>& stops);
    // Whether one flows into that tensor. A record may have several results: a gradient that comes
    // to the record comes to some of them.
    [[nodiscard]] bool reaches(const Tensor& tensor) const;

  private:
    void pass(const Record& record);

    std::vector<Ref<Record>> order_;
    size_t next_ = 0;                          // in the order: the records before it were passed
    std::unordered_set<const TapeNode*> met_;  // below the outputs, as far as records were passed
    std::unordered_set<const TapeNode*> come_to_;
    std::unordered_map<const Record*, std::vector<bool>> given_;
    std::unordered_set<const ir::Node*> reached_;
};

// The gradients of `inputs` by `rule`, through barriers in the order of gradients. `arrivals`,
// where it is not null, learns where they flow.
[[nodiscard]] std::vector<Tensor> gradients_through(const FlowRule& rule,
                                                    const std::vector<Tensor>& outputs,
                                                    const std::vector<Tensor>& flows,
                                                    const std::vector<Tensor>& inputs,
                                                    const std::vector<Barrier>& barriers,
                                                    Arrivals* arrivals = nullptr);

}  // namespace composit::eager
