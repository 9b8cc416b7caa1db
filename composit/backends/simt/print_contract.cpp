// Prints a Contract: tiles in shared memory (contract_tiles.h), or one thread an element. Where
// elements are few and the depth is long, the blocks of the depth are done side by side: each
// leaves its sum in scratch memory, and a second function adds them up in order.
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
        // What becomes of a sum is repeated for each of a thread: that must be short.
        const bool is_short =
            c_family::longest_chain(contract_.finish.values) < c_family::long_chain;
        const bool is_finished = (!plan_.tile && sum_count() == 1) || plan_.parts > 1 || is_short;
        sums.is_finished = is_finished;
        if (plan_.tile)
            print_tiles(kernel_, contract_, loops_, arithmetic_, plan_, sums);
        else
            print_plain(sums);
        if (plan_.parts > 1) print_partials(*sums.partials);
        if (!is_finished) print_body(kernel_, ir::kernel::finishing_map(contract_));
    }

  private:
    // ----- a thread computes a few elements, or what one block of the depth adds to them

    // The rows and columns of a thread. Those of the last block along an edge end there, and begin
    // among its neighbour's, who stores them.
    struct Block {
        int64_t row_blocks, column_blocks;
        std::vector<std::string> batch;
        std::string flat_batch, row, column;  // of the first element
        std::string own_row, own_column;      // of the first that it stores
    };

    void print_plain(const ContractSums& sums) {
        FunctionText f(kernel_, kernel_.name);
        const int64_t parts = sums.partials ? loops_.blocks() : 1;
        Block block{(loops_.row_count + plan_.thread_rows - 1) / plan_.thread_rows,
                    (loops_.column_count + plan_.thread_columns - 1) / plan_.thread_columns,
                    {},
                    "",
                    "",
                    "",
                    "",
                    ""};
        const int64_t count = parts * loops_.batch_count * block.row_blocks * block.column_blocks;
        loops_.set_index_type(f, loops_.output_count() * parts + group_threads);
        std::string part;
        declare_block(f, block, part, f.thread_number(count), parts);
        const std::string sum = f.names.claim("sum");
        const std::string depth = text(loops_.depth_count);
        if (sums.partials) {
            const std::string begin = f.declare("begin", text(part, " * ", block_of_depth));
            print_chains(f, block, sum, begin, end_of_block(begin));
            const std::string partial =
                f.scratch_pointer("partial", arithmetic_.sum, *sums.partials, true);
            store(
                f, block, sum,
                [&](const std::string& row, const std::string& column, const std::string& value) {
                    f.code.add(text(partial, "[((", part, " * ", loops_.batch_count, " + ",
                                    block.flat_batch, ") * ", loops_.row_count, " + ", row, ") * ",
                                    loops_.column_count, " + ", column, "] = ", value, ";"));
                });
        } else if (!arithmetic_.has_blocks || loops_.blocks() <= 1) {
            print_chains(f, block, sum, "0", depth);
            store_finished(f, block, sum, sums.is_finished);
        } else {
            const std::string total = f.names.claim("total"), begin = f.names.claim("begin");
            declare_sums(f, total, arithmetic_.nothing);
            f.code.open(text("for (", f.index(), " ", begin, " = 0; ", begin, " < ", depth, "; ",
                             begin, " += ", block_of_depth, ")"));
            print_chains(f, block, sum, begin, end_of_block(begin));
            for_each(f, "i", sum_count(), [&](const std::string& i) {
                f.code.add(text(total, "[", i, "] = ", total, "[", i, "] + ", sum, "[", i, "];"));
            });
            f.code.close();
            store_finished(f, block, total, sums.is_finished);
        }
        f.launch_over(count);
    }

    int64_t sum_count() const { return plan_.thread_rows * plan_.thread_columns; }

    void declare_block(FunctionText& f, Block& block, std::string& part, const std::string& number,
                       int64_t parts) {
        const std::vector<std::string> at = f.unflatten(
            number, {parts, loops_.batch_count, block.row_blocks, block.column_blocks}, "pbrc");
        part = at[0];
        block.flat_batch = at[1];
        block.batch = f.unflatten(at[1], loops_.batch, "defghi");
        const auto first = [&](const std::string& wish, const std::string& place, int64_t size,
                               int64_t count, std::string& own) {
            if (size == 1) return own = place;
            own = f.declare(wish, text(place, " * ", size));
            if (count % size == 0) return own;
            return f.declare(wish, text(own, " < ", count - size, " ? ", own, " : ", count - size));
        };
        block.row = first("row", at[2], plan_.thread_rows, loops_.row_count, block.own_row);
        block.column =
            first("column", at[3], plan_.thread_columns, loops_.column_count, block.own_column);
    }

    template <class Body>
    static void for_each(FunctionText& f, const std::string& wish, int64_t count,
                         const Body& body) {
        if (count == 1) return body(std::string("0"));
        const std::string i = f.names.claim(wish);
        f.code.add("#pragma unroll");
        f.code.open(text("for (int ", i, " = 0; ", i, " < ", count, "; ++", i, ")"));
        body(i);
        f.code.close();
    }

    void declare_sums(FunctionText& f, const std::string& name, const std::string& value) {
        f.code.add(text(arithmetic_.sum, " ", name, "[", sum_count(), "];"));
        for_each(f, "i", sum_count(),
                 [&](const std::string& i) { f.code.add(text(name, "[", i, "] = ", value, ";")); });
    }

    std::string end_of_block(const std::string& begin) const {
        const std::string end = text(begin, " + ", block_of_depth);
        if (loops_.depth_count % block_of_depth == 0) return end;
        return text("(", end, " < ", loops_.depth_count, " ? ", end, " : ", loops_.depth_count,
                    ")");
    }

    // Declares `sum`, of the products from `begin` to `end`.
    void print_chains(FunctionText& f, const Block& block, const std::string& sum,
                      const std::string& begin, const std::string& end) {
        declare_sums(f, sum, arithmetic_.zero);
        if (loops_.depth_count == 0) return;
        const std::string left = declare_places(f, "left", block, loops_.left, block.row,
                                                loops_.rows, plan_.thread_rows);
        const std::string right = declare_places(f, "right", block, loops_.right, block.column,
                                                 loops_.columns, plan_.thread_columns);
        const std::string k = f.names.claim("k");
        f.code.open(
            text("for (", f.index(), " ", k, " = ", begin, "; ", k, " < ", end, "; ++", k, ")"));
        const std::vector<std::string> depth = f.unflatten(k, loops_.depth, "stuvwx");
        const auto read = [&](const std::string& wish, const ContractOperand& operand,
                              const std::string& places, int64_t count) {
            const std::string values = f.names.claim(wish);
            const std::string place =
                f.declare("place", c_family::address_text(operand.depth, depth));
            f.code.add(text(arithmetic_.memory, " ", values, "[", count, "];"));
            for_each(f, "i", count, [&](const std::string& i) {
                f.code.add(text(values, "[", i, "] = ", f.pointer(operand.batch), "[", places, "[",
                                i, "] + ", place, "];"));
            });
            return values;
        };
        const std::string a = read("a", loops_.left, left, plan_.thread_rows);
        const std::string b = read("b", loops_.right, right, plan_.thread_columns);
        for_each(f, "r", plan_.thread_rows, [&](const std::string& r) {
            for_each(f, "c", plan_.thread_columns, [&](const std::string& c) {
                f.code.add(arithmetic_.add_product(
                    text(sum, "[", r, " * ", plan_.thread_columns, " + ", c, "]"),
                    text(a, "[", r, "]"), text(b, "[", c, "]")));
            });
        });
        f.code.close();
    }

    // Declares where each of the thread's rows or columns begins in the operand's memory.
    std::string declare_places(FunctionText& f, const std::string& wish, const Block& block,
                               const ContractOperand& operand, const std::string& first,
                               const ir::kernel::Extents& extents, int64_t count) {
        const std::string places = f.names.claim(wish + "_places");
        f.code.add(text(f.index(), " ", places, "[", count, "];"));
        for_each(f, "i", count, [&](const std::string& i) {
            const std::string at = count == 1 ? first : text("(", first, " + ", i, ")");
            f.code.add(text(
                places, "[", i, "] = ", c_family::address_text(operand.batch, block.batch), " + ",
                c_family::address_text(operand.across, f.unflatten(at, extents, "jklmno")), ";"));
        });
        return places;
    }

    // Calls body(row, column, sum) for what the thread stores.
    template <class Body>
    void store(FunctionText& f, const Block& block, const std::string& sums, const Body& body) {
        for_each(f, "r", plan_.thread_rows, [&](const std::string& r) {
            for_each(f, "c", plan_.thread_columns, [&](const std::string& c) {
                const std::string row = plan_.thread_rows == 1
                                            ? block.row
                                            : f.declare("at_row", text(block.row, " + ", r));
                const std::string column =
                    plan_.thread_columns == 1
                        ? block.column
                        : f.declare("at_column", text(block.column, " + ", c));
                std::vector<std::string> own;
                if (block.row != block.own_row) own.push_back(text(row, " >= ", block.own_row));
                if (block.column != block.own_column)
                    own.push_back(text(column, " >= ", block.own_column));
                if (!own.empty()) f.code.open(text("if (", join(own, " && "), ")"));
                body(row, column, text(sums, "[", r, " * ", plan_.thread_columns, " + ", c, "]"));
                if (!own.empty()) f.code.close();
            });
        });
    }

    void store_finished(FunctionText& f, const Block& block, const std::string& sums,
                        bool is_finished) {
        store(f, block, sums,
              [&](const std::string& row, const std::string& column, const std::string& value) {
                  std::vector<std::string> at = block.batch;
                  for (const auto& [flat, extents] :
                       {std::pair(row, &loops_.rows), std::pair(column, &loops_.columns)}) {
                      const std::vector<std::string> part = f.unflatten(flat, *extents, "jklmno");
                      at.insert(at.end(), part.begin(), part.end());
                  }
                  store_sum(f, contract_, loops_, at, value, is_finished);
              });
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

void print_body(KernelText& kernel, const Contract& contract) {
    const int64_t count = ir::element_count(
        ir::kernel::concatenate({contract.batch, contract.rows, contract.columns}));
    if (count == 0) return;
    const ContractLoops loops(ir::kernel::widened(contract));
    const ContractArithmetic arithmetic(contract.output.dtype);
    if (kernel.dialect.threads_are_loops && suits_loops(loops, arithmetic))
        return print_contract_in_loops(kernel, ir::kernel::widened(contract), loops, arithmetic);
    print_contract(kernel, contract, plan_contract(loops, arithmetic, kernel.dialect.has_warps));
}

}  // namespace composit::simt
