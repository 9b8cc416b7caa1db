// Rows of the table applied to known arrays by kernels that are kept, one for each row, and each
// dtypes and shapes of its operands.
#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/eager/function_at_once.h"
#include "composit/eager/loops.h"
#include "composit/eager/small.h"
#include "composit/eager/small_arrays.h"
#include "composit/ir/scalar/values.h"
#include "composit/ops/components.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::eager {
namespace {

// As many as of functions (python/bindings/calls_at_once.cpp), and for the same reason.
std::atomic<uint32_t> operations_before{16};
constexpr size_t most_kernels = 512;
constexpr size_t most_operands = 2, most_words = 32;

struct Kernel {
    std::vector<uint64_t> words;
    uint64_t calls = 0;
    bool is_refused = false;
    bool divides_integers = false;  // which raises no flags
    std::shared_ptr<const FunctionAtOnce> function;
};

// What the kernel is given: in row-major order, and of the dtype that it is computed with.
struct Given {
    const Ref<Deferred>* now = nullptr;
    ir::DType dtype = ir::DType::float64;
    const ir::Shape* shape = nullptr;  // null: a number
    const void* memory = nullptr;
    uint64_t bits = 0;
    Array copy = {};
};

class Operation {
  public:
    explicit Operation(const ir::scalar::RowRef& row) : row_(row) {}

    // False where one has too many elements, lies on a device, or its axes follow each other in
    // another order than that of results.
    bool read(const std::vector<SmallOperand>& operands) {
        if (operands.size() > most_operands) return false;
        for (const SmallOperand& operand : operands)
            if (!(operand.cell ? add_array(*operand.cell) : add_number(operand.number)))
                return false;
        for (size_t i = 0; i < count_; ++i)
            if (!given_[i].shape && given_[i].now && (*given_[i].now)->is_weak() &&
                !fit(given_[i], given_[count_ - 1 - i].dtype))
                return false;
        return write_words();
    }

    // Null until it was met a few times in a row with known operands. Under the caller's lock.
    const Kernel* kernel() const {
        static auto& known = *new std::unordered_map<uint64_t, std::shared_ptr<Kernel>>;
        uint64_t hash = word_count_;
        for (const uint64_t word : words()) hash = hash_combine(hash, word);
        auto found = known.find(hash);
        if (found == known.end()) {
            if (known.size() == most_kernels)  // what was met often stays
                std::erase_if(known, [](const auto& each) { return !each.second->function; });
            if (known.size() == most_kernels) known.clear();
            found = known.emplace(hash, std::make_shared<Kernel>()).first;
            found->second->words.assign(words().begin(), words().end());
        }
        Kernel& kernel = *found->second;
        if (!std::ranges::equal(words(), kernel.words)) return nullptr;
        // A loop that mostly computes with what nobody has looked at is to stay one graph: half of
        // it at once would cut each step in two, and its plans in as many as there are cuts.
        if (!is_known_) kernel.calls = 0;
        if (!is_known_ || kernel.is_refused || ++kernel.calls <= operations_before) return nullptr;
        if (!kernel.function) compile(kernel);
        return kernel.function ? &kernel : nullptr;
    }

    std::optional<SmallArray> applied_by(const Kernel& kernel) const {
        if (kernel.divides_integers && !divides_by_number()) return {};
        std::array<const void*, most_operands> memory{};
        for (size_t i = 0; i < count_; ++i)
            memory[i] = given_[i].shape ? given_[i].memory : &given_[i].bits;
        const ir::ErrorHandling* const handling = ir::current_error_handling();
        std::optional<Array> values = kernel.function->values(
            std::span(memory).first(count_), handling ? handling->reported() : uint8_t{0});
        if (!values) return {};
        ir::ConstantArray known(std::move(*values));
        Ref<Deferred> now = Deferred::applied_to_arrays(
            row_, *given_[0].now, count_ > 1 ? *given_[1].now : Ref<Deferred>(), known, true);
        if (!now) return {};
        return SmallArray{std::move(now), std::move(known)};
    }

  private:
    std::span<const uint64_t> words() const { return std::span(words_).first(word_count_); }

    bool add_number(const Ref<Deferred>& number) {
        if (!number || !number->has_number() || number->device() > ir::on_cpu) return false;
        Given& given = given_[count_++];
        given.now = &number;
        given.dtype = number->dtype();
        given.bits = number->bits();
        return true;
    }

    bool add_array(const Cell& cell) {
        const ir::TensorType& type = cell.type();
        if (ir::element_count(type.shape) > most_elements_by_kernel || type.weak) return false;
        if (!can_be_deferred(type.dtype) || !cell.lies_on_host()) return false;
        if (type.shape.size() > 1 && !cell.is_row_major()) return false;
        Given& given = given_[count_++];
        given.dtype = type.dtype;
        given.shape = &type.shape;
        const std::optional<Cell::Seen> seen = cell.seen();
        if (!seen) {
            is_known_ = false;
            return true;
        }
        given.now = seen->now;
        if (is_row_major(type.shape, seen->where->strides)) {
            given.memory =
                seen->memory + seen->where->offset * static_cast<int64_t>(ir::size_of(type.dtype));
        } else {
            given.copy = elements_at(seen->memory, *seen->where, type.dtype, type.shape);
            given.memory = given.copy.data();
        }
        return true;
    }

    // One of Python's numbers as it is beside the other operand; false where it may not fit.
    static bool fit(Given& number, ir::DType beside) {
        const ir::DType from = number.dtype, to = ops::strengthened(from, beside);
        const bool may_not_fit = ir::is_integer(to) && to != ir::DType::int64;
        if (may_not_fit || !can_be_deferred(to)) return false;
        const uint64_t before = number.bits;
        number.bits = ir::scalar::cast_bits(from, to, ir::scalar::Bits{before, 0})[0];
        number.dtype = to;
        if (from != ir::DType::float64 || to != ir::DType::float32) return true;
        const auto wide = std::bit_cast<double>(before);
        const auto narrow = std::bit_cast<float>(static_cast<uint32_t>(number.bits));
        return !std::isfinite(wide) || wide == 0 || std::isnormal(narrow);
    }

    bool write_words() {
        const auto word = [&](uint64_t value) {
            if (word_count_ == most_words) return false;
            words_[word_count_++] = value;
            return true;
        };
        if (!word(reinterpret_cast<uintptr_t>(row_.get()))) return false;
        for (const Given& given : std::span(given_).first(count_)) {
            const size_t rank = given.shape ? given.shape->size() + 1 : 0;
            if (!word(static_cast<uint64_t>(given.dtype) << 32 | rank)) return false;
            if (given.shape)
                for (const int64_t length : *given.shape)
                    if (!word(static_cast<uint64_t>(length))) return false;
        }
        return true;
    }

    void compile(Kernel& kernel) const {
        kernel.is_refused = true;
        if (!row_->signals.warning.empty()) return;
        std::vector<Tensor> inputs;
        for (const Given& given : std::span(given_).first(count_))
            inputs.push_back(ir::input("x" + std::to_string(inputs.size()), given.dtype,
                                       given.shape ? *given.shape : ir::Shape()));
        try {
            const Tensor result = ops::map(row_, inputs);
            if (!can_be_deferred(result.dtype()) || result.size() > most_elements_by_kernel) return;
            const ir::DType dtype = ops::map_signature(result.node()).operands[0];
            kernel.divides_integers = !row_->signals.poles.empty() && !ir::is_inexact(dtype);
            kernel.function = FunctionAtOnce::make(std::move(inputs), result);
            kernel.is_refused = !kernel.function;
        } catch (const Error&) {  // whoever makes the node says what is wrong
        }
    }

    // Integers are divided by a number that no integer of their dtype is an error with.
    bool divides_by_number() const {
        const Given& divisor = given_[count_ - 1];
        if (divisor.shape || count_ != 2) return false;
        const uint64_t bits = ir::scalar::cast_bits(divisor.dtype, ir::DType::int64,
                                                    ir::scalar::Bits{divisor.bits, 0})[0];
        return bits != 0 && bits != ~uint64_t{0};
    }

    const ir::scalar::RowRef& row_;
    std::array<Given, most_operands> given_;
    size_t count_ = 0;
    std::array<uint64_t, most_words> words_;
    size_t word_count_ = 0;
    bool is_known_ = true;
};

}  // namespace

uint32_t set_operations_before_kernel(uint32_t count) { return operations_before.exchange(count); }

std::optional<SmallArray> applied_by_kernel(const ir::scalar::RowRef& row,
                                            const std::vector<SmallOperand>& operands) {
    Operation operation(row);
    if (!operation.read(operands)) return {};
    static auto& mutex = *new std::mutex;
    const std::lock_guard lock(mutex);
    const Kernel* const kernel = operation.kernel();
    return kernel ? operation.applied_by(*kernel) : std::nullopt;
}

}  // namespace composit::eager
