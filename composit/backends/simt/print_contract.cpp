// Prints a Contract: tiles in shared memory (contract_tiles.h), one thread an element, or loops on
// devices whose threads are loops (contract_in_loops.h). Where elements are few and the depth is
// long, the blocks of the depth are done side by side: each leaves its sum in scratch memory, and a
// second function adds them up in order.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/simt/contract_in_loops.h"
#include "composit/backends/simt/contract_plan.h"
#include "composit/backends/simt/contract_tiles.h"
#include "composit/base/text.h"

#include <algorithm>

namespace composit::simt {
namespace {

using ir::kernel::Contract;

class ContractPrinter {
  public:
    ContractPrinter(KernelText& kernel, const Contract& contract, const ContractLoops& loops,
                    const ContractPlan& plan)
        : kernel_(kernel),
          contract_(contract),
          loops_(loops),
          arithmetic_(contract.output.dtype),
          plan_(plan) {}

    void print() {
        ContractSums sums;
        if (plan_.parts > 1)
            sums.partials = kernel_.scratch(loops_.output_count() * loops_.blocks() *
                                            ir::size_of(arithmetic_.dtype));
        // Each of a tile's sums has the text of what becomes of it: that must be short.
        const bool is_short =
            c_family::longest_chain(contract_.finish.values) < c_family::long_chain;
        const bool is_finished = !plan_.tile || plan_.parts > 1 || is_short;
        sums.is_finished = is_finished;
        if (plan_.tile)
            print_tiles(kernel_, contract_, loops_, arithmetic_, plan_, sums);
        else
            print_plain(sums);
        if (plan_.parts > 1) print_partials(*sums.partials);
        if (!is_finished) printers()(kernel_, ir::kernel::finishing_map(contract_));
    }

  private:
    // ----- one thread an element, or one of its blocks

    void print_plain(const ContractSums& sums) {
        FunctionText f(kernel_, kernel_.name);
        const int64_t parts = sums.partials ? loops_.blocks() : 1;
        loops_.set_index_type(f, loops_.output_count() * parts + group_threads);
        const std::string number = f.thread_number(loops_.output_count() * parts);
        std::string element = number, block;
        if (sums.partials) {
            block = f.declare("block", text(number, " / ", loops_.output_count()));
            element = f.declare("element", text(number, " % ", loops_.output_count()));
        }
        const std::vector<std::string> at = f.unflatten(element, loops_.output_extents(), "jklmno");
        const std::string sum = f.names.claim("sum");
        const std::string depth = text(loops_.depth_count);
        if (sums.partials) {
            const std::string begin = f.declare("begin", text(block, " * ", block_of_depth));
            print_chain(f, at, sum, begin, end_of_block(begin));
            const std::string partial =
                f.scratch_pointer("partial", arithmetic_.sum, *sums.partials, true);
            f.code.add(text(partial, "[", number, "] = ", sum, ";"));
        } else if (!arithmetic_.has_blocks || loops_.blocks() <= 1) {
            print_chain(f, at, sum, "0", depth);
            store_sum(f, contract_, loops_, at, sum, true);
        } else {
            const std::string total = f.names.claim("total"), begin = f.names.claim("begin");
            f.code.add(text(arithmetic_.sum, " ", total, " = ", arithmetic_.nothing, ";"));
            f.code.open(text("for (", f.index(), " ", begin, " = 0; ", begin, " < ", depth, "; ",
                             begin, " += ", block_of_depth, ")"));
            print_chain(f, at, sum, begin, end_of_block(begin));
            f.code.add(text(total, " = ", total, " + ", sum, ";"));
            f.code.close();
            store_sum(f, contract_, loops_, at, total, true);
        }
        f.launch_over(loops_.output_count() * parts);
    }

    std::string end_of_block(const std::string& begin) const {
        const std::string end = text(begin, " + ", block_of_depth);
        if (loops_.depth_count % block_of_depth == 0) return end;
        return text("(", end, " < ", loops_.depth_count, " ? ", end, " : ", loops_.depth_count,
                    ")");
    }

    // Declares `sum`, of the products from `begin` to `end`.
    void print_chain(FunctionText& f, const std::vector<std::string>& at, const std::string& sum,
                     const std::string& begin, const std::string& end) {
        f.code.add(text(arithmetic_.sum, " ", sum, " = ", arithmetic_.zero, ";"));
        if (loops_.depth_count == 0) return;
        const size_t b = loops_.batch.size(), m = loops_.rows.size();
        const auto row = at.begin() + static_cast<std::ptrdiff_t>(b);
        const auto column = row + static_cast<std::ptrdiff_t>(m);
        const std::string k = f.names.claim("k");
        f.code.open(
            text("for (", f.index(), " ", k, " = ", begin, "; ", k, " < ", end, "; ++", k, ")"));
        const std::vector<std::string> depth = f.unflatten(k, loops_.depth, "pqrstu");
        const auto element = [&](const ContractOperand& operand,
                                 std::vector<std::string>::const_iterator from,
                                 std::vector<std::string>::const_iterator to) {
            std::vector<std::string> indices(at.begin(), row);
            indices.insert(indices.end(), from, to);
            indices.insert(indices.end(), depth.begin(), depth.end());
            return f.element(over_loops(operand), indices);
        };
        f.code.add(arithmetic_.add_product(sum, element(loops_.left, row, column),
                                           element(loops_.right, column, at.end())));
        f.code.close();
    }

    static ir::kernel::Access over_loops(const ContractOperand& operand) {
        ir::kernel::Access all = operand.batch;
        for (const auto* part : {&operand.across, &operand.depth})
            all.strides.insert(all.strides.end(), part->strides.begin(), part->strides.end());
        return all;
    }

    // ----- the sums of blocks, added up in order

    void print_partials(int64_t partials) {
        FunctionText f(kernel_, kernel_.name + "_sums");
        const int64_t count = loops_.output_count(), blocks = loops_.blocks();
        loops_.set_index_type(f, count * blocks + group_threads);
        const std::string number = f.thread_number(count);
        const std::string partial = f.scratch_pointer("partial", arithmetic_.sum, partials, false);
        const std::string sum = f.names.claim("sum"), block = f.names.claim("block");
        f.code.add(text(arithmetic_.sum, " ", sum, " = ", partial, "[", number, "];"));
        f.code.open(text("for (", f.index(), " ", block, " = 1; ", block, " < ", blocks, "; ++",
                         block, ")"));
        f.code.add(
            text(sum, " = ", sum, " + ", partial, "[", block, " * ", count, " + ", number, "];"));
        f.code.close();
        store_sum(f, contract_, loops_, f.unflatten(number, loops_.output_extents(), "jklmno"), sum,
                  true);
        f.launch_over(count);
    }

    KernelText& kernel_;
    const Contract& contract_;
    const ContractLoops& loops_;
    const ContractArithmetic arithmetic_;
    const ContractPlan& plan_;
};

}  // namespace

void print_contract(KernelText& kernel, const Contract& contract, const ContractPlan& plan) {
    const Contract wide = ir::kernel::widened(contract);
    ContractPrinter(kernel, wide, ContractLoops(wide), plan).print();
}

namespace {

void print_body(KernelText& kernel, const Contract& contract) {
    const int64_t count = ir::element_count(
        ir::kernel::concatenate({contract.batch, contract.rows, contract.columns}));
    if (count == 0) return;
    const ContractLoops loops(ir::kernel::widened(contract));
    const ContractArithmetic arithmetic(contract.output.dtype);
    if (kernel.dialect.threads_are_loops && suits_loops(loops, arithmetic))
        return print_contract_in_loops(kernel, ir::kernel::widened(contract), loops, arithmetic);
    const bool can_share = !kernel.dialect.threads_are_loops;
    print_contract(kernel, contract, plan_contract(loops, arithmetic, can_share));
}

const bool prints_contract = printers().add<Contract, print_body>();

}  // namespace

}  // namespace composit::simt
