// Moves elements between row-major order and panels.
#include "composit/runtime/packing.h"

#include "composit/base/error.h"
#include "composit/base/text.h"

#include <algorithm>
#include <cstring>

namespace composit::runtime {
namespace {

using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Extents;
using ir::kernel::Kernel;
using ir::kernel::Pack;
using ir::kernel::Program;

// Address of every index of some loops, row-major.
std::vector<int64_t> offsets(const Extents& extents, const int64_t* strides) {
    std::vector<int64_t> found{0};
    for (size_t d = 0; d < extents.size(); ++d) {
        std::vector<int64_t> longer;
        longer.reserve(found.size() * static_cast<size_t>(extents[d]));
        for (int64_t start : found)
            for (int64_t i = 0; i < extents[d]; ++i) longer.push_back(start + i * strides[d]);
        found = std::move(longer);
    }
    return found;
}

// Whether the loops of an access meet each of `count` elements once.
bool meets_each_once(const Extents& extents, const std::vector<int64_t>& strides, int64_t offset,
                     int64_t count) {
    std::vector<std::pair<int64_t, int64_t>> loops;  // by step
    int64_t lowest = offset;
    for (size_t d = 0; d < extents.size(); ++d) {
        if (extents[d] == 1) continue;
        lowest += std::min<int64_t>(0, strides[d] * (extents[d] - 1));
        loops.emplace_back(std::abs(strides[d]), extents[d]);
    }
    std::sort(loops.begin(), loops.end());
    int64_t met = 1;
    for (const auto& [step, length] : loops) {
        if (step != met) return false;
        met *= length;
    }
    return lowest == 0 && met == count;
}

struct Panel {
    int64_t begin, width;
};

// One operand in panels.
class Panels {
  public:
    Panels(const Pack& pack, const PanelWidth& panel_width)
        : across_(offsets(pack.across, pack.from.strides.data())),
          depth_(offsets(pack.depth, pack.from.strides.data() + pack.across.size())),
          offset_(pack.from.offset) {
        const auto count = static_cast<int64_t>(across_.size());
        for (int64_t at = 0; at < count; at += panels_.back().width)
            panels_.push_back({at, pack.panel_width > 0
                                       ? pack.panel_width
                                       : panel_width(pack.is_left, pack.from.dtype, count - at)});
    }

    int64_t count() const { return static_cast<int64_t>(panels_.size()); }
    int64_t elements() const {  // with those that fill up
        return panels_.empty() ? 0 : (panels_.back().begin + panels_.back().width) * depth();
    }

    // "12 12 4 1"
    std::string widths() const {
        std::string result;
        for (const Panel& panel : panels_) result += text(panel.width, " ");
        return result;
    }

    template <class Word>
    void pack(const Word* from, Word* to, int64_t number) const {
        const Panel& panel = panels_[static_cast<size_t>(number)];
        to += panel.begin * depth();
        if (is_consecutive(panel)) {
            const Word* start = from + offset_ + across_[static_cast<size_t>(panel.begin)];
            for (int64_t k = 0; k < depth(); ++k)
                std::memcpy(to + k * panel.width, start + depth_[static_cast<size_t>(k)],
                            static_cast<size_t>(panel.width) * sizeof(Word));
            return;
        }
        for_each(panel, [&](int64_t element, int64_t place) {
            to[place] = element < 0 ? Word{0} : from[element];
        });
    }

    template <class Word>
    void unpack(const Word* from, Word* to) const {
        for (const Panel& panel : panels_) {
            const Word* start = from + panel.begin * depth();
            for_each(panel, [&](int64_t element, int64_t place) {
                if (element >= 0) to[element] = start[place];
            });
        }
    }

  private:
    int64_t depth() const { return static_cast<int64_t>(depth_.size()); }
    int64_t rows_of(const Panel& panel) const {
        return std::min(panel.width, static_cast<int64_t>(across_.size()) - panel.begin);
    }

    bool is_consecutive(const Panel& panel) const {
        if (rows_of(panel) < panel.width) return false;
        const int64_t* first = &across_[static_cast<size_t>(panel.begin)];
        for (int64_t i = 1; i < panel.width; ++i)
            if (first[i] != first[0] + i) return false;
        return true;
    }

    // visit(element, place): the number of an element in the array, -1 for what fills up, and of
    // its place in the panel. Along the depth in short runs, so that both sides stay in the cache.
    template <class Visit>
    void for_each(const Panel& panel, const Visit& visit) const {
        constexpr int64_t run = 16;
        const int64_t rows = rows_of(panel);
        for (int64_t begin = 0; begin < depth(); begin += run) {
            const int64_t end = std::min(depth(), begin + run);
            for (int64_t i = 0; i < panel.width; ++i) {
                if (i >= rows) {
                    for (int64_t k = begin; k < end; ++k) visit(-1, k * panel.width + i);
                    continue;
                }
                const int64_t row = offset_ + across_[static_cast<size_t>(panel.begin + i)];
                for (int64_t k = begin; k < end; ++k)
                    visit(row + depth_[static_cast<size_t>(k)], k * panel.width + i);
            }
        }
    }

    std::vector<int64_t> across_, depth_;
    int64_t offset_;
    std::vector<Panel> panels_;
};

// Calls f for the unsigned integers of an element's size.
template <class F>
void with_words(const void* from, void* to, int size, const F& f) {
    if (size == 1) return f(static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to));
    if (size == 2) return f(static_cast<const uint16_t*>(from), static_cast<uint16_t*>(to));
    if (size == 4) return f(static_cast<const uint32_t*>(from), static_cast<uint32_t*>(to));
    internal_check(size == 8, "elements of ", size, " bytes are not packed");
    f(static_cast<const uint64_t*>(from), static_cast<uint64_t*>(to));
}

// `parallel_for` lives as long as `arrange` is called.
ir::Arrangement order_of(const Pack& pack, const Program& program, const PanelWidth& panel_width,
                         const ParallelFor& parallel_for) {
    const auto panels = std::make_shared<const Panels>(pack, panel_width);
    const Buffer& from = program.buffers[static_cast<size_t>(pack.from.buffer)];
    const Buffer& to = program.buffers[static_cast<size_t>(pack.to.buffer)];
    const int size = ir::size_of(pack.from.dtype);
    internal_check(panels->elements() * size <= to.bytes, "panels of ", panels->elements(),
                   " elements do not fit into ", to.bytes, " bytes of ", to.name);
    ir::Arrangement order;
    order.key = text(join(pack.across), ";", join(pack.depth), ";", join(pack.from.strides), ";",
                     pack.from.offset, ";", panels->widths());
    order.bytes = to.bytes;
    order.arrange = [panels, size, &parallel_for](const void* row_major, void* arranged) {
        with_words(row_major, arranged, size, [&](const auto* source, auto* target) {
            const auto one = [&](int64_t panel) { panels->pack(source, target, panel); };
            if (parallel_for) return parallel_for(panels->count(), one);
            for (int64_t panel = 0; panel < panels->count(); ++panel) one(panel);
        });
    };
    if (meets_each_once(ir::kernel::concatenate({pack.across, pack.depth}), pack.from.strides,
                        pack.from.offset, from.value.size()))
        order.restore = [panels, size](const void* arranged, void* row_major) {
            with_words(arranged, row_major, size,
                       [&](const auto* source, auto* target) { panels->unpack(source, target); });
        };
    return order;
}

std::vector<bool> read_in_row_major_order(const Program& program) {
    std::vector<bool> is_read(program.buffers.size(), false);
    for (const Kernel& kernel : program.kernels)
        if (!std::holds_alternative<Pack>(kernel.body))
            for (int number : ir::kernel::buffers_read(kernel))
                is_read[static_cast<size_t>(number)] = true;
    return is_read;
}

}  // namespace

std::vector<std::shared_ptr<const void>> memory_of_constants(const Program& program,
                                                             const PanelWidth& panel_width,
                                                             const ParallelFor& parallel_for) {
    std::vector<std::shared_ptr<const void>> memory(program.buffers.size());
    const std::vector<bool> is_read = read_in_row_major_order(program);
    // First, so that what is read in both orders is not given up.
    for (size_t b = 0; b < memory.size(); ++b)
        if (program.buffers[b].kind == BufferKind::constant && is_read[b])
            memory[b] = program.buffers[b].value.row_major();
    for (const Kernel& kernel : program.kernels)
        if (const auto* pack = std::get_if<Pack>(&kernel.body); pack && pack->is_of_constant)
            memory[static_cast<size_t>(pack->to.buffer)] =
                program.buffers[static_cast<size_t>(pack->from.buffer)].value.arranged(
                    order_of(*pack, program, panel_width, parallel_for));
    return memory;
}

int64_t bytes_of_packed_constants(const Program& program) {
    int64_t bytes = 0;
    for (const Kernel& kernel : program.kernels)
        if (const auto* pack = std::get_if<Pack>(&kernel.body); pack && pack->is_of_constant)
            bytes += program.buffers[static_cast<size_t>(pack->to.buffer)].bytes;
    return bytes;
}

}  // namespace composit::runtime
