// Prints a Map: one thread an element, or a few that lie side by side.
#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/simt/loops.h"
#include "composit/backends/simt/map_tiles.h"
#include "composit/base/text.h"

#include <algorithm>
#include <utility>

namespace composit::simt {
namespace {

using c_family::LoopNest;
using ir::kernel::Access;
using ir::kernel::Map;

constexpr int64_t least_in_packets = 4096;  // elements of maps that are worth it

bool is_position(const Access& access) { return access.buffer == Access::position; }

// How many elements a thread moves at a time, 16 bytes of the widest: 1 where some access does not
// walk along memory, or may begin between two packets.
int64_t packet_of(const LoopNest& nest) {
    if (nest.extents.empty() || ir::element_count(nest.extents) < least_in_packets) return 1;
    int64_t widest = 4;
    for (const Access& access : nest.accesses)
        if (!is_position(access)) widest = std::max<int64_t>(widest, ir::size_of(access.dtype));
    const int64_t packet = 16 / widest;
    if (nest.extents.back() % packet != 0) return 1;
    for (const Access& access : nest.accesses) {
        if (is_position(access) || access.strides.back() == 0) continue;
        if (access.strides.back() != 1 || access.offset % packet != 0) return 1;
        for (size_t d = 0; d + 1 < access.strides.size(); ++d)
            if (access.strides[d] % packet != 0) return 1;
    }
    return packet;
}

// "float4"
std::string packet_type(ir::DType dtype, int64_t packet) {
    switch (dtype) {
        case ir::DType::float32: return text("float", packet);
        case ir::DType::float64: return text("double", packet);
        case ir::DType::int8: return text("char", packet);
        case ir::DType::int16: return text("short", packet);
        case ir::DType::uint16: return text("ushort", packet);
        case ir::DType::int32: return text("int", packet);
        case ir::DType::uint32: return text("uint", packet);
        case ir::DType::int64: return text("long", packet);
        case ir::DType::uint64: return text("ulong", packet);
        default: return text("uchar", packet);
    }
}

class MapPrinter {
  public:
    MapPrinter(KernelText& kernel, const Map& map, LoopNest nest)
        : map_(map), f_(kernel, kernel.name), nest_(std::move(nest)) {
        f_.index_type(nest_.extents, nest_.accesses);
        packet_ = kernel.dialect.threads_are_loops ? 1 : packet_of(nest_);
        if (packet_ > 1) kernel.printed.needs_alignment = true;
    }

    void print() {
        const int64_t count = ir::element_count(nest_.extents);
        if (f_.dialect().threads_are_loops) return print_in_loops();
        if (packet_ > 1)
            print_packets(count / packet_);
        else
            print_elements(count);
        f_.launch_over(count / packet_);
    }

  private:
    const Access& output(size_t j) const { return nest_.accesses[map_.inputs.size() + j]; }

    void print_elements(int64_t count) {
        const std::string element = f_.thread_number(count);
        print_element(f_.unflatten(element, nest_.extents, "jklmno"));
    }

    // A thread takes some of the rows, or a piece of one.
    void print_in_loops() {
        if (nest_.extents.empty()) {
            print_element({});
            return f_.launch(1, 1, 1);
        }
        const int transposed = c_family::transposed_loop(nest_, map_.inputs.size());
        if (transposed >= 0) return print_in_strips(static_cast<size_t>(transposed));
        const int64_t length = nest_.extents.back();
        const ir::kernel::Extents outer(nest_.extents.begin(), nest_.extents.end() - 1);
        const int64_t rows = ir::element_count(outer);
        const int64_t pieces = groups_of(length, elements_of_thread);
        const int64_t rows_at_a_time = std::max<int64_t>(1, elements_of_thread / length);
        const int64_t shares = rows * pieces, at_a_time = pieces > 1 ? 1 : rows_at_a_time;
        const std::string share = open_share(f_, shares, at_a_time, rows > 1 ? "row" : "piece");
        std::string row = share, begin = "0", end = text(length);
        if (pieces > 1) {
            const std::string piece =
                rows > 1 ? f_.declare("piece", text(share, " % ", pieces)) : share;
            if (rows > 1) row = f_.declare("row", text(share, " / ", pieces));
            begin = f_.declare("begin", text(piece, " * ", elements_of_thread));
            end = f_.declare("end", text(begin, " + ", elements_of_thread, " < ", length, " ? ",
                                         begin, " + ", elements_of_thread, " : ", length));
        }
        std::vector<std::string> indices;
        if (!outer.empty()) indices = f_.unflatten(row, outer, "jklmno");
        indices.push_back(f_.names.claim("i"));
        f_.code.open(text("for (", f_.index(), " ", indices.back(), " = ", begin, "; ",
                          indices.back(), " < ", end, "; ++", indices.back(), ")"));
        print_element(indices);
        f_.code.close();
        close_share(f_, at_a_time);
        f_.launch(groups_of(shares, at_a_time), 1, 1);
    }

    // A thread takes some steps of loop `transposed` and a piece of the last one, through which it
    // goes in strips around them.
    void print_in_strips(size_t transposed) {
        constexpr int64_t steps = 64, piece = 1024;
        const int64_t length = nest_.extents.back(), extent = nest_.extents[transposed];
        const int64_t width = c_family::columns_of_strip(output(0).dtype);
        ir::kernel::Extents shares = nest_.extents;
        shares[transposed] = groups_of(extent, steps);
        shares.back() = groups_of(length, piece);
        std::vector<std::string> indices =
            f_.unflatten(open_share(f_, ir::element_count(shares), 1, "share"), shares, "jklmno");
        const auto open_piece = [&](const std::string& index, const std::string& begin,
                                    int64_t count, int64_t whole, const std::string& step) {
            const std::string end = text(begin, " + ", count);
            f_.code.open(text("for (", f_.index(), " ", index, " = ", begin, "; ", index, " < (",
                              end, " < ", whole, " ? ", end, " : ", whole, "); ", step, ")"));
        };
        const std::string begin = f_.declare("begin", text(indices[transposed], " * ", steps)),
                          start = f_.declare("start", text(indices.back(), " * ", piece));
        const std::string first = f_.names.claim("first");
        open_piece(first, start, piece, length, text(first, " += ", width));
        indices[transposed] = f_.names.claim("r");
        open_piece(indices[transposed], begin, steps, extent, "++" + indices[transposed]);
        indices.back() = f_.names.claim("i");
        open_piece(indices.back(), first, width, length, "++" + indices.back());
        print_element(indices);
        for (int loop = 0; loop < 3; ++loop) f_.code.close();
        f_.launch(ir::element_count(shares), 1, 1);
    }

    void print_element(const std::vector<std::string>& indices) {
        const FunctionText::Computed computed =
            f_.compute(map_.values,
                       {nest_.accesses.begin(),
                        nest_.accesses.begin() + static_cast<std::ptrdiff_t>(map_.inputs.size())},
                       indices);
        for (const std::string& line : computed.lines) f_.code.add(line);
        for (size_t j = 0; j < map_.outputs.size(); ++j)
            f_.code.add(f_.element(output(j), indices) + " = " + computed.results[j] + ";");
    }

    // ----- packets: the last loop in two

    // An access over the loops with the last one in steps of a packet, and over a packet.
    Access in_packets(Access access) const {
        const int64_t step = access.strides.back();
        access.strides.back() = step * packet_;
        access.strides.push_back(step);
        return access;
    }
    Access at_packet(Access access) const {
        access.strides.back() *= packet_;
        return access;
    }
    bool is_whole(const Access& access) const {
        return !is_position(access) && access.strides.back() == 1;
    }
    std::string pointer_to(const Access& access, bool is_written,
                           const std::vector<std::string>& indices) {
        return text("*(", f_.dialect().global, is_written ? "" : "const ",
                    packet_type(access.dtype, packet_), "*)", f_.place(at_packet(access), indices));
    }
    static std::string component(const std::string& type, bool is_written,
                                 const std::string& packet, const std::string& v) {
        return text("((", is_written ? "" : "const ", type, "*)&", packet, ")[", v, "]");
    }

    void print_packets(int64_t count) {
        const std::string number = f_.thread_number(count);
        ir::kernel::Extents extents = nest_.extents;
        extents.back() /= packet_;
        std::vector<std::string> indices = f_.unflatten(number, extents, "jklmno");
        const std::string v = f_.names.claim("v");
        std::vector<std::string> inside = indices;
        inside.push_back(v);
        std::vector<c_family::ValueRead> arguments;
        for (size_t k = 0; k < map_.inputs.size(); ++k) {
            const Access& input = nest_.accesses[k];
            const std::string name = is_position(input) ? "position" : f_.pointer(input);
            if (!is_whole(input)) {
                arguments.push_back(
                    {name + "_value", f_.element(in_packets(input), inside), input.dtype});
                continue;
            }
            const std::string packet =
                f_.declare(packet_type(input.dtype, packet_), text(name, "_", packet_),
                           pointer_to(input, false, indices));
            arguments.push_back({name + "_value",
                                 component(memory_type(input.dtype), false, packet, v),
                                 input.dtype});
        }
        std::vector<std::string> packets;
        for (size_t j = 0; j < map_.outputs.size(); ++j) {
            packets.push_back(f_.names.claim(text(f_.pointer(output(j)), "_", packet_)));
            f_.code.add(text(packet_type(output(j).dtype, packet_), " ", packets.back(), ";"));
        }
        const FunctionText::Computed computed = f_.compute_from(map_.values, arguments);
        f_.code.add("#pragma unroll");
        f_.code.open(text("for (int ", v, " = 0; ", v, " < ", packet_, "; ++", v, ")"));
        for (const std::string& line : computed.lines) f_.code.add(line);
        for (size_t j = 0; j < map_.outputs.size(); ++j)
            f_.code.add(component(memory_type(output(j).dtype), true, packets[j], v) + " = " +
                        computed.results[j] + ";");
        f_.code.close();
        for (size_t j = 0; j < map_.outputs.size(); ++j)
            f_.code.add(pointer_to(output(j), true, indices) + " = " + packets[j] + ";");
    }

    const Map& map_;
    FunctionText f_;
    LoopNest nest_;
    int64_t packet_ = 1;
};

void print_body(KernelText& kernel, const Map& map) {
    if (ir::element_count(map.extents) == 0) return;
    LoopNest nest{map.extents, map.inputs};
    nest.accesses.insert(nest.accesses.end(), map.outputs.begin(), map.outputs.end());
    nest = c_family::sort_and_merge_loops(std::move(nest), map.inputs.size());
    if (!kernel.dialect.threads_are_loops && print_in_tiles(kernel, map, nest)) return;
    MapPrinter(kernel, map, std::move(nest)).print();
}

const bool prints_map = printers().add<Map, print_body>();

}  // namespace

}  // namespace composit::simt
