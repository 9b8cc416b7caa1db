#include "composit/eager/readings.h"

#include "composit/ir/graph.h"

#include <algorithm>
#include <unordered_set>

namespace composit::eager {
namespace {

bool is_only_here(const ir::Tensor& tensor) { return tensor.node().use_count() == 1; }

}  // namespace

void Readings::change(const ir::Tensor& now) {
    if (last_ && !is_only_here(last_)) earlier_.push_back(last_);
    last_ = now;
    if (earlier_.size() < limit_) return;
    std::erase_if(earlier_, is_only_here);
    limit_ = std::max<size_t>(4, 2 * earlier_.size());
}

std::vector<ir::Tensor> Readings::before(const ir::Tensor& now) const {
    std::vector<ir::Tensor> found;
    const auto add = [&](const ir::Tensor& tensor) {
        if (!(tensor == now) && std::find(found.begin(), found.end(), tensor) == found.end())
            found.push_back(tensor);
    };
    for (const ir::Tensor& tensor : earlier_) add(tensor);
    if (last_) add(last_);
    return found;
}

std::vector<ir::Tensor> reached(const std::vector<ir::Tensor>& outputs,
                                const std::vector<ir::Tensor>& tensors) {
    if (tensors.empty()) return {};
    std::unordered_set<const ir::Node*> seen;
    for (const ir::Node* node : ir::topological_order(outputs)) seen.insert(node);
    std::vector<ir::Tensor> found;
    for (const ir::Tensor& tensor : tensors)
        if (seen.contains(&tensor.node())) found.push_back(tensor);
    return found;
}

}  // namespace composit::eager
