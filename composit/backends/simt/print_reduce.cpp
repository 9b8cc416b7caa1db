// Prints a Reduce: 32 lanes a block of 4096 elements, lanes by halving, blocks in pairs.
//
// Rows whose elements lie side by side: a warp's threads are the lanes. Columns side by side: the
// threads of a group are 32 columns times 8, each with four lanes. Short ones: one thread each.
#include "composit/backends/c_family/combining.h"
#include "composit/backends/c_family/reduce_loops.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/simt/lanes.h"
#include "composit/backends/simt/loops.h"
#include "composit/base/text.h"

#include <algorithm>
#include <bit>

namespace composit::simt {
namespace {

using ir::kernel::Access;
using ir::kernel::Reduce;

constexpr int64_t block_length = 4096, lane_count = 32;
constexpr int64_t rows_of_group = group_threads / lane_count;
constexpr int64_t columns_of_group = 32, threads_of_column = group_threads / columns_of_group;
constexpr int64_t lanes_of_thread = lane_count / threads_of_column;
constexpr int64_t most_partials = 4096;  // of a row, that a group combines
constexpr int64_t most_of_thread = 16;   // of those

class ReducePrinter {
  public:
    ReducePrinter(KernelText& kernel, const Reduce& reduce)
        : kernel_(kernel),
          reduce_(reduce),
          loops_(reduce),
          rows_(ir::element_count(loops_.kept)),
          count_(ir::element_count(loops_.ordered)),
          blocks_(groups_of(count_, block_length)) {}

    void print() {
        if (rows_ == 0) return;
        FunctionText f(kernel_, kernel_.name);
        ir::kernel::Extents all = loops_.kept;
        all.insert(all.end(), loops_.ordered.begin(), loops_.ordered.end());
        std::vector<Access> accesses = loops_.inputs;
        accesses.push_back(loops_.output);
        f.index_type(all, accesses);
        if (rows_ * lane_count * std::max<int64_t>(blocks_, 1) > INT32_MAX / 2)
            f.index_type({INT64_MAX}, {});
        // Values that are long to compute are written once.
        const bool is_cheap = c_family::longest_chain({reduce_.value}) < c_family::long_chain;
        if (count_ <= (is_cheap ? lane_count : 1))
            print_short(f);
        else if (f.dialect().threads_are_loops)
            loops_.runs_along_columns() ? print_columns_in_loops(f) : print_rows_in_loops(f);
        else if (loops_.runs_along_columns())
            print_columns(f);
        else
            print_rows(f);
        for (int64_t left = blocks_; left > 1; left = groups_of(left, most_partials))
            print_partials(left);
    }

  private:
    Combining combining(const FunctionText& f) const {
        const char* position = count_ < INT32_MAX ? "int" : "int64_t";
        return {f.dialect().scalars, reduce_.combiner, reduce_.value.dtype(), position, count_};
    }

    static void add(FunctionText& f, const std::vector<std::string>& lines) {
        for (const std::string& line : lines) f.code.add(line);
    }

    // Adds element number `e` of the row to the state.
    void add_element(FunctionText& f, const Combining& c, const Combining::State& state,
                     const std::vector<std::string>& kept, const std::string& e) {
        std::vector<std::string> indices = kept;
        const std::vector<std::string> ordered = f.unflatten(e, loops_.ordered, "rstuvw");
        indices.insert(indices.end(), ordered.begin(), ordered.end());
        const FunctionText::Computed computed = f.compute({reduce_.value}, loops_.inputs, indices);
        add(f, computed.lines);
        add(f, c.add(state, computed.results[0], e, computed.names));
    }

    // ----- where results go: the output, or scratch memory for one result of each block

    void print_result(FunctionText& f, const Combining& c, const Combining::State& state,
                      const std::vector<std::string>& kept, const std::string& partial,
                      const Combining::State& partials) {
        if (partial.empty())
            f.code.add(f.element(loops_.output, kept) + " = " + c.result(state) + ";");
        else
            add(f, c.assign(Combining::at(partials, "[" + partial + "]"), state));
    }

    // Scratch memory for `count` partial results; the pointers to it in `f`.
    struct Place {
        int64_t values = 0, positions = 0;
    };
    Place place_for(const Combining& c, int64_t count) {
        Place place{kernel_.scratch(count * ir::size_of(reduce_.value.dtype())), 0};
        if (c.finds_position()) place.positions = kernel_.scratch(count * 8);
        return place;
    }
    Combining::State partials_in(FunctionText& f, const Combining& c, const Place& place,
                                 bool is_written) {
        Combining::State state;
        const std::string wish = is_written ? "partial" : "given";
        state.value = f.scratch_pointer(wish, c.type(), place.values, is_written);
        if (c.finds_position())
            state.position =
                f.scratch_pointer(wish + "_at", c.position_type(), place.positions, is_written);
        return state;
    }

    // ----- short rows: one thread each

    void print_short(FunctionText& f) {
        const Combining c = combining(f);
        const std::string row = f.thread_number(rows_);
        const std::vector<std::string> kept = f.unflatten(row, loops_.kept, "jklmno");
        const auto lanes = static_cast<int64_t>(
            std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(count_, 1))));
        if (count_ == 0) {  // sum 0, product 1, any false, all true
            const bool is_one = reduce_.combiner == ir::kernel::Combiner::product ||
                                reduce_.combiner == ir::kernel::Combiner::all;
            f.code.add(f.element(loops_.output, kept) + (is_one ? " = 1;" : " = 0;"));
            f.launch_over(rows_);
            return;
        }
        const Combining::State state = c.claim(f.names);
        const std::string e = f.names.claim("e");
        add(f, c.declare_array(state, lanes));
        f.code.add("#pragma unroll");
        f.code.open(text("for (int ", e, " = 0; ", e, " < ", count_, "; ++", e, ")"));
        add(f, c.clear(Combining::at(state, "[" + e + "]")));
        add_element(f, c, Combining::at(state, "[" + e + "]"), kept, e);
        f.code.close();
        if (count_ < lanes) {
            f.code.add("#pragma unroll");
            f.code.open(text("for (int ", e, " = ", count_, "; ", e, " < ", lanes, "; ++", e, ")"));
            add(f, c.clear(Combining::at(state, "[" + e + "]")));
            f.code.close();
        }
        for (int64_t half = lanes / 2; half > 0; half /= 2) {
            f.code.add("#pragma unroll");
            f.code.open(text("for (int ", e, " = 0; ", e, " < ", half, "; ++", e, ")"));
            add(f, c.combine(Combining::at(state, text("[", e, "]")),
                             Combining::at(state, text("[", e, " + ", half, "]"))));
            f.code.close();
        }
        print_result(f, c, Combining::at(state, "[0]"), kept, "", {});
        f.launch_over(rows_);
    }

    // ----- rows

    // Declares the block's first element and its end in the row.
    struct Range {
        std::string begin, end;
    };
    Range range_of_block(FunctionText& f, const std::string& block) {
        if (blocks_ == 1) return {"0", text(count_)};
        const std::string begin = f.declare("start", text(block, " * ", block_length));
        if (count_ % block_length == 0) return {begin, text(begin, " + ", block_length)};
        return {begin, f.declare("end", text(begin, " + ", block_length, " < ", count_, " ? ",
                                             begin, " + ", block_length, " : ", count_))};
    }

    // Of all of them; -1 where the last one is shorter.
    int64_t length_of_blocks() const {
        return blocks_ == 1 ? count_ : count_ % block_length == 0 ? block_length : -1;
    }

    void print_rows(FunctionText& f) {
        const Combining c = combining(f);
        const int64_t chains = rows_ * blocks_;
        const std::string thread = f.declare("int", "thread", f.dialect().thread);
        const std::string lane = f.declare("int", "lane", text(thread, " % ", lane_count));
        const std::string group = f.group();
        std::string chain =
            f.declare(blocks_ > 1 ? "chain" : "row",
                      text(group, " * ", rows_of_group, " + ", thread, " / ", lane_count));
        chain = f.at_most_last(chain, chains, rows_of_group);
        std::string row = chain, block = "0";
        if (blocks_ > 1) {
            row = f.declare("row", text(chain, " / ", blocks_));
            block = f.declare("block", text(chain, " % ", blocks_));
        }
        const std::vector<std::string> kept = f.unflatten(row, loops_.kept, "jklmno");
        const Range range = range_of_block(f, block);
        const Combining::State state = c.claim(f.names);
        add(f, c.declare(state));
        f.code.add("#pragma unroll 8");
        if (count_ % lane_count == 0) {  // as many for each lane: compilers see how many
            const std::string first = f.names.claim("first");
            f.code.open(text("for (", f.index(), " ", first, " = ", range.begin, "; ", first, " < ",
                             range.end, "; ", first, " += ", lane_count, ")"));
            add_element(f, c, state, kept, f.declare("e", text(first, " + ", lane)));
        } else {
            const std::string e = f.names.claim("e");
            const std::string begin = range.begin == "0" ? lane : range.begin + " + " + lane;
            f.code.open(text("for (", f.index(), " ", e, " = ", begin, "; ", e, " < ", range.end,
                             "; ", e, " += ", lane_count, ")"));
            add_element(f, c, state, kept, e);
        }
        f.code.close();
        print_halving(f, c, state, thread, lane, "", lane_count / 2, shared_lanes(f, c, ""));
        Place place;
        Combining::State partials;
        if (blocks_ > 1) {
            place = place_for(c, chains);
            given_ = place;
            partials = partials_in(f, c, place, true);
        }
        f.code.open(text("if (", lane, " == 0)"));
        print_result(f, c, state, kept, blocks_ > 1 ? chain : "", partials);
        f.code.close();
        f.launch(groups_of(chains, rows_of_group), 1, group_threads);
    }

    // ----- the same for threads that are loops

    Combining::State partials_of_blocks(FunctionText& f, const Combining& c) {
        if (blocks_ == 1) return {};
        given_ = place_for(c, rows_ * blocks_);
        return partials_in(f, c, given_, true);
    }

    void print_rows_in_loops(FunctionText& f) {
        const Combining c = combining(f);
        const int64_t chains = rows_ * blocks_;
        const int64_t at_a_time = std::max<int64_t>(1, elements_of_thread / count_);
        const Combining::State partials = partials_of_blocks(f, c);
        const std::string chain = open_share(f, chains, at_a_time, blocks_ > 1 ? "chain" : "row");
        std::string row = chain, block = "0";
        if (blocks_ > 1) {
            row = f.declare("row", text(chain, " / ", blocks_));
            block = f.declare("block", text(chain, " % ", blocks_));
        }
        const std::vector<std::string> kept = f.unflatten(row, loops_.kept, "jklmno");
        const Range range = range_of_block(f, block);
        const Combining::State result =
            print_lanes(f, c, range.begin, range.end, length_of_blocks(),
                        [&](const Combining::State& state, const std::string& e) {
                            add_element(f, c, state, kept, e);
                        });
        print_result(f, c, result, kept, blocks_ > 1 ? chain : "", partials);
        close_share(f, at_a_time);
        f.launch(groups_of(chains, at_a_time), 1, 1);
    }

    // A thread takes a strip of neighbouring columns.
    void print_columns_in_loops(FunctionText& f) {
        const Combining c = combining(f);
        constexpr int64_t widest = 64;
        const int64_t length = loops_.kept.back(), width = std::min(length, widest);
        const int64_t strips = groups_of(length, width);
        ir::kernel::Extents shares(loops_.kept.begin(), loops_.kept.end() - 1);
        shares.push_back(strips);
        shares.push_back(blocks_);
        const Combining::State partials = partials_of_blocks(f, c);
        const std::string share = open_share(f, ir::element_count(shares), 1, "share");
        std::vector<std::string> kept = f.unflatten(share, shares, "jklmno");
        const std::string block = kept.back();
        kept.pop_back();
        const std::string start = f.declare("start", text(kept.back(), " * ", width));
        kept.pop_back();
        std::string columns = text(width);
        if (length % width != 0)
            columns = f.declare("int", "columns",
                                text(start, " + ", width, " < ", length, " ? ", width, " : (int)(",
                                     length, " - ", start, ")"));
        const auto at_column = [&](const std::string& column) {
            std::vector<std::string> at = kept;
            at.push_back("(" + start + " + " + column + ")");
            return at;
        };
        const Range range = range_of_block(f, block);
        const Combining::State results = print_lanes_of_columns(
            f, c, range.begin, range.end, width, columns,
            [&](const Combining::State& state, const std::string& e, const std::string& column) {
                add_element(f, c, state, at_column(column), e);
            });
        const std::string column = f.names.claim("c");
        f.code.open(
            text("for (int ", column, " = 0; ", column, " < ", columns, "; ++", column, ")"));
        std::string chain;
        if (blocks_ > 1) {
            std::string row = start + " + " + column;
            for (size_t d = 0; d < kept.size(); ++d) {
                int64_t inner = 1;
                for (size_t k = d + 1; k < loops_.kept.size(); ++k) inner *= loops_.kept[k];
                row += text(" + ", kept[d], " * ", inner);
            }
            chain = f.declare("chain", text("(", row, ") * ", blocks_, " + ", block));
        }
        print_result(f, c, Combining::at(results, "[" + column + "]"), at_column(column), chain,
                     partials);
        f.code.close();
        f.launch(ir::element_count(shares), 1, 1);
    }

    // The arrays that lanes of several threads need to become one.
    static Combining::State shared_lanes(FunctionText& f, const Combining& c,
                                         const std::string& apart) {
        if (!needs_shared(f.dialect(), apart)) return {};
        const Combining::State lanes = c.claim(f.names, "lanes");
        add(f, c.declare_array(lanes, group_threads, std::string(f.dialect().local)));
        return lanes;
    }

    // ----- columns

    void print_columns(FunctionText& f) {
        const Combining c = combining(f);
        const int64_t strips = groups_of(rows_, columns_of_group);
        const std::string thread = f.declare("int", "thread", f.dialect().thread);
        const std::string lane = f.declare("int", "lane", text(thread, " / ", columns_of_group));
        const std::string group = f.group();
        std::string strip = group, block = "0";
        if (blocks_ > 1) {
            strip = text(group, " / ", blocks_);
            block = f.declare("block", text(group, " % ", blocks_));
        }
        std::string column = f.declare(
            "column", text(strip, " * ", columns_of_group, " + ", thread, " % ", columns_of_group));
        column = f.at_most_last(column, rows_, columns_of_group);
        const std::vector<std::string> kept = f.unflatten(column, loops_.kept, "jklmno");
        const Range range = range_of_block(f, block);
        const Combining::State state = c.claim(f.names);
        const std::string first = f.names.claim("first"), q = f.names.claim("q");
        add(f, c.declare_array(state, lanes_of_thread));
        const Combining::State own = Combining::at(state, "[" + q + "]");
        const std::string over_lanes =
            text("for (int ", q, " = 0; ", q, " < ", lanes_of_thread, "; ++", q, ")");
        f.code.add("#pragma unroll");
        f.code.open(over_lanes);
        add(f, c.clear(own));
        f.code.close();
        f.code.add("#pragma unroll 4");
        f.code.open(text("for (", f.index(), " ", first, " = ", range.begin, "; ", first, " < ",
                         range.end, "; ", first, " += ", lane_count, ")"));
        f.code.add("#pragma unroll");
        f.code.open(over_lanes);
        const std::string e =
            f.declare("e", text(first, " + ", q, " * ", threads_of_column, " + ", lane));
        const bool is_even = count_ % lane_count == 0;
        if (!is_even) f.code.open(text("if (", e, " < ", range.end, ")"));
        add_element(f, c, own, kept, e);
        if (!is_even) f.code.close();
        f.code.close();
        f.code.close();
        for (int64_t half = lanes_of_thread / 2; half > 0; half /= 2)
            for (int64_t j = 0; j < half; ++j)
                add(f, c.combine(Combining::at(state, text("[", j, "]")),
                                 Combining::at(state, text("[", j + half, "]"))));
        const std::string apart = text(" * ", columns_of_group);
        print_halving(f, c, Combining::at(state, "[0]"), thread, lane, apart, threads_of_column / 2,
                      shared_lanes(f, c, apart));
        Combining::State partials;
        std::string chain;
        if (blocks_ > 1) {
            given_ = place_for(c, rows_ * blocks_);
            partials = partials_in(f, c, given_, true);
            chain = text(column, " * ", blocks_, " + ", block);
        }
        f.code.open(text("if (", lane, " == 0)"));
        print_result(f, c, Combining::at(state, "[0]"), kept, chain, partials);
        f.code.close();
        f.launch(strips * blocks_, 1, group_threads);
    }

    // ----- the results of blocks, by pairs of neighbours: as many threads a row as it takes

    void print_partials(int64_t count) {
        FunctionText f(kernel_, kernel_.name + "_blocks");
        const int64_t parts = groups_of(count, most_partials);
        f.index_type({rows_, std::max(count, most_partials)}, {loops_.output});
        const Combining c = combining(f);
        const auto width = static_cast<int64_t>(
            std::bit_ceil(static_cast<uint64_t>(std::min(count, most_partials))));
        const int64_t each = std::min(width, most_of_thread), team = width / each;
        const int64_t teams = group_threads / team, chains = rows_ * parts;
        const std::string thread = f.declare("int", "thread", f.dialect().thread);
        const std::string member = f.declare("int", "member", text(thread, " % ", team));
        const std::string group = f.group();
        std::string chain =
            f.declare("chain", text(group, " * ", teams, " + ", thread, " / ", team));
        chain = f.at_most_last(chain, chains, teams);
        std::string row = chain, first = "";
        if (parts > 1) {
            row = f.declare("row", text(chain, " / ", parts));
            first = text(chain, " % ", parts, " * ", most_partials, " + ");
        }
        const std::vector<std::string> kept = f.unflatten(row, loops_.kept, "jklmno");
        const Combining::State given = partials_in(f, c, given_, false);
        const std::string begin = f.declare("start", text(first, member, " * ", each));
        const Combining::State state = c.claim(f.names);
        const std::string k = f.names.claim("k");
        add(f, c.declare_array(state, each));
        f.code.add("#pragma unroll");
        f.code.open(text("for (int ", k, " = 0; ", k, " < ", each, "; ++", k, ")"));
        add(f, c.clear(Combining::at(state, "[" + k + "]")));
        f.code.open(text("if (", begin, " + ", k, " < ", count, ")"));
        add(f, c.assign(Combining::at(state, "[" + k + "]"),
                        Combining::at(given,
                                      text("[", row, " * ", count, " + ", begin, " + ", k, "]"))));
        f.code.close();
        f.code.close();
        for (int64_t step = 1; step < each; step *= 2)
            for (int64_t j = 0; j < each; j += 2 * step)
                add(f, c.combine(Combining::at(state, text("[", j, "]")),
                                 Combining::at(state, text("[", j + step, "]"))));
        Combining::State result = Combining::at(state, "[0]");
        if (team > 1) {
            const Combining::State shared = c.claim(f.names, "shared");
            const std::string step = f.names.claim("step");
            add(f, c.declare_array(shared, group_threads, std::string(f.dialect().local)));
            const Combining::State own = Combining::at(shared, "[" + thread + "]");
            add(f, c.assign(own, result));
            f.code.open(text("for (int ", step, " = 1; ", step, " < ", team, "; ", step, " *= 2)"));
            f.code.add(std::string(f.dialect().barrier));
            f.code.open(text("if (", member, " % (2 * ", step, ") == 0)"));
            add(f, c.combine(own, Combining::at(shared, text("[", thread, " + ", step, "]"))));
            f.code.close();
            f.code.close();
            result = own;
        }
        Combining::State partials;
        Place place;
        if (parts > 1) {
            place = place_for(c, chains);
            partials = partials_in(f, c, place, true);
        }
        f.code.open(text("if (", member, " == 0)"));
        print_result(f, c, result, kept, parts > 1 ? chain : "", partials);
        f.code.close();
        given_ = place;
        f.launch(groups_of(chains, teams), 1, group_threads);
    }

    KernelText& kernel_;
    const Reduce& reduce_;
    c_family::ReduceLoops loops_;
    int64_t rows_, count_, blocks_;
    Place given_;  // the results of the launch before
};

void print_body(KernelText& kernel, const Reduce& reduce) { ReducePrinter(kernel, reduce).print(); }

const bool prints_reduce = printers().add<Reduce, print_body>();

}  // namespace

}  // namespace composit::simt
