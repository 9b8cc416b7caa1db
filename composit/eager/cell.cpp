// Cells and their views.
#include "composit/eager/cell.h"

#include "composit/base/error.h"
#include "composit/eager/compacting.h"
#include "composit/eager/overwriting.h"
#include "composit/eager/pending.h"
#include "composit/eager/versions.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ir/tracing.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace composit::eager {
namespace {

// `base` with `value` where `places`, numbers of its elements, say.
Tensor written_at(const Tensor& base, const Tensor& places, const Tensor& value) {
    if (base.rank() == 1) return ops::scatter(base, {places}, {0}, value, false);
    const Tensor line = ops::reshape(base, {base.size()});
    return ops::reshape(ops::scatter(line, {places}, {0}, value, false), base.shape());
}

// Where an output of a split begins, in its operand.
std::vector<int64_t> starts_of_part(const Tensor& part) {
    const ir::Attributes& attributes = part.node().attributes();
    const auto axis = static_cast<size_t>(attributes.get<int64_t>("axis"));
    const auto& lengths = attributes.get<std::vector<int64_t>>("lengths");
    std::vector<int64_t> starts(part.shape().size(), 0);
    for (int i = 0; i < part.output_index(); ++i) starts[axis] += lengths[static_cast<size_t>(i)];
    return starts;
}

// What a view is made of, with `value` in place of what the view shows.
Tensor written_below(const Tensor& view, const Tensor& value) {
    using List = std::vector<int64_t>;
    const ir::Node& node = view.node();
    const Tensor& below = node.operand(0);
    const std::string_view name = node.operation().name;
    const auto list = [&](std::string_view of) { return node.attributes().get<List>(of); };
    if (name == "reshape") return ops::reshape(value, below.shape());
    if (name == "slice") return ops::with_slice(below, list("starts"), list("steps"), value);
    if (name == "element") return ops::with_element(below, list("position"), value);
    if (name == "split")
        return ops::with_slice(below, starts_of_part(view), List(value.shape().size(), 1), value);
    user_check(name != "broadcast_to", "assignment destination is read-only");
    internal_check(name == "transpose", "no path of a view goes through ", name);
    const List axes = list("axes");
    List inverse(axes.size());
    for (size_t d = 0; d < axes.size(); ++d)
        inverse[static_cast<size_t>(axes[d])] = static_cast<int64_t>(d);
    return ops::transpose(value, inverse);
}

// Writing `value` where the path from `base` to `view` looks.
Tensor write_through(const Tensor& base, const Tensor& view, const Tensor& value) {
    Tensor written = value;
    for (const Tensor* at = &view; !(*at == base); at = &at->node().operand(0))
        written = written_below(*at, written);
    return written;
}

}  // namespace

Tensor numbers_of(const ir::Shape& shape) {
    const Tensor line = ops::iota({ir::element_count(shape)}, 0);
    return shape.size() == 1 ? line : ops::reshape(line, shape);
}

Appearance shown_by(std::function<Tensor(const Tensor&)> seen) {
    return {std::move(seen), [](const Tensor&, const Tensor& written) { return written; }};
}

Appearance selection(std::function<Tensor(const Tensor&)> function) {
    return {std::move(function), nullptr, true};
}

Cell::Cell(Tensor tensor, Ref<Cell> root, Tensor base, std::optional<Region> region)
    : root_(std::move(root)), base_(std::move(base)), region_(std::move(region)) {
    if (root_)
        tensor_ = std::move(tensor);
    else
        pending().put(*this, std::move(tensor));
    pending().enter(*this);
}
Cell::Cell(Appearance appearance, Ref<Cell> source, std::optional<Region> region)
    : tensor_(appearance.seen(source->tensor())),
      base_(source->tensor()),
      source_(std::move(source)),
      appearance_(std::make_unique<Appearance>(std::move(appearance))),
      lies_in_source_(region.has_value()),
      region_(std::move(region)) {
    pending().enter(*this);
}
Cell::Cell(std::unique_ptr<Elements> elements, Ref<Cell> root, std::optional<Region> region)
    : elements_(std::move(elements)), root_(std::move(root)), region_(std::move(region)) {
    pending().enter(*this);
}
Cell::~Cell() { pending().remove(*this); }

Ref<Cell> Cell::make(Tensor tensor, std::optional<Strides> strides) {
    std::optional<Region> region;
    if (strides) region = Region{0, std::move(*strides)};
    return Ref<Cell>(new Cell(std::move(tensor), {}, {}, std::move(region)));
}

Ref<Cell> Cell::make_in_order_of(const Cell& other, Tensor tensor) {
    const ir::Shape& shape = other.type().shape;
    return make(std::move(tensor), elementwise_strides(shape, {{shape, other.strides()}}));
}

Ref<Cell> Cell::make_view(Tensor tensor, const Ref<Cell>& parent, std::optional<Region> region) {
    if (!region) region = region_through(parent->tensor(), parent->region(), tensor);
    if (!region) return {};
    const Ref<Cell>& root = parent->is_view() ? parent->root_ : parent;
    Tensor base = parent->is_view() ? parent->base_ : parent->tensor();
    return Ref<Cell>(new Cell(std::move(tensor), root, std::move(base), std::move(region)));
}

Ref<Cell> Cell::make_alias(const Ref<Cell>& source) {
    return make_alias(shown_by([](const Tensor& seen) { return seen; }), source);
}

Ref<Cell> Cell::make_alias(Appearance appearance, const Ref<Cell>& source) {
    appearance.is_alias = true;
    const Ref<Cell>* of = &source;
    while ((*of)->appearance_ && (*of)->appearance_->is_alias) of = &(*of)->source_;
    return make_appearance(std::move(appearance), *of, (*of)->region());
}

void Cell::show(Appearance appearance) const {
    appearance.is_alias = appearance_->is_alias;
    *appearance_ = std::move(appearance);
    base_ = source_->tensor();
    tensor_ = appearance_->seen(base_);
}

Tensor Cell::written_through(const Cell& target, Tensor value,
                             const std::function<Tensor(const Tensor&)>& stored) const {
    user_check(appearance_ != nullptr, "written_through: the cell is no alias. A cell that ",
               "make_alias made is required.");
    Tensor whole;
    Appearance writing = *appearance_;
    writing.source_after = [&](const Tensor&, const Tensor& written) {
        whole = written;
        return stored(written);
    };
    std::swap(*appearance_, writing);
    try {
        target.replace(std::move(value));
    } catch (...) {
        std::swap(*appearance_, writing);
        throw;
    }
    std::swap(*appearance_, writing);
    return whole;
}

const Region& Cell::region() const {
    if (!region_) region_ = Region{0, ir::row_major_strides(type().shape)};
    return *region_;
}

Ref<Cell> Cell::make_appearance(Appearance appearance, const Ref<Cell>& source,
                                std::optional<Region> region) {
    return Ref<Cell>(new Cell(std::move(appearance), source, std::move(region)));
}

ir::DeviceNumber Cell::device() const {
    const Cell* cell = this;
    while (const Cell* origin = cell->origin()) cell = origin;
    return (cell->tensor_ ? cell->tensor_ : cell->tensor()).node().device();
}

bool Cell::lies_on_host() const {
    const Cell* cell = this;
    while (const Cell* origin = cell->origin()) cell = origin;
    return !cell->tensor_ || cell->tensor_.node().device() <= ir::on_cpu;
}

const Tensor& Cell::tensor() const {
    if (!origin()) {
        if (is_written()) [[unlikely]]
            make_written();
        return tensor_;
    }
    const Tensor& now = origin()->tensor();
    if (now == base_) return tensor_;
    // One node for what it shows, whoever asked first: elements were told to be parts of it.
    if (elements_ && elements_->seen && elements_->seen->tensor() == now) {
        tensor_ = elements_->now->tensor();
        base_ = now;
        return tensor_;
    }
    if (!tensor_) {
        tensor_ = elements_->path->shown_of(now);
        base_ = now;
        return tensor_;
    }
    elements_.reset();
    tensor_ = root_ ? ir::substitute({tensor_}, {base_}, {now})[0] : appearance_->seen(now);
    base_ = now;
    return tensor_;
}

void Cell::check_trace(const Tensor& tensor) const {
    const uint64_t begin = ir::TraceScope::begin();
    if (begin == 0 || born_ >= begin || !tensor.node().is_open()) return;
    const ir::Node& held = this->tensor().node();
    const std::string name = held.name().empty() ? "" : " '" + held.name() + "'";
    const std::string line = held.location().empty() ? "" : ", made at " + held.location();
    fail<ValueError>(
        "a value of a function that is traced is written into an array", name,
        " from outside of it", line,
        ". It has no elements yet: return it, or write into an array that the function "
        "makes.");
}

void Cell::replace(Tensor tensor) const {
    if (!origin()) {
        check_trace(tensor);
        Versions::note(*this);
        pending().put(*this, std::move(tensor));
        return;
    }
    const Tensor& view = this->tensor();
    const Cell& from = selected_from();
    if (&from != root() || (root_ && is_part_of_repeated()))
        return from.replace(written_at(from.tensor(), numbers_in(from), tensor));
    if (!root_) return source_->replace(appearance_->source_after(base_, tensor));
    Tensor after = write_through(base_, view, tensor);
    // Values are row-major, however NumPy's array lies in memory.
    const auto where = region_through(base_, {0, ir::row_major_strides(base_.shape())}, view);
    if (!where || !write_region(*root_, *where, tensor, after)) root_->replace(std::move(after));
}

bool Cell::is_part_of_repeated() const {
    bool is_repeated = false;
    for (const Tensor* at = &tensor_; !(*at == base_) && !is_repeated; at = &at->node().operand(0))
        is_repeated = at->node().operation().name == "broadcast_to";
    if (!is_repeated) return false;
    const ir::Shape& shape = type().shape;
    for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] > 1 && strides()[d] == 0) return false;
    return true;
}

const Cell* Cell::memory() const {
    const Cell* at = this;
    while (at->origin()) at = at->origin();
    return at;
}

const Cell* Cell::leaf_below() const {
    const Cell* at = this;
    while (!at->is_leaf() && at->origin()) at = at->origin();
    return at;
}

const Cell* Cell::laid_in() const {
    const Cell* at = root();
    while (at->lies_in_source_) at = at->source_->root();
    return at;
}

void Cell::replace_at(const Tensor& numbers, const Tensor& value) const {
    const Cell& from = selected_from();
    Tensor places = numbers;
    if (&from != this) {
        const Tensor all = numbers_in(from);
        places = ops::gather(ops::reshape(all, {all.size()}), {numbers}, {0});
    }
    from.replace(written_at(from.tensor(), places, value));
}

const Cell& Cell::selected_from() const {
    const Cell* at = root();
    while (at->appearance_ && at->appearance_->is_selection) at = at->source_->root();
    return *at;
}

Tensor Cell::numbers_in(const Cell& from) const {
    if (this == &from) return numbers_of(type().shape);
    const Tensor& now = tensor();
    if (root_) return ir::substitute({now}, {base_}, {root_->numbers_in(from)})[0];
    return appearance_->seen(source_->numbers_in(from));
}

bool Cell::sees_selection() const {
    for (const Cell* at = this; at; at = at->origin())
        if (at->appearance_ && at->appearance_->is_selection) return true;
    return false;
}

void Cell::follow(const Compacting& compacting) const {
    Tensor now = compacting.moved(tensor_);
    if (root_) {
        // Its path, not a value that it happens to have: other values will be seen through it.
        const Tensor base = compacting.moved(base_);
        if (!(base == base_)) tensor_ = ir::substitute({tensor_}, {base_}, {base})[0];
        base_ = base;
    } else if (origin()) {
        tensor_ = std::move(now);
        base_ = compacting.moved(base_);
    } else if (!(now == tensor_)) {
        pending().put(*this, std::move(now));
    }
}

void Cell::each_held(const std::function<void(const Tensor&)>& use) const {
    use(tensor_);
    if (base_) use(base_);
}

Tensor Cell::places() const { return numbers_in(*root()); }

bool is_layout(const ir::Node& node) {
    static const auto operations = [] {
        ops::register_operations();
        return std::array<const ir::Operation*, 6>{
            ir::find_operation("slice"),        ir::find_operation("transpose"),
            ir::find_operation("reshape"),      ir::find_operation("split"),
            ir::find_operation("broadcast_to"), ir::find_operation("element")};
    }();
    return std::find(operations.begin(), operations.end(), &node.operation()) != operations.end();
}

bool is_layout_path(const Tensor& from, const Tensor& to) {
    const Tensor* at = &to;
    while (!(*at == from)) {
        if (!is_layout(at->node())) return false;
        at = &at->node().operand(0);
    }
    return true;
}

}  // namespace composit::eager
