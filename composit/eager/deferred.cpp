#include "composit/eager/deferred.h"

#include "composit/eager/function_at_once.h"
#include "composit/eager/small.h"
#include "composit/eager/strides.h"
#include "composit/ir/body.h"
#include "composit/ir/living.h"
#include "composit/ir/scalar/values.h"
#include "composit/ir/stamp.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <utility>

namespace composit::eager {
namespace {

std::mutex& making() {
    static auto& mutex = *new std::mutex;
    return mutex;
}

std::atomic<void (*)(const Deferred&)> tell_owner{nullptr};

constexpr int64_t most_bytes_of_calls_at_once = int64_t{32} << 20;
std::atomic<int64_t> bytes_of_calls_at_once{0};

Tensor tensor_of_literal(DType dtype, uint64_t bits) {
    if (dtype == DType::boolean) return ir::weak_scalar(bits != 0);
    if (dtype == DType::int64) return ir::weak_scalar(std::bit_cast<int64_t>(bits));
    return ir::weak_scalar(std::bit_cast<double>(bits));
}

}  // namespace

bool can_be_deferred(DType dtype) {
    return dtype == DType::boolean || ir::is_integer(dtype) || dtype == DType::float32 ||
           dtype == DType::float64;
}

Deferred::Deferred(Kind kind, DType dtype)
    : kind_(kind), dtype_(dtype), number_(kind == Kind::literal ? 0 : ir::next_time()) {
    const ir::Stamp& stamp = ir::current_stamp();
    line_ = stamp.location;
    error_handling_ = stamp.error_handling;
    reported_as_ = stamp.reported_as;
}

void Deferred::release(const Deferred* deferred) {
    // Those that wait to be deleted are linked by their numbers, which nobody asks for any more.
    thread_local const Deferred* waiting = nullptr;
    thread_local bool is_releasing = false;
    const auto add = [](const Deferred* dead) {
        dead->number_ = reinterpret_cast<uintptr_t>(waiting);
        waiting = dead;
    };
    add(deferred);
    if (is_releasing) return;
    is_releasing = true;
    uint64_t gone = 0;
    while (waiting) {
        const Deferred* const dead = waiting;
        waiting = reinterpret_cast<const Deferred*>(static_cast<uintptr_t>(dead->number_));
        for (Ref<Deferred>* operand : {&dead->first_, &dead->second_}) {
            const Deferred* const behind = operand->detach();
            if (behind && behind->drop()) add(behind);
        }
        // Numbers of Python's are not counted as nodes, unless they become some.
        gone += dead->is_counted() ? 1 : 0;
        delete dead;
    }
    ir::nodes_gone().fetch_add(gone, std::memory_order_relaxed);
    is_releasing = false;
}

Ref<Deferred> Deferred::of(Tensor tensor) {
    const ir::TensorType& type = tensor.type();
    auto* const made = new Deferred(Kind::tensor, type.dtype);
    Ref<Deferred> result(made);
    made->is_weak_ = type.weak;
    made->has_number_ = false;
    if (type.shape.empty() && can_be_deferred(type.dtype))
        if (const std::optional<Number> number = small_number(tensor)) {
            made->bits_ = number->bits[0];
            made->has_number_ = true;
        }
    made->device_ = tensor.node().device();
    made->tensor_ = std::move(tensor);
    made->is_made_.store(true, std::memory_order_release);
    return result;
}

bool Deferred::goes_with(const Deferred& other) const {
    return device_ == ir::anywhere || other.device_ == ir::anywhere || device_ == other.device_;
}

void Deferred::lie_with(const Ref<Deferred>& operand) {
    if (operand && device_ == ir::anywhere) device_ = operand->device_;
}

Ref<Deferred> Deferred::literal(const Scalar& value) {
    auto* const made = new Deferred(Kind::literal, value.dtype);
    made->is_weak_ = value.is_weak;
    made->bits_ = value.bits;
    return Ref<Deferred>(made);
}
Ref<Deferred> Deferred::literal(double value) {
    return literal(Scalar{DType::float64, true, std::bit_cast<uint64_t>(value)});
}
Ref<Deferred> Deferred::literal(int64_t value) {
    return literal(Scalar{DType::int64, true, static_cast<uint64_t>(value)});
}
Ref<Deferred> Deferred::literal(bool value) {
    return literal(Scalar{DType::boolean, true, value ? uint64_t{1} : uint64_t{0}});
}

Ref<Deferred> Deferred::scalar(DType dtype, uint64_t bits) {
    return literal(Scalar{dtype, false, bits});
}

Ref<Deferred> Deferred::element(Ref<Deferred> array, DType dtype, int64_t place,
                                const void* bytes) {
    auto* const made = new Deferred(Kind::element, dtype);
    made->lie_with(array);
    made->first_ = std::move(array);
    made->place_ = place;
    std::memcpy(&made->bits_, bytes, static_cast<size_t>(ir::size_of(dtype)));
    return Ref<Deferred>(made);
}

Ref<Deferred> Deferred::path(const Tensor& base, const Tensor& view) {
    const Ref<Deferred> made = of(view);
    made->first_ = of(base);
    return made;
}

Ref<Deferred> Deferred::path(BasicPart part, Ref<Deferred> before, DType dtype) {
    auto* const made = new Deferred(Kind::part, dtype);
    made->has_number_ = false;
    made->extra_.reset(new Extra{std::move(part), {}});
    made->first_ = std::move(before);
    return Ref<Deferred>(made);
}

Tensor Deferred::shown_of(const Tensor& array) const {
    if (!extra_) return ir::substitute({tensor_}, {first_->tensor_}, {array})[0];
    return extra_->part.of(first_ ? first_->shown_of(array) : array);
}

Ref<Deferred> Deferred::view(Ref<Deferred> array, Ref<Deferred> path) {
    auto* const made = new Deferred(Kind::view, path->dtype());
    made->has_number_ = false;
    made->lie_with(array);
    made->first_ = std::move(array);
    made->second_ = std::move(path);
    return Ref<Deferred>(made);
}

Ref<Deferred> Deferred::written(Ref<Deferred> array, int64_t place, Ref<Deferred> value,
                                const void* before, uint32_t cell) {
    auto* const made = new Deferred(Kind::written, value->dtype());
    std::memcpy(&made->bits_, before, static_cast<size_t>(ir::size_of(made->dtype_)));
    made->has_number_ = false;
    made->lie_with(array);
    made->lie_with(value);
    made->first_ = std::move(array);
    made->second_ = std::move(value);
    made->place_ = place;
    made->cell_ = cell;
    return Ref<Deferred>(made);
}

Deferred* Deferred::of_row(const ir::scalar::RowRef& row, std::span<const Scalar> operands) {
    const ir::ErrorHandling* const handling = ir::current_stamp().error_handling;
    const std::optional<Scalar> result =
        computed(row, operands, handling ? handling->reported() : 0);
    if (!result || !can_be_deferred(result->dtype)) return nullptr;
    auto* const made = new Deferred(Kind::row, result->dtype);
    made->row_ = &row;
    made->bits_ = result->bits;
    return made;
}

Ref<Deferred> Deferred::applied(const ir::scalar::RowRef& row, Ref<Deferred> a, Ref<Deferred> b) {
    if (b && !a->goes_with(*b)) return {};
    std::array<Scalar, 2> operands;
    size_t count = 0;
    for (const Ref<Deferred>* x : {&a, &b}) {
        if (!*x) continue;
        if (!(*x)->has_number_) return {};
        operands[count++] = {(*x)->dtype_, (*x)->is_weak_, (*x)->bits_};
    }
    Deferred* const made = of_row(row, std::span(operands).first(count));
    if (!made) return {};
    made->lie_with(a);
    made->lie_with(b);
    made->first_ = std::move(a);
    made->second_ = std::move(b);
    return Ref<Deferred>(made);
}

Ref<Deferred> Deferred::applied_to_literal(const ir::scalar::RowRef& row, Ref<Deferred> x,
                                           const Scalar& literal, bool literal_is_first) {
    if (!x->has_number_) return {};
    const Scalar number{x->dtype_, x->is_weak_, x->bits_};
    const std::array<Scalar, 2> operands{literal_is_first ? literal : number,
                                         literal_is_first ? number : literal};
    Deferred* const made = of_row(row, operands);
    if (!made) return {};
    made->lie_with(x);
    (literal_is_first ? made->second_ : made->first_) = std::move(x);
    made->literal_ = literal_is_first ? Literal::first : Literal::second;
    made->literal_dtype_ = literal.dtype;
    made->place_ = std::bit_cast<int64_t>(literal.bits);
    return Ref<Deferred>(made);
}

Ref<Deferred> Deferred::applied_to_arrays(const ir::scalar::RowRef& row, Ref<Deferred> a,
                                          Ref<Deferred> b, ir::ConstantArray value) {
    auto* const made = new Deferred(Kind::row, value.dtype());
    made->has_number_ = false;
    made->extra_.reset(new Extra{{}, std::move(value)});
    made->row_ = &row;
    made->lie_with(a);
    made->lie_with(b);
    made->first_ = std::move(a);
    made->second_ = std::move(b);
    return Ref<Deferred>(made);
}

// The last item holds the list of those before it.
Deferred* Deferred::list_of(Kind kind, std::vector<Ref<Deferred>> items, DType dtype) {
    Ref<Deferred> before;
    for (size_t i = 0;; ++i) {
        const bool is_last = i + 1 == items.size();
        auto* const made = new Deferred(is_last ? kind : Kind::part, dtype);
        made->has_number_ = false;
        made->lie_with(before);
        made->lie_with(items[i]);
        made->first_ = std::move(before);
        made->second_ = std::move(items[i]);
        if (is_last) return made;
        before = Ref<Deferred>(made);
    }
}

std::vector<Tensor> Deferred::items() const {
    std::vector<Tensor> found;
    for (const Deferred* at = this; at; at = at->first_.get())
        found.push_back(at->second_->tensor_);
    std::reverse(found.begin(), found.end());
    return found;
}

Ref<Deferred> Deferred::stacked(std::vector<Ref<Deferred>> numbers, ir::ConstantArray value) {
    const DType dtype = value.dtype();
    for (Ref<Deferred>& number : numbers) number = converted(number, dtype);
    Deferred* const made = list_of(Kind::stacked, std::move(numbers), dtype);
    made->extra_.reset(new Extra{{}, std::move(value)});
    return Ref<Deferred>(made);
}

Deferred::Extra::~Extra() { bytes_of_calls_at_once.fetch_sub(bytes, std::memory_order_relaxed); }

Ref<Deferred> Deferred::called(std::shared_ptr<const FunctionAtOnce> function,
                               std::vector<Ref<Deferred>> operands, ir::ConstantArray value) {
    const int64_t bytes = value.shape().empty() ? 0 : value.bytes();
    if (bytes_of_calls_at_once.load(std::memory_order_relaxed) + bytes >
        most_bytes_of_calls_at_once)
        return {};
    bytes_of_calls_at_once.fetch_add(bytes, std::memory_order_relaxed);
    Deferred* const made = list_of(Kind::call, std::move(operands), value.dtype());
    if (value.shape().empty()) {
        made->has_number_ = true;
        std::memcpy(&made->bits_, value.row_major().get(), static_cast<size_t>(value.bytes()));
        value = {};
    }
    made->extra_.reset(new Extra{{}, std::move(value), std::move(function), bytes});
    return Ref<Deferred>(made);
}

Ref<Deferred> Deferred::converted(const Ref<Deferred>& x, DType dtype) {
    if (x->dtype_ == dtype && !x->is_weak_) return x;
    auto* const made = new Deferred(Kind::cast, dtype);
    made->bits_ = ir::scalar::cast_bits(x->dtype_, dtype, {x->bits_, 0})[0];
    made->lie_with(x);
    made->first_ = x;
    return Ref<Deferred>(made);
}

const ir::TensorType& Deferred::type() const {
    static const auto& types = *[] {
        auto* const all = new std::array<ir::TensorType, 2 * ir::dtype_count>;
        for (size_t i = 0; i < ir::dtype_count; ++i)
            for (size_t weak : {0, 1})
                (*all)[2 * i + weak] = {{}, static_cast<DType>(i), weak == 1};
        return all;
    }();
    return types[2 * static_cast<size_t>(dtype_) + (is_weak_ ? 1 : 0)];
}

Tensor Deferred::made() const {
    switch (kind_) {
        case Kind::tensor:
        case Kind::part: break;  // nobody asks
        case Kind::literal:
            if (!is_weak_) {
                const ir::Array value(dtype_, {});
                std::memcpy(value.mutable_data(), &bits_, static_cast<size_t>(value.bytes()));
                return ir::constant(value);
            }
            return tensor_of_literal(dtype_, bits_);
        case Kind::element: {
            const Tensor& array = first_->tensor_;
            return ops::element(array, position_of(place_, array.shape()));
        }
        case Kind::view: return second_->shown_of(first_->tensor_);
        case Kind::written: {
            const Tensor& array = first_->tensor_;
            return ops::with_element(array, position_of(place_, array.shape()), second_->tensor_);
        }
        case Kind::row: {
            if (literal_ == Literal::none)
                return second_ ? ops::map(*row_, {first_->tensor_, second_->tensor_})
                               : ops::map(*row_, {first_->tensor_});
            const auto literal = [&] {
                const ir::NumberScope of_its_own(0);
                return tensor_of_literal(literal_dtype_, std::bit_cast<uint64_t>(place_));
            };
            return literal_ == Literal::first ? ops::map(*row_, {literal(), second_->tensor_})
                                              : ops::map(*row_, {first_->tensor_, literal()});
        }
        case Kind::cast: return ops::astype(first_->tensor_, dtype_);
        case Kind::stacked: {
            std::vector<Tensor> parts = items();
            for (Tensor& part : parts) part = ops::reshape(part, {1});
            return ops::concatenate(parts, 0);
        }
        case Kind::call: return extra_->function->made(items());
    }
    return tensor_;
}

void Deferred::keep_number_in(const ir::Node& node) const {
    if (node.output_count() == 1) return node.keep_number(&bits_);
    ir::Array value(dtype_, {});
    std::memcpy(value.mutable_data(), &bits_, static_cast<size_t>(value.bytes()));
    node.keep(tensor_.output_index(), std::move(value));
}

void Deferred::make() const {
    std::vector<Ref<const Deferred>> told;
    {
        const std::lock_guard lock(making());
        std::vector<const Deferred*> open{this};
        while (!open.empty()) {
            const Deferred& at = *open.back();
            bool is_ready = true;
            const auto need = [&](const Ref<Deferred>& operand) {
                if (!operand || operand->tensor_ || operand->kind_ == Kind::part) return;
                open.push_back(operand.get());
                is_ready = false;
            };
            if (!at.tensor_ && at.is_list()) {
                for (const Deferred* item = &at; item; item = item->first_.get())
                    need(item->second_);
            } else if (!at.tensor_) {
                need(at.first_);
                need(at.second_);
            }
            if (!is_ready) continue;
            open.pop_back();
            if (at.tensor_) continue;
            const ir::LocationScope scope(at.line_, at.error_handling_, at.reported_as_);
            const ir::NumberScope number(at.number_);
            at.tensor_ = at.made();
            const ir::Node& node = at.tensor_.node();
            if (at.cell_ != 0) node.set_place(at.cell_);
            const bool is_new = at.has_number_ && at.kind_ != Kind::literal;
            if (is_new && !node.operands().empty()) at.keep_number_in(node);
            if (at.keeps_value()) node.keep(at.tensor_.output_index(), at.extra_->value);
            at.is_made_.store(true, std::memory_order_release);
            if (at.owner_) told.push_back(Ref<const Deferred>(&at));
            at.first_ = {};
            at.second_ = {};
        }
    }
    if (const auto tell = tell_owner.load(std::memory_order_acquire))
        for (const Ref<const Deferred>& deferred : told) tell(*deferred);
}

void Deferred::set_place(uint32_t cell) const {
    const std::lock_guard lock(making());
    if (tensor_) return tensor_.node().set_place(cell);
    cell_ = cell_ == 0 || cell_ == cell ? cell : ir::Node::several_places;
}

void Deferred::become(Tensor tensor) const {
    Ref<Deferred> first, second;  // freed after the lock
    {
        const std::lock_guard lock(making());
        tensor_ = std::move(tensor);
        is_made_.store(true, std::memory_order_release);
        first = std::move(first_);
        second = std::move(second_);
    }
    const auto tell = tell_owner.load(std::memory_order_acquire);
    if (tell && owner_) tell(*this);
}

void Deferred::when_made(void (*tell)(const Deferred&)) {
    tell_owner.store(tell, std::memory_order_release);
}

void Deferred::follow(const std::function<Tensor(const Tensor&)>& moved) const {
    const std::lock_guard lock(making());
    if (tensor_) tensor_ = moved(tensor_);
}

}  // namespace composit::eager
