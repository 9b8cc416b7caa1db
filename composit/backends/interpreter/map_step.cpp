// Map: tiles of the loop nest, the body over each.
#include "composit/backends/interpreter/step.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace composit::interpreter {

namespace {

// How the last loop (columns) and one other (rows) are cut into tiles of at most chunk_elements.
struct Tiling {
    TileLoops loops;
    int64_t rows = 1, columns = 1;  // of a full tile
    int64_t row_extent = 1, column_extent = 1;
    int64_t row_tiles() const { return (row_extent + rows - 1) / rows; }
    int64_t column_tiles() const { return (column_extent + columns - 1) / columns; }
};

constexpr int64_t long_row = 512, transposed_columns = 32;
// Of a tile that needs no chunk: enough that its call takes no time, few enough for threads.
constexpr int64_t direct_elements = 8192;

// A loop along which an operand lies side by side while it strides over the last one: a transposed
// operand; -1: none.
int transposed_loop(const Nest& nest) {
    const size_t last = nest.extents.size() - 1;
    for (const Operand& operand : nest.operands) {
        if (std::llabs(operand.strides[last]) <= 1) continue;
        for (size_t d = 0; d < last; ++d)
            if (operand.strides[d] == 1) return static_cast<int>(d);
    }
    return -1;
}

Tiling choose_tiling(const Nest& nest) {
    Tiling t;
    if (nest.rank() == 0) return t;
    const int last = nest.rank() - 1;
    t.loops.column = last;
    t.column_extent = nest.extents.back();
    const int transposed = transposed_loop(nest);
    if (t.column_extent >= long_row && transposed < 0) {
        const int64_t pieces = (t.column_extent + chunk_elements - 1) / chunk_elements;
        const int64_t even = (t.column_extent + pieces - 1) / pieces;
        t.columns = std::min(chunk_elements, (even + 31) / 32 * 32);
        return t;
    }
    t.columns = transposed < 0 ? t.column_extent : std::min(t.column_extent, transposed_columns);
    if (last == 0) {
        t.columns = std::min(t.columns, chunk_elements);
        return t;
    }
    t.loops.row = transposed < 0 ? last - 1 : transposed;
    t.row_extent = nest.extents[static_cast<size_t>(t.loops.row)];
    t.rows = std::min(t.row_extent,
                      std::max<int64_t>(1, chunk_elements / std::max<int64_t>(1, t.columns)));
    return t;
}

// Bytes that an access may touch, as a range within memory that can be compared with others'.
struct Place {
    int buffer;
    int64_t begin, end;  // in the arena; only for temporaries
};

Place place_of(const Program& program, int buffer) {
    if (static_cast<size_t>(buffer) >= program.buffers.size()) return {buffer, 0, 0};  // a step's
    const auto& b = program.buffers[static_cast<size_t>(buffer)];
    if (b.arena_offset < 0) return {buffer, 0, 0};
    return {buffer, b.arena_offset, b.arena_offset + b.bytes};
}

bool may_share_memory(const Program& program, const Operand& a, const Operand& b) {
    if (a.is_position() || b.is_position()) return false;
    if (a.buffer == b.buffer) return true;
    const Place x = place_of(program, a.buffer), y = place_of(program, b.buffer);
    return x.begin < y.end && y.begin < x.end;
}

class MapStep : public Step {
  public:
    MapStep(const ir::kernel::Map& map, const Program& program, const KernelSet& set)
        : set_(set),
          nest_(nest_of(map)),
          tiling_(choose_tiling(nest_)),
          body_(map.values, map.inputs.size(), set, uniform_inputs(map.inputs.size())) {
        for (int d = 0; d < nest_.rank(); ++d)
            if (d != tiling_.loops.row && d != tiling_.loops.column) outer_loops_.push_back(d);
        for (size_t j = 0; j < map.outputs.size(); ++j)
            is_direct_.push_back(writes_directly(j, program));
        copies_ = body_.is_identity() && !nest_.operands[0].is_position() &&
                  !may_share_memory(program, output(0), nest_.operands[0]);
        lengthen_tiles();
    }

    void run(const Memory& memory, const runtime::Run& run) const override {
        if (nest_.iterations() == 0) return;
        int64_t tiles = tiling_.row_tiles() * tiling_.column_tiles();
        for (const int d : outer_loops_) tiles *= nest_.extents[static_cast<size_t>(d)];
        split(run, tiles, static_cast<double>(nest_.iterations()),
              [&](int64_t begin, int64_t end) { run_tiles(memory, begin, end); });
    }

  private:
    static Nest nest_of(const ir::kernel::Map& map) {
        Nest nest;
        nest.extents = map.extents;
        for (const auto& access : map.inputs) nest.operands.emplace_back(access);
        for (const auto& access : map.outputs) nest.operands.emplace_back(access);
        sort_loops(nest, map.inputs.size());
        collapse(nest);
        return nest;
    }

    // Those that are the same all over a tile.
    std::vector<bool> uniform_inputs(size_t count) const {
        std::vector<bool> found;
        for (size_t k = 0; k < count; ++k) {
            const Strides2 strides = strides_over(nest_.operands[k], tiling_.loops);
            found.push_back(strides.row == 0 && strides.column == 0 &&
                            !nest_.operands[k].is_position());
        }
        return found;
    }

    // Tiles of one row whose operands are all read and written where they lie need no chunk.
    void lengthen_tiles() {
        if (tiling_.rows > 1 || tiling_.columns == tiling_.column_extent) return;
        bool needs_none = body_.is_without_registers() &&
                          std::all_of(is_direct_.begin(), is_direct_.end(), std::identity());
        for (size_t k = 0; k < body_.input_count(); ++k)
            needs_none = needs_none && !nest_.operands[k].is_position() &&
                         strides_over(nest_.operands[k], tiling_.loops).column == 1;
        if (needs_none || copies_)
            tiling_.columns = std::min(tiling_.column_extent, direct_elements);
    }

    const Operand& output(size_t j) const { return nest_.operands[body_.input_count() + j]; }

    // The body may write every tile of this output in place: its elements lie side by side, and
    // nothing that is read later shares their memory.
    bool writes_directly(size_t j, const Program& program) const {
        const Strides2 strides = strides_over(output(j), tiling_.loops);
        if (tiling_.columns > 1 && strides.column != 1) return false;
        if (tiling_.rows > 1 &&
            (strides.row != tiling_.columns || tiling_.columns != tiling_.column_extent))
            return false;
        for (size_t k = 0; k < body_.input_count(); ++k)
            if (may_share_memory(program, output(j), nest_.operands[k]) && body_.reads_after(j, k))
                return false;
        return true;
    }

    // From where the elements are to where they belong, without a chunk between.
    void copy_tiles(const Memory& memory, int64_t begin, int64_t end) const {
        const Operand& input = nest_.operands[0];
        const Strides2 read = strides_over(input, tiling_.loops),
                       write = strides_over(output(0), tiling_.loops);
        const CopyKernel copy = set_.copy[size_class(input.dtype)];
        const char* const from = memory[static_cast<size_t>(input.buffer)];
        std::vector<int64_t> offsets(nest_.operands.size());
        for (int64_t tile = begin; tile < end; ++tile) {
            int64_t rows = 0, columns = 0;
            locate(tile, offsets, rows, columns);
            copy(from + offsets[0] * input.size(), read, output_at(memory, 0, offsets), write, rows,
                 columns);
        }
    }

    void run_tiles(const Memory& memory, int64_t begin, int64_t end) const {
        if (copies_) return copy_tiles(memory, begin, end);
        ScratchScope scratch;
        ChunkEvaluator evaluator(body_, nest_.operands, tiling_.loops, memory, set_, scratch);
        std::vector<char*> staged(is_direct_.size(), nullptr);
        for (size_t j = 0; j < is_direct_.size(); ++j)
            if (!is_direct_[j]) staged[j] = scratch.take(chunk_elements * output(j).size());
        std::vector<int64_t> offsets(nest_.operands.size());
        for (int64_t tile = begin; tile < end; ++tile) {
            int64_t rows = 0, columns = 0;
            locate(tile, offsets, rows, columns);
            for (size_t j = 0; j < is_direct_.size(); ++j)
                evaluator.set_result(j, staged[j] ? staged[j] : output_at(memory, j, offsets));
            evaluator.evaluate(offsets, rows, columns);
            for (size_t j = 0; j < is_direct_.size(); ++j)
                if (staged[j])
                    set_.copy[size_class(output(j).dtype)](
                        staged[j], {columns, 1}, output_at(memory, j, offsets),
                        strides_over(output(j), tiling_.loops), rows, columns);
        }
    }

    char* output_at(const Memory& memory, size_t j, const std::vector<int64_t>& offsets) const {
        return memory[static_cast<size_t>(output(j).buffer)] +
               offsets[body_.input_count() + j] * output(j).size();
    }

    // Offsets of every operand at a tile's first element, and the tile's size.
    void locate(int64_t tile, std::vector<int64_t>& offsets, int64_t& rows,
                int64_t& columns) const {
        const int64_t column = tile % tiling_.column_tiles() * tiling_.columns;
        tile /= tiling_.column_tiles();
        const int64_t row = tile % tiling_.row_tiles() * tiling_.rows;
        tile /= tiling_.row_tiles();
        rows = std::min(tiling_.rows, tiling_.row_extent - row);
        columns = std::min(tiling_.columns, tiling_.column_extent - column);
        for (size_t k = 0; k < offsets.size(); ++k) {
            const Strides2 strides = strides_over(nest_.operands[k], tiling_.loops);
            offsets[k] = nest_.operands[k].offset + row * strides.row + column * strides.column;
        }
        for (size_t i = outer_loops_.size(); i-- > 0;) {
            const int d = outer_loops_[i];
            const int64_t extent = nest_.extents[static_cast<size_t>(d)];
            add_offsets(nest_, d, d + 1, tile % extent, offsets);
            tile /= extent;
        }
    }

    const KernelSet& set_;
    Nest nest_;  // inputs, then outputs
    Tiling tiling_;
    Body body_;
    std::vector<int> outer_loops_;
    std::vector<bool> is_direct_;
    bool copies_ = false;  // the value is the only input, which shares no memory with the output
};

StepRef step_of(const Program& program, const KernelSet& set, const ir::kernel::Map& map) {
    return std::make_unique<MapStep>(map, program, set);
}

const bool runs_map = steps().add<ir::kernel::Map, step_of>();

}  // namespace

}  // namespace composit::interpreter
