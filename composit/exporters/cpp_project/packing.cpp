// Constant operands of products, put into the order in which the CPU's kernels read them: once,
// when an exported program first needs them. The order is that of runtime/packing.h.
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/exporters/cpp_project/project.h"

#include <algorithm>

namespace composit::cpp_project {

using ir::kernel::Pack;

namespace {

// LIST, WIDTH_OF_PANEL, PACKS, BYTES and TABLE are replaced.
constexpr const char* packing_text =
    R"(// Constant operands of products, in panels: at each depth some of their rows (of a
// left operand) or columns side by side, zeros behind the last.
struct Packing {
    bool is_left;
    int64_t width;  // of a panel; 0: as many as this CPU's kernels read at once
    int64_t element_bytes;
    int64_t from, to;  // bytes into the constants, and into what is packed
    int64_t offset;    // elements
    int64_t across, depth;       // how many loops
    const int64_t* loops;  // extents and strides of those across, then of those of the depth
};
LISTconstexpr Packing packings[] = {
TABLE};

std::vector<int64_t> offsets_of(const int64_t* extents, int64_t loops) {
    const int64_t* const strides = extents + loops;
    std::vector<int64_t> found{0};
    for (int64_t d = 0; d < loops; ++d) {
        std::vector<int64_t> longer;
        longer.reserve(found.size() * static_cast<std::size_t>(extents[d]));
        for (const int64_t start : found)
            for (int64_t i = 0; i < extents[d]; ++i) longer.push_back(start + i * strides[d]);
        found = std::move(longer);
    }
    return found;
}

template <class Word>
void pack(const Packing& p, const Word* from, Word* to) {
    const std::vector<int64_t> across = offsets_of(p.loops, p.across);
    const std::vector<int64_t> depth = offsets_of(p.loops + 2 * p.across, p.depth);
    const int64_t count = static_cast<int64_t>(across.size());
    const int64_t length = static_cast<int64_t>(depth.size());
    constexpr int64_t run = 16;  // both sides stay in the cache
    for (int64_t begin = 0; begin < count;) {
        const int64_t width = WIDTH_OF_PANEL;
        const int64_t rows = std::min(width, count - begin);
        for (int64_t first = 0; first < length; first += run)
            for (int64_t i = 0; i < width; ++i)
                for (int64_t k = first; k < std::min(length, first + run); ++k)
                    to[k * width + i] =
                        i < rows ? from[p.offset + across[static_cast<std::size_t>(begin + i)] +
                                        depth[static_cast<std::size_t>(k)]]
                                 : Word{0};
        to += width * length;
        begin += width;
    }
}

void pack_all(const char* constants, char* to) {
    for (const Packing& p : packings) {
PACKS    }
}

const char* packed_weights() {
    const std::lock_guard<std::mutex> lock(weights_mutex);
    Weights& all = the_weights();
    if (!all.packed) {
        std::unique_ptr<Memory> memory(new Memory);
        pack_all(all.data(), memory->at_least(BYTES));
        all.packed = std::move(memory);
    }
    return all.packed->at_least(BYTES);
}

)";

}  // namespace

int64_t PackedWeights::place(const Pack& pack, int64_t from, int64_t bytes) {
    const size_t across = pack.across.size();
    const std::vector<int64_t>& strides = pack.from.strides;
    const auto middle = strides.begin() + static_cast<long>(across);
    const std::string loops = join(ir::kernel::concatenate(
        {pack.across, {strides.begin(), middle}, pack.depth, {middle, strides.end()}}));
    const std::string head = text(pack.is_left ? "true" : "false", ", ", pack.panel_width, ", ",
                                  ir::size_of(pack.from.dtype), ", ", from, ", ");
    const std::string tail =
        text(", ", pack.from.offset, ", ", across, ", ", pack.depth.size(), ", ");
    const auto [found, is_new] = places_.emplace(head + tail + loops, bytes_);
    if (!is_new) return found->second;
    sizes_.insert(ir::size_of(pack.from.dtype));
    const size_t number = places_.size();
    lists_ += text("constexpr int64_t loops_", number, "[] = {", loops, "};\n");
    table_ += text("    {", head, bytes_, tail, "loops_", number, "},\n");
    bytes_ += (bytes + 63) / 64 * 64;
    return found->second;
}

std::string PackedWeights::text_of(std::optional<size_t> module) const {
    std::string result = packing_text, packs;
    for (const int64_t size : sizes_) {
        const std::string word = text("uint", 8 * size, "_t");
        packs += text("        if (p.element_bytes == ", size, ")\n            pack(p, ",
                      "reinterpret_cast<const ", word, "*>(constants + p.from),\n                 ",
                      "reinterpret_cast<", word, "*>(to + p.to));\n");
    }
    const std::pair<const char*, std::string> words[] = {
        {"WIDTH_OF_PANEL",
         module ? text("p.width > 0 ? p.width\n                              : kernels_",
                       *module + 1, "().panel_width(p.is_left, p.element_bytes, count - begin)")
                : "p.width"},
        {"PACKS", packs},
        {"LIST", lists_},
        {"TABLE", table_},
        {"BYTES", text(bytes_)}};
    for (const auto& [word, by] : words) {
        const size_t length = std::string(word).size();
        for (size_t at = 0; (at = result.find(word, at)) != std::string::npos; at += by.size())
            result.replace(at, length, by);
    }
    return result;
}

bool reads_panels(const c_family::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(),
                       [](const c_family::PrintedKernel& kernel) { return kernel.reads_panels; });
}

std::optional<size_t> module_that_reads_panels(const Project& project) {
    for (size_t m = 0; m < project.modules.modules.size(); ++m)
        if (reads_panels(project.modules.modules[m])) return m;
    return std::nullopt;
}

}  // namespace composit::cpp_project
