// Maps of what one contraction makes for them alone become the finish of that contraction: bias,
// activation and residual are applied to sums that are still in registers or the nearest cache.
//
// The map and the contraction go through what passes between them in loops of their own. Both are
// cut where the loops of the other end; then each loop of the map is one of the contraction's
// batch, rows or columns, and the map's accesses get their strides in that order.
#include "composit/base/ascii.h"
#include "composit/ir/kernel/loops.h"
#include "composit/ir/kernel/row_of_windows.h"
#include "composit/ir/operation.h"
#include "composit/ops/nest.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Body;
using ir::kernel::BufferKind;
using ir::kernel::Contract;
using ir::kernel::cut_loops_at;
using ir::kernel::Kernel;
using ir::kernel::loops_that_move;
using ir::kernel::Map;
using ir::kernel::Product;
using ir::kernel::Program;
using ir::kernel::steps_through;
using ir::scalar::Expr;

namespace {

// How many columns lie side by side in an access over batch, rows and columns, when the columns are
// gone through in order; 0: not even neighbours do.
int64_t run_of_columns(const Contract& c, const Access& access) {
    const size_t outer = c.batch.size() + c.rows.size();
    int64_t run = 1;
    for (size_t d = c.columns.size(); d-- > 0;) {
        if (c.columns[d] == 1) continue;
        if (access.strides[outer + d] != run) return run == 1 ? 0 : run;
        run *= c.columns[d];
    }
    return run;
}

// Whether tiles of results can be stored as vectors: as they are without a finish, or nearly.
bool stores_vectors(const Contract& c, const Access& output, int64_t run_before,
                    const Target& target) {
    const int64_t run = run_of_columns(c, output);
    return run == run_before || (run > 0 && run % target.tile_columns == 0);
}

bool reads(const std::vector<Access>& accesses, int buffer) {
    return std::any_of(accesses.begin(), accesses.end(),
                       [&](const Access& access) { return access.buffer == buffer; });
}

// Makes `map` the finish of the product that writes what it reads, if its loops suit. Sums of the
// dtype of their factors are formed in place of a result, which has this dtype, too; others are
// formed over the whole depth at once.
std::optional<Contract> finished(const Product& product_given, const Map& given,
                                 const Target& target) {
    const Contract& contract = product_given.contract;
    const int sums = contract.output.buffer;
    const bool is_in_place = contract.left.dtype == product_given.sums;
    if (!is_in_place && ir::element_count(contract.depth) > ir::kernel::most_depth_at_once)
        return std::nullopt;
    const int64_t count = ir::element_count(
        ir::kernel::concatenate({contract.batch, contract.rows, contract.columns}));
    const int64_t columns = ir::element_count(contract.columns);
    const int64_t depth = ir::element_count(contract.depth);
    const int64_t rows = ir::element_count(contract.rows);
    // Windows have a loop of their own, which goes on with what it has summed.
    const bool is_of_tiles = !is_in_place || !ir::kernel::is_row_of_windows(contract);
    if (is_of_tiles &&
        (columns < target.least_columns || rows * columns * depth <= target.least_product))
        return std::nullopt;
    if (depth > target.depth_of_map &&
        count * ir::size_of(contract.output.dtype) < target.near_bytes)
        return std::nullopt;
    Body product = contract, map = given;
    auto& m = std::get<Map>(map);
    auto& c = std::get<Contract>(product);
    // All that is read of the sums is one element, and a result can take its place.
    size_t sum = m.inputs.size();
    for (size_t k = 0; k < m.inputs.size(); ++k) {
        if (m.inputs[k].buffer != sums) continue;
        if (sum < m.inputs.size() && !ops::is_equal(m.inputs[sum], m.inputs[k]))
            return std::nullopt;
        sum = std::min(sum, k);
    }
    for (const Access& output : m.outputs)
        if (reads(m.inputs, output.buffer) || output.buffer == c.left.buffer ||
            output.buffer == c.right.buffer)
            return std::nullopt;
    constexpr size_t output = 2;  // among the contraction's accesses
    const auto in_map = steps_through(map, sum, count);
    const auto in_product = steps_through(product, output, count);
    if (!in_map || !in_product || ir::element_count(m.extents) != count) return std::nullopt;
    if (!cut_loops_at(map, sum, *in_product) || !cut_loops_at(product, output, *in_map))
        return std::nullopt;

    const int64_t run = run_of_columns(c, c.output);
    if (run == 0) return std::nullopt;
    // The map's accesses over the contraction's loops: those of equal stride through the sums.
    const auto map_loops = loops_that_move(map, sum),
               product_loops = loops_that_move(product, output);
    const auto in_order = [&](const Access& access) {
        Access made = access;
        made.strides.assign(c.output.strides.size(), 0);
        for (size_t l = 0; l < product_loops.size(); ++l)
            made.strides[static_cast<size_t>(product_loops[l].stride_at[output])] =
                access.strides[static_cast<size_t>(map_loops[l].stride_at[sum])];
        return made;
    };
    std::vector<Access> outputs;
    for (const Access& made : m.outputs) {
        outputs.push_back(in_order(made));
        if (!stores_vectors(c, outputs.back(), run, target)) return std::nullopt;
    }
    const auto first = std::find_if(outputs.begin(), outputs.end(), [&](const Access& made) {
        return !is_in_place || made.dtype == c.output.dtype;
    });
    if (first == outputs.end()) return std::nullopt;
    const auto number = first - outputs.begin();
    std::vector<Expr> arguments;
    for (size_t k = 0; k < m.inputs.size(); ++k) {
        const bool is_sum = m.inputs[k].buffer == sums;
        if (!is_sum) c.finish.inputs.push_back(in_order(m.inputs[k]));
        const int place = is_sum ? 0 : static_cast<int>(c.finish.inputs.size());
        arguments.push_back(Expr::argument(place, m.inputs[k].dtype));
    }
    c.finish.values = ir::scalar::substitute(m.values, arguments);
    std::rotate(c.finish.values.begin(), c.finish.values.begin() + number,
                c.finish.values.begin() + number + 1);
    c.output = *first;
    outputs.erase(first);
    c.finish.outputs = std::move(outputs);
    return c;
}

class Finisher {
  public:
    Finisher(Program program, const Target& target)
        : program_(std::move(program)), target_(target) {}

    Program run() {
        std::vector<Kernel> kernels = std::move(program_.kernels);
        touched_.resize(program_.buffers.size(), 0);
        for (const Kernel& kernel : kernels) {
            names_.insert(kernel.name);
            for (int buffer : touched_by(kernel)) ++touched_[static_cast<size_t>(buffer)];
        }
        for (Kernel& kernel : kernels) add(std::move(kernel));
        program_.kernels = std::move(done_);
        return std::move(program_);
    }

  private:
    static std::set<int> touched_by(const Kernel& kernel) {
        std::set<int> numbers;
        for (const auto& buffers :
             {ir::kernel::buffers_read(kernel), ir::kernel::buffers_written(kernel)})
            numbers.insert(buffers.begin(), buffers.end());
        return numbers;
    }

    // Whether the contraction and the kernel that follows alone touch the buffer.
    bool is_between_two(int number) const {
        return program_.buffers[static_cast<size_t>(number)].kind == BufferKind::temporary &&
               touched_[static_cast<size_t>(number)] == 2;
    }

    void add(Kernel kernel) {
        const auto* map = std::get_if<Map>(&kernel.body);
        const size_t first = done_.size() > most_between ? done_.size() - most_between : 0;
        for (size_t place = done_.size(); map != nullptr && place-- > first;) {
            const auto given = ir::kernel::product_in(done_[place].body);
            if (!given || !given->contract.finish.values.empty()) continue;
            const int sums = given->contract.output.buffer;
            if (!is_between_two(sums) || !reads(map->inputs, sums)) continue;
            if (!may_move_to_end(place)) continue;
            auto made = finished(*given, *map, target_);
            if (!made) continue;
            Kernel product = std::move(done_[place]);
            done_.erase(done_.begin() + static_cast<std::ptrdiff_t>(place));
            ir::kernel::put_product(product.body, std::move(*made));
            product.name = name_of(product.name, kernel.name);
            product.comment += product.comment.empty() ? kernel.comment : "; " + kernel.comment;
            for (const std::string& line : kernel.lines)
                if (std::find(product.lines.begin(), product.lines.end(), line) ==
                    product.lines.end())
                    product.lines.push_back(line);
            done_.push_back(std::move(product));
            return;
        }
        done_.push_back(std::move(kernel));
    }

    // Whether no kernel behind that at `place` writes what it reads.
    bool may_move_to_end(size_t place) const {
        const auto read = ir::kernel::buffers_read(done_[place]);
        for (size_t k = place + 1; k < done_.size(); ++k)
            for (int buffer : ir::kernel::buffers_written(done_[k]))
                if (std::find(read.begin(), read.end(), buffer) != read.end()) return false;
        return true;
    }

    // "contract_add_gelu_2" of "contract_7" and "add_gelu_2".
    std::string name_of(std::string product, const std::string& map) {
        while (!product.empty() && ascii::is_digit(product.back())) product.pop_back();
        if (product.empty() || product.back() != '_') product += '_';
        std::string name = product + map;
        for (int n = 2; !names_.insert(name).second; ++n)
            name = product + map + "_" + std::to_string(n);
        return name;
    }

    static constexpr size_t most_between = 64;  // kernels: a result made late keeps operands alive

    Program program_;
    const Target& target_;
    std::vector<Kernel> done_;
    std::vector<int> touched_;  // how many kernels touch each buffer
    std::set<std::string> names_;
};

}  // namespace

Program finish_products(Program program, const Target& target) {
    const bool may_have_products =
        std::any_of(program.kernels.begin(), program.kernels.end(), [](const Kernel& kernel) {
            return ir::kernel::product_in(kernel.body).has_value() ||
                   std::holds_alternative<ir::kernel::Repeat>(kernel.body);
        });
    if (!may_have_products) return program;
    const auto finished = [&](Program kernels) {
        return Finisher(std::move(kernels), target).run();
    };
    return without_unused_buffers(finished(within_repeats(std::move(program), finished)));
}

}  // namespace composit::transforms
