// Contract and ByteContract: the prelude's matrix products over parts of the output.
#include "composit/backends/interpreter/step.h"
#include "composit/base/error.h"

#include <cmath>
#include <optional>

namespace composit::interpreter {

namespace {

// The loops of one role (batch, rows, …) with the strides of the operands that they move.
struct Group {
    Nest nest;

    // At most three accesses; from[i] is where this group's strides begin in accesses[i].
    Group(const ir::kernel::Extents& extents,
          const std::vector<const ir::kernel::Access*>& accesses, const std::vector<size_t>& from) {
        nest.extents = extents;
        for (size_t i = 0; i < accesses.size(); ++i) {
            Operand operand(*accesses[i]);
            const auto begin = accesses[i]->strides.begin() + static_cast<std::ptrdiff_t>(from[i]);
            operand.strides.assign(begin, begin + static_cast<std::ptrdiff_t>(extents.size()));
            nest.operands.push_back(operand);
        }
        collapse(nest);
    }

    int64_t count() const { return nest.iterations(); }
    LoopNest loops() const { return {nest.rank(), nest.extents.data()}; }
    const int64_t* strides(size_t operand) const { return nest.operands[operand].strides.data(); }
    bool is_consecutive(size_t operand) const {
        return nest.rank() > 0 && nest.operands[operand].strides.back() == 1;
    }
};

// Each part packs its operands anew, so parts are large: a tenth of a second of float32.
constexpr double work_between_checks = 1 << 28;

class ContractStep : public Step {
  public:
    // `turned`: the kernel for rows and columns exchanged.
    ContractStep(const ir::kernel::Contract& c, const ContractKernel& kernel,
                 const ContractKernel& turned)
        : batch_(c.batch, {&c.left, &c.right, &c.output}, {0, 0, 0}),
          rows_(c.rows, {&c.left, &c.output}, {c.batch.size(), c.batch.size()}),
          columns_(c.columns, {&c.right, &c.output},
                   {c.batch.size() + c.depth.size(), c.batch.size() + c.rows.size()}),
          depth_(c.depth, {&c.left, &c.right}, {c.batch.size() + c.rows.size(), c.batch.size()}),
          left_(c.left),
          right_(c.right),
          output_(c.output),
          kernel_(&kernel) {
        // Columns fill vectors, so they should be many, and side by side in the output.
        const int64_t width = kernel_->tile_columns;
        const bool has_few_columns = columns_.count() < width && rows_.count() > columns_.count();
        const bool is_transposed =
            !columns_.is_consecutive(1) && rows_.is_consecutive(1) && rows_.count() >= width;
        left_is_packed_ = c.left_is_packed, right_is_packed_ = c.right_is_packed;
        is_swapped_ = (has_few_columns || is_transposed) && !left_is_packed_ && !right_is_packed_;
        if (is_swapped_) kernel_ = &turned;
    }

    void run(const Memory& memory, const runtime::Run& run) const override {
        const ContractArguments arguments = arguments_for(memory);
        const int64_t batch = batch_.count(), rows = wide_rows().count(),
                      columns = wide_columns().count();
        if (batch == 0 || rows == 0 || columns == 0) return;
        const double work = 0.03 * static_cast<double>(batch) * static_cast<double>(rows) *
                            static_cast<double>(columns) * static_cast<double>(depth_.count() + 1);
        if (batch >= run.threads) {
            split(
                run, batch, work,
                [&](int64_t begin, int64_t end) {
                    run_part(arguments, {begin, end, 0, rows, 0, columns});
                },
                work_between_checks);
            return;
        }
        // Whole tiles of the longer side for each thread.
        const bool by_rows = rows / kernel_->tile_rows >= columns / kernel_->tile_columns;
        const int64_t tile = by_rows ? kernel_->tile_rows : kernel_->tile_columns;
        const int64_t count = by_rows ? rows : columns;
        split(
            run, (count + tile - 1) / tile, work,
            [&](int64_t begin, int64_t end) {
                const int64_t first = begin * tile, last = std::min(count, end * tile);
                run_part(arguments, by_rows ? ContractRange{0, batch, first, last, 0, columns}
                                            : ContractRange{0, batch, 0, rows, first, last});
            },
            work_between_checks);
    }

  private:
    const Group& wide_rows() const { return is_swapped_ ? columns_ : rows_; }
    const Group& wide_columns() const { return is_swapped_ ? rows_ : columns_; }

    void run_part(const ContractArguments& arguments, const ContractRange& range) const {
        ScratchScope scratch;
        kernel_->run(arguments, range, scratch.take(kernel_->scratch_bytes));
    }

    static char* at(const Memory& memory, const Operand& operand) {
        return memory[static_cast<size_t>(operand.buffer)] + operand.offset * operand.size();
    }

    // With rows and columns exchanged when that suits the tile better; factors commute.
    ContractArguments arguments_for(const Memory& memory) const {
        ContractArguments a;
        const size_t left = is_swapped_ ? 1 : 0, right = is_swapped_ ? 0 : 1;
        a.left = at(memory, is_swapped_ ? right_ : left_);
        a.right = at(memory, is_swapped_ ? left_ : right_);
        a.output = at(memory, output_);
        a.batch = batch_.loops();
        a.rows = wide_rows().loops();
        a.columns = wide_columns().loops();
        a.depth = depth_.loops();
        a.left_batch = batch_.strides(left);
        a.left_rows = wide_rows().strides(0);
        a.left_depth = depth_.strides(left);
        a.right_batch = batch_.strides(right);
        a.right_depth = depth_.strides(right);
        a.right_columns = wide_columns().strides(0);
        a.output_batch = batch_.strides(2);
        a.output_rows = wide_rows().strides(1);
        a.output_columns = wide_columns().strides(1);
        a.left_is_packed = left_is_packed_, a.right_is_packed = right_is_packed_;
        return a;
    }

    Group batch_, rows_, columns_, depth_;
    Operand left_, right_, output_;
    const ContractKernel* kernel_;
    bool is_swapped_ = false, left_is_packed_ = false, right_is_packed_ = false;
};

// A product, and then what becomes of its sums, which are in place of the first result or in memory
// of their own.
class FinishedStep : public Step {
  public:
    FinishedStep(StepRef sums, ir::kernel::Map finish, std::optional<int64_t> bytes_of_sums,
                 const Program& program, const KernelSet& set)
        : sums_(std::move(sums)),
          map_(std::move(finish)),
          bytes_of_sums_(bytes_of_sums),
          finish_(make_step(map_, program, set)) {}

    void run(const Memory& memory, const runtime::Run& run) const override {
        if (!bytes_of_sums_) {
            sums_->run(memory, run);
            return finish_->run(memory, run);
        }
        ScratchScope scratch;
        Memory with_sums = memory;
        with_sums.push_back(scratch.take(*bytes_of_sums_));
        sums_->run(with_sums, run);
        finish_->run(with_sums, run);
    }

  private:
    StepRef sums_;
    const ir::kernel::Body map_;                  // what the step refers to
    const std::optional<int64_t> bytes_of_sums_;  // nothing: they are formed in place
    StepRef finish_;
};

class PackStep : public Step {
  public:
    PackStep(const ir::kernel::Pack& pack, const ContractKernel& kernel)
        : across_(pack.across, {&pack.from}, {0}),
          depth_(pack.depth, {&pack.from}, {pack.across.size()}),
          pack_(pack),
          kernel_(kernel) {}

    void run(const Memory& memory, const runtime::Run& run) const override {
        const PackArguments arguments{start_of(memory, pack_.from),
                                      start_of(memory, pack_.to),
                                      across_.loops(),
                                      depth_.loops(),
                                      across_.strides(0),
                                      depth_.strides(0),
                                      pack_.is_left};
        const int64_t count = across_.count(), together = kernel_.packed_together;
        const auto work = static_cast<double>(count) * static_cast<double>(depth_.count());
        split(run, (count + together - 1) / together, work, [&](int64_t begin, int64_t end) {
            kernel_.pack(arguments, begin * together, std::min(count, end * together));
        });
    }

  private:
    Group across_, depth_;
    const ir::kernel::Pack& pack_;
    const ContractKernel& kernel_;
};

// The executable packs constants, by runtime/packing.h; there is nothing to do later.
StepRef step_of(const Program&, const KernelSet& set, const ir::kernel::Pack& pack) {
    const ContractKernel* kernel = set.contract(pack.from.dtype);
    const bool has_panels =
        (pack.is_of_constant && pack.panel_width > 0) || (kernel && kernel->panel_width);
    user_check<NotSupported>(has_panels, "interpreter: operands of ", pack.from.dtype,
                             " cannot be packed");
    if (pack.is_of_constant) return nullptr;
    return std::make_unique<PackStep>(pack, *kernel);
}

StepRef step_of(const Program& program, const KernelSet& set,
                const ir::kernel::Contract& contract) {
    const ir::DType dtype = contract.output.dtype;
    const ContractKernel* kernel = set.contract(dtype);
    user_check<NotSupported>(kernel != nullptr,
                             "interpreter: there is no kernel for contractions of ", dtype,
                             ". Cast to a supported dtype first.");
    internal_check(contract.left.dtype == dtype && contract.right.dtype == dtype,
                   "a contraction of ", contract.left.dtype, " and ", contract.right.dtype,
                   " gives ", dtype);
    auto sums = std::make_unique<ContractStep>(contract, *kernel, *kernel);
    if (contract.finish.values.empty()) return sums;
    return std::make_unique<FinishedStep>(std::move(sums), ir::kernel::finishing_map(contract),
                                          std::nullopt, program, set);
}

StepRef step_of(const Program& program, const KernelSet& set, const ir::kernel::ByteContract& c) {
    const ir::DType left = c.left.dtype, right = c.right.dtype;
    ir::kernel::Contract product = ir::kernel::product_in(c)->contract;
    ir::kernel::Map finish = ir::kernel::finishing_map(product);
    if (!finish.values.empty()) {
        // A buffer behind those of the program.
        ir::kernel::Access& sums = product.output;
        sums = {static_cast<int>(program.buffers.size()), ir::DType::int32, 0,
                ir::row_major_strides(finish.extents)};
        finish.inputs[0] = sums;
    }
    auto sums = std::make_unique<ContractStep>(product, *set.contract_bytes(left, right),
                                               *set.contract_bytes(right, left));
    if (finish.values.empty()) return sums;
    const int64_t bytes = ir::element_count(finish.extents) * ir::size_of(ir::DType::int32);
    return std::make_unique<FinishedStep>(std::move(sums), std::move(finish), bytes, program, set);
}

const bool runs_pack = steps().add<ir::kernel::Pack, step_of>();
const bool runs_contract = steps().add<ir::kernel::Contract, step_of>();
const bool runs_byte_contract = steps().add<ir::kernel::ByteContract, step_of>();

}  // namespace

}  // namespace composit::interpreter
