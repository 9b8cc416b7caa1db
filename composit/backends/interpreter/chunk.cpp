// Loading tiles into chunks and running bodies over them.
#include "composit/backends/interpreter/chunk.h"

namespace composit::interpreter {

Strides2 strides_over(const Operand& operand, const TileLoops& loops) {
    Strides2 strides;
    if (loops.row >= 0) strides.row = operand.strides[static_cast<size_t>(loops.row)];
    if (loops.column >= 0) strides.column = operand.strides[static_cast<size_t>(loops.column)];
    return strides;
}

ChunkEvaluator::ChunkEvaluator(const Body& body, const std::vector<Operand>& operands,
                               const TileLoops& loops, const Memory& memory, const KernelSet& set,
                               ScratchScope& scratch)
    : body_(body), slots_(body.slot_count(), nullptr) {
    body.bind(slots_.data(), scratch.take(body.scratch_bytes()));
    for (size_t k = 0; k < body.input_count(); ++k) {
        if (!body.reads(k)) continue;
        Input input;
        input.number = k;
        input.strides = strides_over(operands[k], loops);
        input.size = operands[k].size();
        if (!operands[k].is_position()) {
            input.base = memory[static_cast<size_t>(operands[k].buffer)];
            input.copy = set.copy[size_class(operands[k].dtype)];
        }
        input.chunk = scratch.take(chunk_elements * input.size + 128);
        inputs_.push_back(input);
    }
}

bool ChunkEvaluator::load(Input& input, int64_t offset, int64_t rows, int64_t columns) {
    if (input.offset == offset && input.rows == rows && input.columns == columns) return false;
    // A value that is the same everywhere fills the whole chunk once, whatever part of it is used.
    if (is_uniform(input) && input.offset == offset && rows * columns <= input.rows * input.columns)
        return false;
    input.offset = offset;
    input.rows = rows;
    input.columns = columns;
    if (input.copy != nullptr) {
        input.copy(input.base + offset * input.size, input.strides, input.chunk, {columns, 1}, rows,
                   columns);
        return true;
    }
    auto* to = reinterpret_cast<int64_t*>(input.chunk);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
            *to++ = offset + r * input.strides.row + c * input.strides.column;
    return true;
}

void ChunkEvaluator::evaluate(const std::vector<int64_t>& offsets, int64_t rows, int64_t columns) {
    const bool has_uniform_part = body_.has_uniform_part();
    for (Input& input : inputs_) {
        const int64_t offset = offsets[input.number];
        const bool is_in_place =
            input.copy != nullptr && (columns == 1 || input.strides.column == 1) &&
            (rows == 1 || input.strides.row == columns) && !(has_uniform_part && is_uniform(input));
        if (is_in_place) {
            slots_[input.number] = const_cast<char*>(input.base) + offset * input.size;
        } else {
            if (load(input, offset, rows, columns) && is_uniform(input)) uniform_elements_ = 0;
            slots_[input.number] = input.chunk;
        }
    }
    const int64_t count = rows * columns;
    if (has_uniform_part && count > uniform_elements_) {
        body_.run_uniform_part(slots_.data(), count);
        uniform_elements_ = count;
    }
    body_.run(slots_.data(), count);
}

}  // namespace composit::interpreter
