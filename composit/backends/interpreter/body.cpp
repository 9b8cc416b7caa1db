// Linearising scalar bodies: expanding calls without a kernel, choosing kernels, sharing registers.
#include "composit/backends/interpreter/body.h"

#include "composit/backends/interpreter/body_loop.h"
#include "composit/base/error.h"
#include "composit/ir/array.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

namespace composit::interpreter {

using ir::DType;
using ir::scalar::Bits;
using ir::scalar::Expr;
using ir::scalar::ExprNode;
using ir::scalar::Op;

namespace {

std::vector<DType> operand_dtypes(const Expr& expr) {
    std::vector<DType> dtypes;
    for (const Expr& operand : expr.operands()) dtypes.push_back(operand.dtype());
    return dtypes;
}

// The kernel that computes this expression from its operands; null when there is none.
VectorKernel kernel_of(const Expr& expr, const KernelSet& set) {
    const std::vector<DType> operands = operand_dtypes(expr);
    if (expr.op() != Op::call) return set.find(operation_symbol(expr.op(), operands, expr.dtype()));
    if (ir::scalar::revision_of(*expr.row()) != 0) return nullptr;  // the table's rows only
    const auto& specialisation = ir::scalar::specialise(expr.row(), operands);
    return specialisation.is_one_operation ? nullptr : set.find(specialisation.symbol);
}

// Calls without a kernel of their own become their bodies, until none is left.
std::vector<Expr> expand_calls(std::vector<Expr> results, const KernelSet& set) {
    for (bool changed = true; changed;) {
        changed = false;
        std::unordered_map<const ExprNode*, Expr> expanded;
        for (const Expr& expr : ir::scalar::topological_order(results)) {
            std::vector<Expr> operands;
            bool moved = false;
            for (const Expr& operand : expr.operands()) {
                operands.push_back(expanded.at(operand.id()));
                moved |= !(operands.back() == operand);
            }
            Expr out = expr;
            if (expr.op() == Op::call && kernel_of(expr, set) == nullptr) {
                const auto& specialisation =
                    ir::scalar::specialise(expr.row(), operand_dtypes(expr));
                if (ir::is_complex(expr.dtype()))  // its definition may be itself
                    fail<NotSupported>("interpreter: there is no kernel for ", expr.row()->name,
                                       " giving ", expr.dtype());
                out = ir::scalar::substitute({specialisation.body}, operands)[0];
                changed = true;
            } else if (moved) {
                out = expr.with_operands(std::move(operands));
            }
            expanded.emplace(expr.id(), out);
        }
        for (Expr& result : results) result = expanded.at(result.id());
    }
    return results;
}

std::shared_ptr<char> allocate(int64_t bytes) {
    return std::static_pointer_cast<char>(ir::allocate_aligned(bytes));
}

std::shared_ptr<char> filled_chunk(DType dtype, const Bits& bits) {
    const int64_t size = ir::size_of(dtype);
    std::shared_ptr<char> chunk = allocate(chunk_elements * size);
    for (int64_t i = 0; i < chunk_elements; ++i)
        std::memcpy(chunk.get() + i * size, bits.data(), static_cast<size_t>(size));
    return chunk;
}

std::shared_ptr<char> packed_table(DType dtype, const std::vector<Bits>& table) {
    const int64_t size = ir::size_of(dtype);
    std::shared_ptr<char> packed =
        allocate(std::max<int64_t>(1, static_cast<int64_t>(table.size()) * size));
    char* to = packed.get();
    for (const Bits& bits : table) {
        std::memcpy(to, bits.data(), static_cast<size_t>(size));
        to += size;
    }
    return packed;
}

}  // namespace

// Walks the expressions in order and emits instructions, giving registers back after their last
// reader.
class BodyBuilder {
  public:
    BodyBuilder(Body& body, const std::vector<Expr>& values, const KernelSet& set,
                const std::vector<bool>& is_uniform)
        : body_(body), set_(set), values_(values), order_(ir::scalar::topological_order(values)) {
        for (size_t k = 0; k < is_uniform.size(); ++k)
            if (is_uniform[k]) uniform_slots_.insert(static_cast<int>(k));
        next_slot_ = static_cast<int>(body.input_count_ + body.result_count_);
        for (const Expr& expr : order_)
            for (const Expr& operand : expr.operands()) ++readers_[operand.id()];
    }

    void build() {
        for (const Expr& expr : order_) place(expr);
        for (size_t j = 0; j < values_.size(); ++j) copy_result(j);
        body_.slot_count_ = static_cast<size_t>(next_slot_);
    }

  private:
    void place(const Expr& expr) {
        body_.register_bytes_ = std::max<int64_t>(body_.register_bytes_, ir::size_of(expr.dtype()));
        if (expr.op() == Op::argument) {
            internal_check(static_cast<size_t>(expr.index()) < body_.input_count_,
                           "a body reads argument ", expr.index(), " of ", body_.input_count_);
            slots_[expr.id()] = expr.index();
        } else if (expr.op() == Op::constant) {
            slots_[expr.id()] = fix(filled_chunk(expr.dtype(), expr.bits()));
        } else if (expr.op() == Op::loop) {
            emit_loop(expr);
        } else {
            emit(expr);
        }
    }

    // One instruction for all values of a run.
    void emit_loop(const Expr& expr) {
        if (slots_.count(expr.id()) == 0) {
            std::vector<int> initial;
            for (const Expr& operand : expr.operands())
                initial.push_back(read(slots_.at(operand.id())));
            std::vector<std::pair<int, int>> results;
            const auto run = ir::scalar::run_of(expr);
            for (const Expr& other : order_) {
                if (other.op() != Op::loop || ir::scalar::run_of(other) != run) continue;
                slots_[other.id()] = result_slot_of(other);
                body_.register_bytes_ =
                    std::max<int64_t>(body_.register_bytes_, ir::size_of(other.dtype()));
                results.emplace_back(other.index(), slots_[other.id()]);
            }
            Body::Instruction instruction;
            body_.loops_.push_back(
                std::make_shared<const BodyLoop>(*expr.loop(), initial, std::move(results), set_));
            instruction.loop = body_.loops_.back().get();
            body_.instructions_.push_back(instruction);
        }
        for (const Expr& operand : expr.operands()) release(operand);
    }

    int fix(std::shared_ptr<char> memory) {
        body_.fixed_.emplace_back(next_slot_, std::move(memory));
        return next_slot_++;
    }

    void emit(const Expr& expr) {
        Body::Instruction instruction;
        instruction.kernel = kernel_of(expr, set_);
        user_check<NotSupported>(instruction.kernel != nullptr,
                                 "interpreter: there is no kernel for ",
                                 ir::scalar::name(expr.op()), " on ", join(operand_dtypes(expr)),
                                 " giving ", expr.dtype(), ". Cast to a supported dtype first.");
        for (size_t i = 0; i < expr.operands().size(); ++i)
            instruction.operands[i] = read(slots_.at(expr.operand(static_cast<int>(i)).id()));
        if (expr.op() == Op::lookup)
            instruction.operands[1] = fix(packed_table(expr.dtype(), *expr.table()));
        const bool is_uniform = is_made_of_uniform(expr);
        instruction.result = is_uniform ? kept_register() : result_slot_of(expr);
        slots_[expr.id()] = instruction.result;
        (is_uniform ? body_.uniform_ : body_.instructions_).push_back(instruction);
        for (const Expr& operand : expr.operands()) release(operand);
    }

    // No result, which each chunk has to be given.
    bool is_made_of_uniform(const Expr& expr) const {
        if (uniform_slots_.empty() ||
            std::find(values_.begin(), values_.end(), expr) != values_.end())
            return false;
        return std::all_of(expr.operands().begin(), expr.operands().end(),
                           [&](const Expr& operand) {
                               return operand.op() == Op::constant ||
                                      uniform_slots_.contains(slots_.at(operand.id()));
                           });
    }

    int kept_register() {
        body_.registers_.push_back(next_slot_);
        uniform_slots_.insert(next_slot_);
        return next_slot_++;
    }

    int read(int slot) {
        if (static_cast<size_t>(slot) < body_.input_count_)
            body_.last_read_[static_cast<size_t>(slot)] =
                static_cast<int>(body_.instructions_.size());
        return slot;
    }

    // Results are computed in their own slots; what else is needed, in registers.
    int result_slot_of(const Expr& expr) {
        for (size_t j = 0; j < values_.size(); ++j) {
            if (!(values_[j] == expr)) continue;
            body_.written_[j] = static_cast<int>(body_.instructions_.size());
            return static_cast<int>(body_.result_slot(j));
        }
        if (free_.empty()) {
            body_.registers_.push_back(next_slot_);
            free_.push_back(next_slot_++);
        }
        const int slot = free_.back();
        free_.pop_back();
        owned_[expr.id()] = slot;
        return slot;
    }

    void release(const Expr& operand) {
        if (--readers_.at(operand.id()) > 0) return;
        const auto owned = owned_.find(operand.id());
        if (owned != owned_.end()) free_.push_back(owned->second);
    }

    // For results that are inputs, constants, or the same as another result.
    void copy_result(size_t j) {
        const int from = slots_.at(values_[j].id()), to = static_cast<int>(body_.result_slot(j));
        if (from == to) return;
        Body::Instruction copy;
        copy.copy = set_.copy[size_class(values_[j].dtype())];
        copy.operands[0] = read(from);
        copy.result = to;
        body_.written_[j] = static_cast<int>(body_.instructions_.size());
        body_.instructions_.push_back(copy);
    }

    Body& body_;
    const KernelSet& set_;
    const std::vector<Expr>& values_;
    std::vector<Expr> order_;
    std::unordered_map<const ExprNode*, int> slots_, readers_, owned_;
    std::vector<int> free_;
    std::set<int> uniform_slots_;
    int next_slot_ = 0;
};

Body::Body(const std::vector<Expr>& values, size_t input_count, const KernelSet& set,
           const std::vector<bool>& is_uniform)
    : input_count_(input_count),
      result_count_(values.size()),
      last_read_(input_count, -1),
      written_(values.size(), -1) {
    const std::vector<Expr> expanded = expand_calls(values, set);
    is_identity_ =
        expanded.size() == 1 && expanded[0].op() == Op::argument && expanded[0].index() == 0;
    BodyBuilder(*this, expanded, set, is_uniform).build();
    // Registers that start at different cache lines do not fight for the same places in the cache.
    register_bytes_ = register_bytes_ * chunk_elements + 192;
}

int64_t Body::scratch_bytes() const {
    return static_cast<int64_t>(registers_.size()) * register_bytes_;
}

void Body::bind(char** slots, char* scratch) const {
    for (const auto& [slot, memory] : fixed_) slots[slot] = memory.get();
    for (const int slot : registers_) {
        slots[slot] = scratch;
        scratch += register_bytes_;
    }
}

void Body::run_uniform_part(char** slots, int64_t n) const { run(uniform_, slots, n); }
void Body::run(char** slots, int64_t n) const { run(instructions_, slots, n); }

void Body::run(const std::vector<Instruction>& instructions, char** slots, int64_t n) {
    for (const Instruction& i : instructions) {
        if (i.loop != nullptr)
            i.loop->run(slots, n);
        else if (i.kernel != nullptr)
            i.kernel(slots[i.operands[0]], slots[i.operands[1]], slots[i.operands[2]],
                     slots[i.result], n);
        else
            i.copy(slots[i.operands[0]], {n, 1}, slots[i.result], {n, 1}, 1, n);
    }
}

}  // namespace composit::interpreter
