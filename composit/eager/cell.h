// Cells: what programs write to, over graphs that never change.
//
//     Ref<Cell> x = Cell::make(numpy::zeros({3}, DType::float64));
//     Ref<Cell> first = Cell::make_view(numpy::get_item(x->tensor(), {numpy::Slice{0, 2}}), x);
//     first->replace(numpy::ones({2}, DType::float64));  // x is [1, 1, 0]
//     ir::Array now = look({x->tensor()})[0];            // computed once, and remembered
#pragma once

#include "composit/base/ref.h"
#include "composit/eager/deferred.h"
#include "composit/eager/strides.h"
#include "composit/execute/execute.h"
#include "composit/ir/node.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace composit::eager {

using ir::Array;
using ir::Tensor;

// A tensor that shows another one's elements otherwise (the real parts of complex numbers, bits as
// another dtype): what is seen of a source, and the source after something else was written there.
struct Appearance {
    std::function<Tensor(const Tensor& source)> seen;
    std::function<Tensor(const Tensor& source, const Tensor& written)> source_after;
    // `seen` moves elements and does nothing else with them, some to several places. Who writes a
    // part of what is seen writes those elements, and no other places where they are seen; so
    // there is no `source_after`.
    bool is_selection = false;
    bool is_alias = false;  // the same elements in the same order
    bool is_leaf = false;   // of these, as a node of its own (leaf_cell.h)
};

// 0, 1, 2, … in row-major order, int64: sent through what selects elements, they say which.
Tensor numbers_of(const ir::Shape& shape);

// What shows its source so; what is written there is stored as it is.
Appearance shown_by(std::function<Tensor(const Tensor& source)> seen);

// Elements that a function selects, which moves elements and does nothing else with them.
Appearance selection(std::function<Tensor(const Tensor&)> function);

class Compacting;

// A place that holds a tensor. A view's tensor is a path of layout operations from the tensor of
// its root: it is read again when the root was written, and writing it writes the root. So it is
// with an appearance and its source; it can be the root of views.
//
// One thread at a time may use a cell and its views; different cells may be used by different
// threads.
class Cell : public Counted<Cell> {
  public:
    // Its memory is row-major, unless strides are given that say otherwise.
    static Ref<Cell> make(Tensor tensor, std::optional<Strides> strides = {});
    // For a tensor of another cell's shape: its axes follow each other in memory as they do there.
    static Ref<Cell> make_in_order_of(const Cell& other, Tensor tensor);
    // `tensor` was made from what `parent` holds by layout operations alone (see is_layout_path).
    // Null where NumPy would copy: a reshape that no strides describe. `region` says where it lies,
    // if that is known.
    static Ref<Cell> make_view(Tensor tensor, const Ref<Cell>& parent,
                               std::optional<Region> region = {});
    // `region` says where it lies in the memory of its source, in elements of its own size;
    // without, it is as if it had memory of its own.
    static Ref<Cell> make_appearance(Appearance appearance, const Ref<Cell>& source,
                                     std::optional<Region> region = {});
    // Another name for the memory of `source`, which `show` can tell apart from it. Names of names
    // are names of the same cell.
    static Ref<Cell> make_alias(const Ref<Cell>& source);
    static Ref<Cell> make_alias(Appearance appearance, const Ref<Cell>& source);
    // A view of known values: the path is made when somebody asks. Null where they are not known.
    static Ref<Cell> make_view(BasicPart part, const Ref<Cell>& parent);
    // Another cell for what `cell` holds, in memory of its own, where its values are known and
    // there is no node for them yet; else null.
    static Ref<Cell> make_known_copy(const Cell& cell);
    // An appearance shows its source in another way from now on, to its views, too.
    void show(Appearance appearance) const;
    // Of an alias: writes `value` into `target`, which is this cell or sees it. What the alias is
    // made of then is returned; its source gets what `stored` makes of that.
    Tensor written_through(const Cell& target, Tensor value,
                           const std::function<Tensor(const Tensor&)>& stored) const;
    // Of known values, of which the node is made when somebody asks.
    static Ref<Cell> make_known(Ref<Deferred> now, ir::ConstantArray values);
    static void release(const Cell* cell) { delete cell; }

    const Tensor& tensor() const;  // now
    // Of what it holds, which never changes.
    const ir::TensorType& type() const { return tensor_ ? tensor_.type() : *elements_->type; }
    // Where the values lie, which no writing changes. Views and what was written get no node for
    // it.
    ir::DeviceNumber device() const;
    bool lies_on_host() const;  // the same question, for which no node is made
    // Shape and dtype are those of the old one. ValueError where a view repeats elements, and where
    // a function that is traced writes what it was given into what was there before.
    void replace(Tensor tensor) const;
    // Writes `value` over the elements of those numbers (int64, of value's shape; the last of equal
    // ones counts).
    void replace_at(const Tensor& numbers, const Tensor& value) const;
    // An element of known values, by its place in row-major order; null where they are not known,
    // or are to be read in another way.
    Ref<Deferred> element(int64_t place) const;
    // To be called where somebody reads or writes an element and the values are not known. True
    // once for what the cell holds: when so many were asked for, in proportion to the size, that
    // computing all of them costs less than a node for each.
    bool is_asked_often() const;
    // What it holds, as an operand of deferred numbers; null where it is no known number.
    Ref<Deferred> number() const;
    // Known values, as an operand: where the elements lie that it shows.
    struct Seen {
        const Ref<Deferred>* now;
        const char* memory;  // of an array in row-major order
        const Region* where;
    };
    std::optional<Seen> seen() const;
    bool has_node() const;  // for what it holds; else one is made when somebody asks
    // Writes known values, of its type, over all elements of a cell that is no view.
    void replace_known(Ref<Deferred> now, ir::ConstantArray values) const;
    // Writes a number over an element, in memory that nobody else sees, without a node for now.
    // False where it is to be written in another way.
    bool write_element(int64_t place, const Ref<Deferred>& value) const;
    // The values, where elements of it were written, for which there is no node yet; else empty.
    ir::ConstantArray written_values() const;
    // Of a view of known values in host memory: a copy of what it shows, without a plan; else
    // empty.
    Array viewed_values() const;
    // What was written has a node, and nothing refers to the values but that.
    void close_elements() const;

    bool sees_selection() const;   // it, or what it is a view of, may show an element twice
    const Region& region() const;  // where its elements lie in memory (see laid_in)
    const Strides& strides() const { return region().strides; }
    bool is_row_major() const {  // its elements follow each other, the last axis fastest
        return !region_ || eager::is_row_major(type().shape, strides());
    }
    bool is_view() const { return static_cast<bool>(root_); }
    bool is_plain() const { return !origin(); }  // no view, and no appearance
    const Cell* root() const { return root_ ? root_.get() : this; }
    // What its tensor is a path from, or an appearance of; null where it is plain.
    const Cell* origin() const { return root_ ? root_.get() : source_.get(); }
    const Cell* memory() const;  // the plain cell behind views and appearances
    bool is_leaf() const { return appearance_ && appearance_->is_leaf; }
    // The cell that operations read when they read this one: a leaf that it is, or sees, or else
    // the memory.
    const Cell* leaf_below() const;
    const Cell* laid_in() const;  // the cell whose memory region() speaks of
    // Nodes give way to others of the same values (history.h).
    void follow(const Compacting& compacting) const;
    void each_held(const std::function<void(const Tensor&)>& use) const;  // tensors, as they are
    Tensor places() const;  // int64: the number of each element in the root, in row-major order

  private:
    friend class Pending;
    friend class Forgetting;

    // How elements are read and written one by one.
    struct Elements {
        Ref<Deferred> now;                   // what the cell holds
        std::shared_ptr<const void> memory;  // where its values are, in row-major order
        // The values, where `now` was written since tensor_: in memory of the cell's own.
        ir::ConstantArray own;
        std::unique_ptr<const ir::TensorType> type;  // where there is no tensor_ yet
        // Of a view: how it is made of its root, where its elements are in the root's memory, and
        // of what the root held `now` is a view.
        Ref<Deferred> path, seen;
        Region where;  // of others: all
    };

    Cell(Tensor tensor, Ref<Cell> root, Tensor base, std::optional<Region> region);
    Cell(Appearance appearance, Ref<Cell> source, std::optional<Region> region);
    explicit Cell(std::unique_ptr<Elements> elements, Ref<Cell> root = {},
                  std::optional<Region> region = {});
    ~Cell();

    friend class Versions;
    void check_trace(const Tensor& tensor) const;

    bool find_elements_of_root() const;
    // Where an element is in the root's memory, whose elements were found.
    int64_t place_in_root(int64_t place) const;
    bool find_elements() const;
    bool find_seen() const;
    bool own_elements() const;
    void make_written() const;  // the node of what was written
    // Of a view: no element is seen twice, though some are in what it is a view of.
    bool is_part_of_repeated() const;
    // What selections and views show elements of, and the numbers of these there.
    const Cell& selected_from() const;
    Tensor numbers_in(const Cell& from) const;
    bool is_written() const { return elements_ && elements_->own; }

    mutable Tensor tensor_;  // before what was written to elements_; maybe none yet
    mutable std::unique_ptr<Elements> elements_;
    Ref<Cell> root_;       // never a view itself
    mutable Tensor base_;  // what the origin held when tensor_ was made
    Ref<Cell> source_;
    std::unique_ptr<Appearance> appearance_;
    bool lies_in_source_ = false;
    mutable std::optional<Region> region_;  // computed when it is asked for
    // Neighbours among the cells whose values nobody has looked at, newest first (see look).
    mutable const Cell *newer_ = nullptr, *older_ = nullptr;
    mutable std::atomic<bool> is_pending_{false};
    const uint64_t born_ = ir::nodes_made();  // when it was made
    mutable uint32_t place_ = 0;              // its number, once it was written (see Versions)
    mutable int64_t asked_ = 0;               // elements, one by one, of values that are not known
    mutable const Cell *next_ = nullptr, *previous_ = nullptr;  // among all living cells
};

bool is_layout(const ir::Node& node);  // a slice, transpose, reshape, split, broadcast or element
// Whether `to` is `from`, seen through slices, transposes, reshapes, splits and broadcasts.
bool is_layout_path(const Tensor& from, const Tensor& to);

// The values, in order. They are kept: who looks at one of these tensors again, or at what was made
// of it, begins there, so that a loop which looks at something in each step does each step once.
// In the same plan are computed, and kept, what live cells hold that nobody has looked at: the
// newest of them, up to a bound. An error of theirs is left to who looks at them.
// ValueError where a tensor depends on a placeholder.
std::vector<Array> look(const std::vector<Tensor>& tensors, const execute::Options& options = {});
// The same, but an error is left to who looks.
void try_look(const Tensor& tensor, const execute::Options& options = {});
// The same as look for a value of which nothing is remembered, but of what lives beside it.
Array look_once(const Tensor& tensor, const execute::Options& options = {});
// What live cells hold that nobody has looked at is computed, up to that bound.
void settle(const execute::Options& options = {});

}  // namespace composit::eager
