#include "composit/eager/versions.h"

#include "composit/base/error.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <unordered_set>

namespace composit::eager {
namespace {

// What graphs refer to of a place: the nearest ones, as what stands behind them is what they were
// made of.
std::vector<Tensor> nearest(const Tensor& now, uint32_t place, const std::vector<Tensor>& outputs) {
    std::vector<Tensor> found, open = outputs;
    std::unordered_set<const ir::Node*> seen;
    const auto add = [&](const Tensor& tensor) {
        if (std::find(found.begin(), found.end(), tensor) == found.end()) found.push_back(tensor);
    };
    while (!open.empty()) {
        const Tensor at = std::move(open.back());
        open.pop_back();
        if (at == now) {
            add(at);
            continue;
        }
        const uint32_t was = at.node().place();
        const bool may_be = was == place || was == ir::Node::several_places;
        if (may_be && at.type() == now.type()) {
            add(at);
            continue;
        }
        if (!seen.insert(&at.node()).second) continue;
        for (const Tensor& operand : at.node().operands()) open.push_back(operand);
    }
    return found;
}

std::string line_of(const Tensor& tensor) {
    const std::string& location = tensor.node().location();
    return location.empty() ? "a line that is not known" : location;
}

}  // namespace

void Versions::note(const Cell& cell) {
    static std::atomic<uint32_t> last{0};
    if (cell.place_ == 0) {
        uint32_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
        while (number == 0 || number == ir::Node::several_places)
            number = last.fetch_add(1, std::memory_order_relaxed) + 1;
        cell.place_ = number;
    }
    if (cell.is_written())
        cell.elements_->now->set_place(cell.place_);
    else if (cell.tensor_)
        cell.tensor_.node().set_place(cell.place_);
}

Tensor Versions::read(const Cell& cell, const std::vector<Tensor>& outputs,
                      std::string_view function) {
    const Tensor now = cell.tensor();
    if (!cell.is_plain() || cell.place_ == 0) return now;
    const std::vector<Tensor> found = nearest(now, cell.place_, outputs);
    if (found.empty()) return now;
    if (found.size() > 1) {
        std::string lines;
        for (const Tensor& tensor : found) lines += (lines.empty() ? "" : ", ") + line_of(tensor);
        fail<ValueError>(
            function, ": an input was written between readings that the outputs depend ",
            "on: what they read was made at ", lines, ". An input that was read once, ",
            "or a copy of what was read, is required.");
    }
    return found[0];
}

}  // namespace composit::eager
