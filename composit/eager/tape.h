// The tape: what gradients need to know of the operations that were recorded.
//
// Each recorded operation has a Record, which refers to the records and leaves that its operands
// came from, and to the values that the operation saved. The graph of tensors holds the arithmetic;
// the tape says what may be differentiated, and whether it still is what was there.
//
//     const Ref<Record> record = Record::make(ir::intern("MulBackward0"), {leaf_a, leaf_b});
//     save_values(*record, …);                      // saved_values.h
//     const Below found = below({record});          // the leaves and records that it came from
//     check_saved(found.records);                   // PyTorch's error where one was written
//     gradients(rule, outputs, inputs, found, …);   // tape_gradients.h
#pragma once

#include "composit/base/ref.h"
#include "composit/eager/cell.h"
#include "composit/eager/readings.h"
#include "composit/eager/version_counter.h"
#include "composit/ir/node.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace composit::eager {

class Leaf;
class Record;

// A record or a leaf. Whoever owns its memory counts references: by default it is deleted when the
// last one goes. The tape of one output is used by one thread at a time.
class TapeNode {
  public:
    TapeNode(const TapeNode&) = delete;
    TapeNode& operator=(const TapeNode&) = delete;

    virtual void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    // True when this was the last reference, and release() is to delete it.
    virtual bool drop() const noexcept {
        return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
    static void release(const TapeNode* node) { delete node; }

    // What it is; null where it is the other kind.
    const Record* record() const;
    const Leaf* leaf() const;

  protected:
    explicit TapeNode(bool is_leaf) : is_leaf_(is_leaf) {}
    virtual ~TapeNode() = default;

  private:
    mutable std::atomic<uint32_t> count_{0};
    const bool is_leaf_;
};

// A leaf while it lives; afterwards null.
class WeakLeaf : public Counted<WeakLeaf> {
  public:
    static void release(const WeakLeaf* weak) { delete weak; }
    const Leaf* get() const { return leaf_; }

  private:
    friend class Leaf;
    mutable const Leaf* leaf_ = nullptr;
};

// What gradients are added up for: a variable that requires one, or a result that retains its own.
class Leaf : public TapeNode {
  public:
    Leaf() : TapeNode(true) {}
    virtual Tensor now() const = 0;  // what it holds
    // What recorded operations read of it.
    Readings& readings() const { return readings_; }
    const Ref<WeakLeaf>& weak() const;

  protected:
    ~Leaf() override;

  private:
    mutable Readings readings_;
    mutable Ref<WeakLeaf> weak_;
};

// A value that may be saved: what a variable holds, and whose it is.
struct Savable {
    Tensor tensor;
    Ref<Cell> cell;               // in which it lies
    Ref<Leaf> leaf;               // which it is; null where it is none
    Ref<VersionCounter> counter;  // null: nobody can write there
    const Record* record = nullptr;
};

// A value that an operation saved: the cell it lies in, and how often that was written by then.
// Writes that are counted make it an error of backward. Writes that are not (through PyTorch's
// `.data`) reach it.
class SavedValue {
  public:
    // `maker` is the name of the operation that made it, for the error; null where that is not
    // known. `is_result`: its own operation made it. `is_first`: it is the operand that an
    // operation in place writes over.
    SavedValue(const Savable& value, bool is_result, ir::Interned maker, bool is_first = false);

    bool is_result() const { return is_result_; }
    bool is_first() const { return is_first_; }
    bool lies_in_memory_of(const Ref<VersionCounter>& counter) const {
        return counter_ && counter_ == counter;
    }
    // It is the result of an operation in place, and lies where that is.
    void move_to(const Savable& result);
    // It was copied: writes into where it was do not reach it.
    void keep_copy() { counter_ = nullptr; }

    // Whether there was a write that is counted.
    bool is_changed() const { return counter_ && counter_->version() != version_; }
    // Whether there was any.
    bool may_differ() const { return counter_ && counter_->writes() != writes_; }
    const Tensor& before() const { return before_; }  // when it was saved
    Tensor now() const;                               // what is there
    // What PyTorch says where it is changed.
    std::string error() const;

    const Ref<Leaf>& leaf() const { return leaf_; }

  private:
    void lie_in(const Savable& value);

    Ref<VersionCounter> counter_;  // null: nobody writes there
    int64_t version_ = 0, writes_ = 0;
    Tensor before_;
    Ref<Cell> cell_;
    Ref<Leaf> leaf_;  // a leaf is saved itself: `leaf.data = other` reaches it
    ir::Interned maker_;
    bool is_result_, is_first_;
};

// PyTorch's text for a value that is at version `now` though `expected` was saved.
std::string changed_value(int64_t now, int64_t expected, const ir::TensorType& type,
                          ir::Interned maker);

// A recorded operation.
class Record : public TapeNode {
  public:
    // `operands` are what the operands came from; null for those that gradients do not go through.
    static Ref<Record> make(ir::Interned name, std::vector<Ref<TapeNode>> operands);

    ir::Interned name() const { return name_; }  // as PyTorch writes it: MulBackward0
    const std::vector<Ref<TapeNode>>& operands() const { return operands_; }
    void add_operand(Ref<TapeNode> operand) const { operands_.push_back(std::move(operand)); }
    const std::vector<SavedValue>& saved() const { return noted().saved; }
    std::vector<SavedValue>& changed_saved() const { return notes().saved; }
    // Nobody knows its derivative: asking for it is an error.
    bool has_no_derivative() const { return noted().has_no_derivative; }
    void set_no_derivative() const { notes().has_no_derivative = true; }
    // Its result keeps its gradient, while it lives.
    void retain_gradient_of(const Leaf& result) const { notes().retained.push_back(result.weak()); }
    const std::vector<Ref<WeakLeaf>>& retained() const { return noted().retained; }

    // Lets go of all that it refers to; walking it again is an error. The caller holds it.
    void free() const;
    bool is_freed() const { return is_freed_; }

  protected:
    Record(ir::Interned name, std::vector<Ref<TapeNode>> operands)
        : TapeNode(false), name_(name), operands_(std::move(operands)) {}
    ~Record() override;

  private:
    struct Notes {  // what few records have
        std::vector<SavedValue> saved;
        std::vector<Ref<WeakLeaf>> retained;
        bool has_no_derivative = false;
    };
    Notes& notes() const {
        if (!notes_) notes_ = std::make_unique<Notes>();
        return *notes_;
    }
    const Notes& noted() const { return notes_ ? *notes_ : nothing(); }
    static const Notes& nothing();

    ir::Interned name_;
    mutable std::vector<Ref<TapeNode>> operands_;
    mutable std::unique_ptr<Notes> notes_;  // null: nothing
    mutable bool is_freed_ = false;
};

// The leaves below nodes of the tape (results that retain their gradients are among them), and the
// records, in the order in which a walk from the last operand meets them.
struct Below {
    std::vector<Ref<Leaf>> leaves;
    std::vector<Ref<Record>> records;
};
// Null nodes have nothing below them. RuntimeError, in PyTorch's words, where a record was freed.
[[nodiscard]] Below below(const std::vector<Ref<TapeNode>>& nodes);

// Says which records lead to one of the given nodes; what was found out is remembered.
class Reaching {
  public:
    explicit Reaching(const std::vector<Ref<TapeNode>>& targets);
    bool operator()(const Record& record) const;

  private:
    std::unordered_set<const TapeNode*> targets_;
    std::vector<Ref<TapeNode>> held_;
    mutable std::unordered_map<const Record*, bool> known_;
};

// RuntimeError, in PyTorch's words, where a value that one of the records saved was written since,
// or where nobody knows a derivative. `reaching`: of the records that gradients go through; null
// where they go through all.
void check_saved(const std::vector<Ref<Record>>& records, const Reaching* reaching = nullptr);

}  // namespace composit::eager
