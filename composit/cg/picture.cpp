// Nodes by the calls that they are in: those of a call itself, then the calls within.
#include "composit/cg/picture.h"

#include "composit/base/text.h"

#include <algorithm>
#include <utility>

namespace composit::cg {
namespace {

using ir::PictureItem;
using NodeKind = PictureNode::Kind;
using Calls = std::vector<size_t>;

// Where each node stands.
std::vector<Calls> calls_around(const std::vector<PictureNode>& nodes) {
    std::vector<Calls> around(nodes.size());
    std::vector<bool> is_used(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].kind == NodeKind::operation) around[i] = nodes[i].calls;
    for (const PictureNode& user : nodes)
        for (const size_t child : user.children) {
            if (nodes[child].kind == NodeKind::operation || nodes[child].kind == NodeKind::variable)
                continue;
            Calls& common = around[child];
            if (!is_used[child]) {
                common = user.calls;
                is_used[child] = true;
                continue;
            }
            const auto end =
                std::mismatch(common.begin(), common.end(), user.calls.begin(), user.calls.end());
            common.erase(end.first, common.end());
        }
    return around;
}

PictureItem item_of(const PictureNode& node, size_t number) {
    PictureItem item;
    item.name = text("n", number);
    const bool is_operation = node.kind == NodeKind::operation;
    const std::string label = is_operation        ? node.name + "→(" + node.value + ")"
                              : node.name.empty() ? node.value
                                                  : node.name + " (" + node.value + ")";
    item.attributes = {{"label", label}, {"shape", is_operation ? "box" : "ellipse"}};
    item.attributes.emplace_back("style", is_operation ? "rounded" : "filled");
    if (!is_operation)
        item.attributes.emplace_back("fillcolor", node.kind == NodeKind::variable    ? "#dbe9f6"
                                                  : node.kind == NodeKind::parameter ? "#fdebc8"
                                                                                     : "#eeeeee");
    if (node.is_result) item.attributes.emplace_back("peripheries", "2");
    return item;
}

class Clusters {
  public:
    Clusters(const std::vector<PictureNode>& nodes, const std::vector<std::string>& modules)
        : nodes_(nodes), modules_(modules), around_(calls_around(nodes)) {}

    // The nodes of the call behind these, and those of the calls within.
    std::vector<PictureItem> within(const Calls& outer) {
        std::vector<PictureItem> items;
        std::vector<size_t> inner;
        for (size_t i = 0; i < nodes_.size(); ++i) {
            const Calls& calls = around_[i];
            if (calls.size() < outer.size() ||
                !std::equal(outer.begin(), outer.end(), calls.begin()))
                continue;
            if (calls.size() == outer.size())
                items.push_back(item_of(nodes_[i], i));
            else if (std::find(inner.begin(), inner.end(), calls[outer.size()]) == inner.end())
                inner.push_back(calls[outer.size()]);
        }
        for (const size_t call : inner) {
            PictureItem cluster;
            cluster.name = text("cluster_", count_++);
            cluster.is_cluster = true;
            cluster.attributes = {{"label", modules_.at(call)},
                                  {"style", "rounded,filled"},
                                  {"fillcolor", "#00000008"},
                                  {"color", "gray40"},
                                  {"fontsize", "11"}};
            Calls calls = outer;
            calls.push_back(call);
            cluster.items = within(calls);
            items.push_back(std::move(cluster));
        }
        return items;
    }

  private:
    const std::vector<PictureNode>& nodes_;
    const std::vector<std::string>& modules_;
    std::vector<Calls> around_;
    size_t count_ = 0;
};

}  // namespace

ir::Picture picture_of(const std::vector<PictureNode>& nodes,
                       const std::vector<std::string>& modules) {
    ir::Picture picture;
    picture.items = Clusters(nodes, modules).within({});
    for (size_t i = 0; i < nodes.size(); ++i)
        for (const size_t child : nodes[i].children)
            picture.edges.push_back({text("n", child), text("n", i), "", true});
    return picture;
}

}  // namespace composit::cg
