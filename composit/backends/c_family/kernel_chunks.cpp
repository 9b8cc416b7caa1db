// Decides between rows and columns, and prints the loops that fill chunks.
#include "composit/backends/c_family/kernel_chunks.h"

#include "composit/base/text.h"

#include <algorithm>
#include <cstdlib>

namespace composit::c_family {

using ir::kernel::Access;
using ir::kernel::Combiner;

const Access* ChunkedValue::plain_input() const {
    if (value.op() != ir::scalar::Op::argument) return nullptr;
    const Access& input = inputs[static_cast<size_t>(value.index())];
    return input.buffer == Access::position ? nullptr : &input;
}

int64_t ChunkedValue::column_strip() const { return 512 / ir::size_of(dtype()); }

std::string operation_of(Combiner combiner) {
    switch (combiner) {
        case Combiner::sum: return "Sum";
        case Combiner::product: return "Product";
        case Combiner::maximum: return "Maximum";
        case Combiner::minimum: return "Minimum";
        case Combiner::any: return "Any";
        case Combiner::all: return "All";
        case Combiner::argmax: return "First::Larger";
        case Combiner::argmin: return "First::Smaller";
    }
    return "";
}

std::string chunk_header(const std::string& index, int64_t count) {
    constexpr int64_t long_count = 1 << 21;  // prelude/pieces.h
    return text("for (int64_t ", index, " = 0; ", index, " < ", count,
                count > long_count ? text(" && goes_on_at(", index, ")") : "", "; ", index,
                " += ", chunk_length, ")");
}

std::string piece_text(int64_t whole, const std::string& at, int64_t piece) {
    if (whole <= piece) return text(whole);
    if (whole % piece == 0) return text(piece);
    return text(whole, " - ", at, " < ", piece, " ? ", whole, " - ", at, " : ", piece);
}

void print_fill(KernelText& writer, const ChunkedValue& value, const std::string& target,
                const std::vector<std::string>& headers, const std::vector<std::string>& kept,
                const std::vector<std::string>& ordered) {
    std::vector<std::string> indices = kept;
    indices.insert(indices.end(), ordered.begin(), ordered.end());
    ComputedValues computed = writer.compute({value.value}, value.inputs, indices);
    computed.lines.push_back(target + " = " + computed.results[0] + ";");
    writer.code.nest(headers, computed.lines);
}

}  // namespace composit::c_family
