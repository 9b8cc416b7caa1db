// Graphs without their oldest part (history.h).
#pragma once

#include "composit/eager/cell.h"
#include "composit/ir/node.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace composit::eager {

// What programs hold.
struct Held {
    std::vector<Ref<const Cell>> cells;
    std::vector<Ref<const Deferred>> numbers;  // that are made

    std::vector<Tensor> tensors() const;  // theirs, now
};

// Of what can be named, by number; those of most nodes are those of an operand.
using NameSet = std::shared_ptr<const std::vector<size_t>>;
NameSet united(const NameSet& a, const NameSet& b);

// Where the old part of a graph begins.
struct Cut {
    std::vector<bool> stays;        // by the place of a node: something needs it
    std::vector<Tensor> frontier;   // old ones whose values take their place
    std::vector<bool> is_frontier;  // by the place of their nodes
    size_t left = 0;                // nodes of the history that stay, or give way to a leaf
};

// What some tensors reach. Nodes have places: operands before users. Nodes are marked with them, so
// that a large graph is walked without a table: while there is one Reach, nobody else makes one,
// who holds the lock of `making`.
class Reach {
  public:
    explicit Reach(std::vector<Tensor> roots);
    static constexpr size_t none = SIZE_MAX;
    static std::mutex& making();

    const std::vector<Tensor>& roots() const { return roots_; }
    const std::vector<const ir::Node*>& order() const { return order_; }
    size_t place_of(const ir::Node& node) const {
        const size_t mark = node.mark();
        return mark < order_.size() && order_[mark] == &node ? mark : none;
    }
    bool contains(const ir::Node& node) const { return place_of(node) != none; }
    std::vector<uint64_t> history() const;  // the numbers of the nodes behind values
    // At the values of nodes with smaller numbers.
    Cut cut_before(uint64_t number) const;

  private:
    std::vector<Tensor> roots_;
    std::vector<const ir::Node*> order_;
    std::vector<bool> is_behind_;  // a value, so that it is history
};

// The same graphs, of which the part behind a cut gave way to forgotten leaves.
class Compacting {
  public:
    Compacting(const Reach& reach, const Cut& cut, const Held& held, int64_t bound);
    ~Compacting();
    Compacting(const Compacting&) = delete;
    Compacting& operator=(const Compacting&) = delete;
    Tensor moved(const Tensor& tensor) const;  // what takes its place

  private:
    using Set = NameSet;

    void count_names(const Held& held);
    Set behind(const Tensor& tensor);
    Set united_within(const Set& a, const Set& b);  // nested where there are many
    Set only(const Tensor& tensor);
    std::vector<Tensor> tensors_of(const Set& set) const;
    void forget(const Tensor& tensor);
    void rebuild(const ir::Node& node);

    const Reach& reach_;
    const Cut& cut_;
    int64_t bound_;
    std::vector<Set> sets_;                   // by place: what a node was made of
    std::vector<bool> is_named_;              // by place: somebody else than the graph holds it
    std::vector<Tensor> named_;               // by number
    std::vector<std::vector<Tensor>> moved_;  // by place: of each output; empty: itself
    std::vector<Ref<ir::Node>> held_;         // for the cells that will hold them
    struct Key {
        const ir::Node* node;
        int output;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        size_t operator()(const Key& key) const;
    };
    std::unordered_map<Key, size_t, Hash> number_;
};

}  // namespace composit::eager
