#include "composit/backends/simt/contract_copies.h"

#include "composit/base/error.h"
#include "composit/base/text.h"

#include <cstdlib>
#include <utility>

namespace composit::simt {

using ir::kernel::Access;

namespace {

constexpr const char* components[] = {"x", "y", "z", "w"};

bool are_multiples(const std::vector<int64_t>& strides, int64_t of) {
    for (const int64_t stride : strides)
        if (stride % of != 0) return false;
    return true;
}

// Whether the access walks along memory in its last loop, in steps of whole packets elsewhere.
bool runs_in_packets(const Access& access, const ir::kernel::Extents& extents, int64_t packet) {
    if (extents.empty() || access.strides.back() != 1 || extents.back() % packet != 0) return false;
    return are_multiples({access.strides.begin(), access.strides.end() - 1}, packet);
}

int64_t last_stride(const Access& access) {
    return access.strides.empty() ? 0 : std::abs(access.strides.back());
}

}  // namespace

ContractCopies::ContractCopies(FunctionText& f, const ContractArithmetic& arithmetic,
                               const ContractOperand& operand, std::string name, std::string end,
                               const ir::kernel::Extents& depth_extents, int64_t across,
                               int64_t depth, int64_t threads)
    : f_(f),
      arithmetic_(arithmetic),
      operand_(operand),
      depth_extents_(depth_extents),
      name_(std::move(name)),
      end_(std::move(end)),
      across_count_(ir::element_count(*operand.across_extents)),
      depth_count_(ir::element_count(depth_extents)),
      across_(across),
      depth_(depth),
      threads_(threads),
      bytes_(ir::size_of(arithmetic.dtype)) {
    choose();
    internal_check(loading_threads_ % side_ == 0, "simt: ", threads, " threads copy a tile of ",
                   across, " x ", depth);
}

void ContractCopies::choose() {
    const int64_t packet = packet_length();
    const Access &across = operand_.across, &in_depth = operand_.depth;
    const bool others_fit =
        operand_.batch.offset % packet == 0 && are_multiples(operand_.batch.strides, packet);
    int64_t length = 1;
    if (others_fit && across_ % packet == 0 && are_multiples(in_depth.strides, packet) &&
        runs_in_packets(across, *operand_.across_extents, packet))
        direction_ = Direction::across, length = packet;
    else if (others_fit && are_multiples(across.strides, packet) &&
             runs_in_packets(in_depth, depth_extents_, packet))
        direction_ = Direction::depth, length = packet;
    const int64_t slots = across_ * depth_ / length;
    loads_ = (slots + threads_ - 1) / threads_;
    loading_threads_ = slots / loads_;
    runs_across_ = direction_ == Direction::across ||
                   (direction_ == Direction::single &&
                    (last_stride(in_depth) != 1 || last_stride(across) == 1));
    // Neighbouring threads along what lies side by side, the other index from load to load.
    if (runs_across_) {
        const int64_t side = across_ / length;
        // Where an element's place along the depth is long to find, a thread keeps to one depth.
        keeps_depth_ = depth_extents_.size() > 1 && loading_threads_ % depth_ == 0 &&
                       side % (loading_threads_ / depth_) == 0;
        side_ = keeps_depth_ ? loading_threads_ / depth_ : side;
        return;
    }
    side_ = depth_ / length;
    // Which threads write at a time, and so what the turn must tell apart.
    const int64_t banks = 128 / bytes_;
    if (across_ % banks != 0) return;
    if (direction_ == Direction::depth)
        turn_ = {packet, 4, banks / 4};
    else
        turn_ = {1, banks / packet, packet};
}

std::string ContractCopies::packet_type() const {
    const std::string& type = arithmetic_.memory;
    if (type == "float") return "float4";
    if (type == "double") return "double2";
    return bytes_ == 4 ? "uint4" : "ulong2";
}

std::string ContractCopies::turned(const std::string& across, const std::string& k) const {
    if (turn_.factor == 0) return across;
    const std::string number = turn_.divisor == 1 ? k : text(k, " / ", turn_.divisor);
    return text("((", across, ") ^ (", number, ") % ", turn_.modulus, " * ", turn_.factor, ")");
}

void ContractCopies::declare(const std::string& first, const std::vector<std::string>& batch,
                             const std::string& thread) {
    const std::string packets = packet_type(), type = element_type();
    const std::string_view local = f_.dialect().local_pointer;
    const std::string shared =
        f_.local_array(packets, name_ + "_packets", 2 * tile_elements() / packet_length());
    tile_ = f_.names.claim(name_ + "_tile");
    f_.code.add(text(local, type, "* const ", tile_, " = (", local, type, "*)", shared, ";"));
    memory_ = f_.names.claim(name_ + "_memory_of_group");
    f_.code.add(text(f_.dialect().global, "const ", type, "* const ", memory_, " = (",
                     f_.dialect().global, "const ", type, "*)", f_.place(operand_.batch, batch),
                     ";"));
    const int64_t length = reads_packets() ? packet_length() : 1;
    const auto times = [](const std::string& value, int64_t factor) {
        return factor == 1 ? value : text("(", value, ") * ", factor);
    };
    const std::string within = text(thread, " % ", side_), beyond = text(thread, " / ", side_);
    const bool is_across = runs_across_;
    x0_ = f_.declare("int", name_ + "_x", is_across ? times(within, length) : beyond);
    k0_ = f_.declare("int", name_ + "_k", is_across ? beyond : times(within, length));
    const int64_t others = loading_threads_ / side_;
    x_step_ = is_across ? (keeps_depth_ ? side_ * length : 0) : others;
    k_step_ = is_across ? (keeps_depth_ ? 0 : others) : 0;
    // Rows beyond the end are those of the last one: their sums are not stored.
    places_ = f_.names.claim(name_ + "_places");
    next_ = f_.names.claim(name_ + "_next");
    const int64_t count = x_step_ == 0 ? 1 : loads_;
    f_.code.add(text(f_.index(), " ", places_, "[", count, "];"));
    f_.code.add(text(reads_packets() ? packets : type, " ", next_, "[", loads_, "];"));
    f_.code.add("#pragma unroll");
    const std::string l = f_.names.claim("l");
    f_.code.open(text("for (int ", l, " = 0; ", l, " < ", count, "; ++", l, ")"));
    std::string x = text(first, " + ", x0_);
    if (x_step_ != 0) x += text(" + ", l, " * ", x_step_);
    x = f_.declare("x", x);
    if (across_count_ % across_ != 0) {
        const int64_t last = across_count_ - (direction_ == Direction::across ? length : 1);
        x = f_.declare("inside", text(x, " < ", last, " ? ", x, " : ", last));
    }
    const std::vector<std::string> indices = f_.unflatten(x, *operand_.across_extents, "jklmno");
    f_.code.add(
        text(places_, "[", l, "] = ", c_family::address_text(operand_.across, indices), ";"));
    f_.code.close();
    thread_ = thread;
}

void ContractCopies::open_loads() {
    l_ = f_.names.claim("l");
    if (loading_threads_ < threads_)
        f_.code.open(text("if (", thread_, " < ", loading_threads_, ")"));
    f_.code.add("#pragma unroll");
    f_.code.open(text("for (int ", l_, " = 0; ", l_, " < ", loads_, "; ++", l_, ")"));
}

void ContractCopies::close_loads() {
    f_.code.close();
    if (loading_threads_ < threads_) f_.code.close();
}

std::string ContractCopies::step(const std::string& from, int64_t step) const {
    return step == 0 ? from : text(from, " + ", l_, " * ", step);
}

void ContractCopies::load(const std::string& begin) {
    open_loads();
    const std::string k = f_.declare("at", text(begin, " + ", step(k0_, k_step_)));
    const bool may_end = depth_count_ % depth_ != 0;
    if (may_end) f_.code.open(text("if (", k, " < ", depth_count_, ")"));
    const std::vector<std::string> indices = f_.unflatten(k, depth_extents_, "pqrstu");
    const std::string place = text(places_, "[", x_step_ == 0 ? "0" : l_, "] + ",
                                   c_family::address_text(operand_.depth, indices));
    const std::string next = text(next_, "[", l_, "]");
    if (reads_packets())
        f_.code.add(text(next, " = *(", f_.dialect().global, "const ", packet_type(), "*)(",
                         memory_, " + ", place, ");"));
    else
        f_.code.add(text(next, " = ", memory_, "[", place, "];"));
    if (may_end) {
        f_.code.close();
        f_.code.open("else");
        if (!reads_packets()) f_.code.add(text(next, " = ", end_, ";"));
        for (int64_t v = 0; reads_packets() && v < packet_length(); ++v)
            f_.code.add(text(next, ".", components[v], " = ", end_, ";"));
        f_.code.close();
    }
    close_loads();
}

void ContractCopies::store(const std::string& start) {
    open_loads();
    const std::string k = f_.declare("int", "at", step(k0_, k_step_));
    const std::string x = f_.declare("int", "x", turned(step(x0_, x_step_), k));
    const std::string next = text(next_, "[", l_, "]");
    const auto place = [&](int64_t later) {
        return text(start, " + (", k, later == 0 ? "" : text(" + ", later), ") * ", across_, " + ",
                    x);
    };
    if (direction_ == Direction::across)
        f_.code.add(text("*(", f_.dialect().local_pointer, packet_type(), "*)(", tile_, " + ",
                         place(0), ") = ", next, ";"));
    else if (direction_ == Direction::depth)
        for (int64_t v = 0; v < packet_length(); ++v)
            f_.code.add(text(tile_, "[", place(v), "] = ", next, ".", components[v], ";"));
    else
        f_.code.add(text(tile_, "[", place(0), "] = ", next, ";"));
    close_loads();
}

void ContractCopies::read(const std::string& to, int64_t count, int64_t threads_across,
                          const std::string& thread_across, const std::string& start,
                          const std::string& k) {
    const int64_t packet = packet_length();
    const std::string row = text(start, " + ", k, " * ", across_, " + ");
    if (count < packet) {
        for (int64_t i = 0; i < count; ++i)
            f_.code.add(text(to, "[", i, "] = ", tile_, "[", row,
                             turned(text(thread_across, " + ", i * threads_across), k), "];"));
        return;
    }
    for (int64_t chunk = 0; chunk < count / packet; ++chunk) {
        const std::string x =
            text(thread_across, " * ", packet, " + ", chunk * threads_across * packet);
        const std::string name =
            f_.declare(packet_type(), text(name_, "_", chunk),
                       text("*(", f_.dialect().local_pointer, "const ", packet_type(), "*)(", tile_,
                            " + ", row, turned(x, k), ")"));
        for (int64_t v = 0; v < packet; ++v)
            f_.code.add(text(to, "[", chunk * packet + v, "] = ", name, ".", components[v], ";"));
    }
}

std::string ContractCopies::place_of(int64_t count, int64_t threads_across,
                                     const std::string& thread_across, const std::string& i) const {
    const int64_t packet = packet_length();
    if (count < packet) return text(thread_across, " + ", i, " * ", threads_across);
    if (count == packet) return text(thread_across, " * ", packet, " + ", i);
    return text(i, " / ", packet, " * ", threads_across * packet, " + ", thread_across, " * ",
                packet, " + ", i, " % ", packet);
}

}  // namespace composit::simt
