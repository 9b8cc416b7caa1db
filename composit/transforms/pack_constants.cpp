// Constant operands of products, packed when the program is made ready and not at every run.
#include "composit/ir/operation.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <map>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Contract;
using ir::kernel::Kernel;
using ir::kernel::Pack;
using ir::kernel::Program;
using ir::kernel::Repeat;

namespace {

constexpr int64_t least_bytes = 16 << 10;  // smaller operands are packed as quickly as found
constexpr int64_t widest_tile = 32;        // columns of a register tile, at most

Access part(const Access& access, size_t first, size_t count, size_t then, size_t then_count) {
    Access result = access;
    const auto at = [&](size_t i) {
        return access.strides.begin() + static_cast<std::ptrdiff_t>(i);
    };
    result.strides.assign(at(first), at(first + count));
    result.strides.insert(result.strides.end(), at(then), at(then + then_count));
    return result;
}

// Columns lie side by side in the output and fill tiles: back ends leave the sides as they are.
bool keeps_its_sides(const Contract& c) {
    if (ir::element_count(c.columns) < widest_tile) return false;
    for (size_t d = c.columns.size(); d-- > 0;)
        if (c.columns[d] != 1) return c.output.strides[c.batch.size() + c.rows.size() + d] == 1;
    return false;
}

class Packer {
  public:
    explicit Packer(Program program) : program_(std::move(program)) {}

    Program run() {
        std::vector<Kernel> kernels = std::move(program_.kernels);
        pack(kernels);
        packs_.insert(packs_.end(), std::make_move_iterator(kernels.begin()),
                      std::make_move_iterator(kernels.end()));
        program_.kernels = std::move(packs_);
        return std::move(program_);
    }

  private:
    void pack(std::vector<Kernel>& kernels) {
        for (Kernel& kernel : kernels) {
            if (auto* contract = std::get_if<Contract>(&kernel.body)) pack(*contract);
            if (auto* repeat = std::get_if<Repeat>(&kernel.body)) pack(repeat->kernels);
        }
    }

    void pack(Contract& c) {
        if (!ir::is_floating(c.output.dtype) || ir::size_of(c.output.dtype) < 4) return;
        if (ir::element_count(c.batch) != 1 || !keeps_its_sides(c)) return;
        const size_t b = c.batch.size(), m = c.rows.size(), n = c.columns.size(),
                     k = c.depth.size();
        if (is_worth_it(c.left)) {
            c.left = packed({c.rows, c.depth, true, part(c.left, b, m, b + m, k), {}}, c.left);
            c.left_is_packed = true;
        }
        if (is_worth_it(c.right)) {
            c.right =
                packed({c.columns, c.depth, false, part(c.right, b + k, n, b, k), {}}, c.right);
            c.right_is_packed = true;
        }
    }

    bool is_worth_it(const Access& access) const {
        if (access.buffer == Access::position) return false;
        const Buffer& buffer = program_.buffers[static_cast<size_t>(access.buffer)];
        return buffer.kind == BufferKind::constant && buffer.bytes >= least_bytes;
    }

    // `access` to the copy that `pack` makes; equal copies are made once.
    Access packed(Pack pack, Access access) {
        Kernel kernel{"", "", {}, pack};
        const auto key = std::pair(ir::kernel::structural_hash(kernel), pack.from.buffer);
        auto [found, is_new] = made_.emplace(key, static_cast<int>(program_.buffers.size()));
        if (is_new) {
            const Buffer from = program_.buffers[static_cast<size_t>(pack.from.buffer)];
            const int64_t depth = ir::element_count(pack.depth);
            pack.to = {found->second, pack.from.dtype, 0, {depth, 1}};
            kernel.body = pack;
            const int64_t across = ir::kernel::accesses_written(kernel)[0].extents[0];
            Buffer to;
            to.name = "packed_" + from.name;
            to.kind = BufferKind::packed;
            to.dtype = from.dtype;
            to.shape = {across, depth};
            to.bytes = across * depth * ir::size_of(to.dtype);
            program_.buffers.push_back(std::move(to));
            packs_.push_back({"pack_" + from.name, "pack " + from.name, {}, pack});
        }
        access.buffer = found->second;
        access.offset = 0;
        return access;
    }

    Program program_;
    std::vector<Kernel> packs_;
    std::map<std::pair<uint64_t, int>, int> made_;  // by what is copied: the copy's buffer
};

void read_in_place(std::vector<Kernel>& kernels, const std::map<int, Access>& sources) {
    for (Kernel& kernel : kernels) {
        if (auto* repeat = std::get_if<Repeat>(&kernel.body))
            read_in_place(repeat->kernels, sources);
        auto* c = std::get_if<Contract>(&kernel.body);
        if (c == nullptr) continue;
        for (auto [access, is_packed] :
             {std::pair(&c->left, &c->left_is_packed), std::pair(&c->right, &c->right_is_packed)}) {
            if (!*is_packed) continue;
            const Access& source = sources.at(access->buffer);
            access->buffer = source.buffer;
            access->offset = source.offset;
            *is_packed = false;
        }
    }
}

}  // namespace

Program pack_constants(Program program) { return Packer(std::move(program)).run(); }

Program without_packs(Program program) {
    std::map<int, Access> sources;
    for (const Kernel& kernel : program.kernels)
        if (const auto* pack = std::get_if<Pack>(&kernel.body))
            sources.emplace(pack->to.buffer, pack->from);
    std::erase_if(program.kernels,
                  [](const Kernel& kernel) { return std::holds_alternative<Pack>(kernel.body); });
    read_in_place(program.kernels, sources);
    return program;
}

}  // namespace composit::transforms
