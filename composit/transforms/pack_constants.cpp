// Constant operands of products, packed when the program is made ready and not at every run; and
// operands that stay the same in a loop, packed before it and not in every iteration.
#include "composit/ir/kernel/fields.h"
#include "composit/ir/operation.h"
#include "composit/transforms/product_operands.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::ByteContract;
using ir::kernel::Contract;
using ir::kernel::Kernel;
using ir::kernel::Pack;
using ir::kernel::Program;
using ir::kernel::Repeat;

namespace {

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
bool keeps_its_sides(const Contract& c, const Target& target) {
    if (ir::element_count(c.columns) < target.least_columns) return false;
    for (size_t d = c.columns.size(); d-- > 0;)
        if (c.columns[d] != 1) return c.output.strides[c.batch.size() + c.rows.size() + d] == 1;
    return false;
}

class Packer {
  public:
    Packer(Program program, const Target& target) : program_(std::move(program)), target_(target) {}

    Program run() {
        std::vector<Kernel> kernels = std::move(program_.kernels);
        pack(kernels);
        packs_.insert(packs_.end(), std::make_move_iterator(kernels.begin()),
                      std::make_move_iterator(kernels.end()));
        program_.kernels = std::move(packs_);
        return std::move(program_);
    }

  private:
    // A Repeat around the kernels at hand: what its iterations write, and the packs before it.
    struct Around {
        std::vector<bool> is_written;
        int64_t iterations = 0;
        int number = 0;  // of all Repeats
        std::vector<Kernel> packs;
    };

    void pack(std::vector<Kernel>& kernels) {
        std::vector<Kernel> result;
        for (Kernel& kernel : kernels) {
            if (auto* contract = std::get_if<Contract>(&kernel.body)) pack(*contract);
            if (auto* contract = std::get_if<ByteContract>(&kernel.body)) pack(*contract);
            if (auto* repeat = std::get_if<Repeat>(&kernel.body)) {
                enter(kernel, repeat->end - repeat->begin);
                pack(repeat->kernels);
                for (Kernel& before : around_.back().packs) result.push_back(std::move(before));
                around_.pop_back();
            }
            result.push_back(std::move(kernel));
        }
        kernels = std::move(result);
    }

    void enter(const Kernel& repeat, int64_t iterations) {
        std::vector<bool> is_written(program_.buffers.size(), false);
        for (int number : ir::kernel::buffers_written(repeat))
            is_written[static_cast<size_t>(number)] = true;
        around_.push_back({std::move(is_written), iterations, ++repeats_, {}});
    }

    void pack(Contract& c) {
        if (!ir::is_floating(c.output.dtype) || ir::size_of(c.output.dtype) < 4) return;
        if (ir::element_count(c.batch) != 1) return;
        // Few columns fill no tile. Rows of a constant do, once they are the columns.
        const bool turns = c.finish.values.empty() && is_worth_it(c.left) &&
                           ir::element_count(c.columns) < target_.least_columns &&
                           ir::element_count(c.rows) >= target_.least_columns;
        if (turns) exchange_sides(c);
        if (!turns && !keeps_its_sides(c, target_)) return;
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

    // Constant operands, fours along the depth side by side. Sums of the left one's rows are added
    // where both have a sign, or neither has: it is read where it is then.
    void pack(ByteContract& c) {
        if (ir::element_count(c.batch) != 1) return;
        const size_t b = c.batch.size(), m = c.rows.size(), n = c.columns.size(),
                     k = c.depth.size();
        const auto pack_in_fours = [&](Access& operand, bool& is_packed, Pack pack) {
            if (!is_constant(operand) || !is_worth_it(operand) || !divide_into_fours(pack)) return;
            operand = packed(std::move(pack), operand);
            is_packed = true;
        };
        if (c.left.dtype != c.right.dtype)
            pack_in_fours(c.left, c.left_is_packed,
                          {c.rows, c.depth, true, part(c.left, b, m, b + m, k), {}});
        pack_in_fours(c.right, c.right_is_packed,
                      {c.columns, c.depth, false, part(c.right, b + k, n, b, k), {}});
    }

    // Makes four neighbours along the depth the last loop across; false where they are no
    // neighbours in the loops.
    static bool divide_into_fours(Pack& pack) {
        constexpr int64_t together = ByteContract::together;
        merge_depth(pack);
        if (pack.depth.empty() || pack.depth.back() % together != 0) return false;
        auto& strides = pack.from.strides;
        strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(pack.across.size()),
                       strides.back());
        pack.across.push_back(together);
        pack.depth.back() /= together;
        strides.back() *= together;
        pack.panel_width =
            together * (pack.is_left ? ByteContract::panel_rows : ByteContract::panel_columns);
        return true;
    }

    // Loops of the depth that go on where the ones within end become one.
    static void merge_depth(Pack& pack) {
        auto& strides = pack.from.strides;
        for (size_t d = pack.depth.size(); d-- > 1;) {
            const size_t at = pack.across.size() + d;
            if (strides[at - 1] != strides[at] * pack.depth[d]) continue;
            pack.depth[d - 1] *= pack.depth[d];
            strides[at - 1] = strides[at];
            pack.depth.erase(pack.depth.begin() + static_cast<std::ptrdiff_t>(d));
            strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }

    bool is_constant(const Access& access) const {
        return access.buffer != Access::position &&
               program_.buffers[static_cast<size_t>(access.buffer)].kind == BufferKind::constant;
    }

    bool is_worth_it(const Access& access) const {
        if (access.buffer == Access::position) return false;
        const Buffer& buffer = program_.buffers[static_cast<size_t>(access.buffer)];
        if (buffer.bytes < target_.least_packed_bytes) return false;
        return buffer.kind == BufferKind::constant || unchanging_in(access).has_value();
    }

    // The outermost Repeat in which nothing writes what the access reads, if it is read there
    // more than once.
    std::optional<size_t> unchanging_in(const Access& access) const {
        const auto buffer = static_cast<size_t>(access.buffer);
        int64_t times = 1;
        std::optional<size_t> result;
        for (size_t r = around_.size(); r-- > 0;) {
            // Packed copies, which are newer than the list, are nobody's operand of a Pack.
            if (around_[r].is_written[buffer]) break;
            times *= around_[r].iterations;
            if (times > 1) result = r;
        }
        return result;
    }

    // `access` to the copy that `pack` makes; equal copies are made once, of what changes once
    // before each loop.
    Access packed(Pack pack, Access access) {
        const BufferKind kind = program_.buffers[static_cast<size_t>(access.buffer)].kind;
        pack.is_of_constant = kind == BufferKind::constant;
        std::vector<Kernel>& packs =
            pack.is_of_constant ? packs_ : around_[*unchanging_in(access)].packs;
        const int where = pack.is_of_constant ? 0 : around_[*unchanging_in(access)].number;
        const uint64_t hash = ir::kernel::structural_hash({"", "", {}, pack});
        const auto key = std::tuple(hash, pack.from.buffer, where);
        auto [found, is_new] = made_.emplace(key, static_cast<int>(program_.buffers.size()));
        if (is_new) {
            const std::string name = program_.buffers[static_cast<size_t>(pack.from.buffer)].name;
            pack.to = {found->second, pack.from.dtype, 0, {ir::element_count(pack.depth), 1}};
            program_.buffers.push_back(
                ir::kernel::buffer_of_copy(pack, numbered("packed_" + name)));
            packs.push_back({numbered("pack_" + name), "pack " + name, {}, pack});
        }
        access.buffer = found->second;
        access.offset = 0;
        return access;
    }

    // The name itself, then name_2, name_3, …
    std::string numbered(const std::string& name) {
        const int count = ++names_[name];
        return count == 1 ? name : name + "_" + std::to_string(count);
    }

    Program program_;
    const Target& target_;
    std::map<std::string, int> names_;
    std::vector<Kernel> packs_;  // of constants
    std::vector<Around> around_;
    int repeats_ = 0;
    // By what is copied and before which Repeat (0: constants): the copy's buffer.
    std::map<std::tuple<uint64_t, int, int>, int> made_;
};

void find_sources(std::vector<Kernel>& kernels, std::map<int, Pack>& sources) {
    for (Kernel& kernel : kernels) {
        if (const auto* pack = std::get_if<Pack>(&kernel.body))
            sources.emplace(pack->to.buffer, *pack);
        if (auto* repeat = std::get_if<Repeat>(&kernel.body))
            find_sources(repeat->kernels, sources);
    }
    std::erase_if(kernels,
                  [](const Kernel& kernel) { return std::holds_alternative<Pack>(kernel.body); });
}

// The strides of `from` for those loops that move the access to the copy. A last tile of fewer
// columns has one loop across for both loops of the copy.
Access unpacked(const ir::kernel::DecodedContract& c, Access access, const Pack& pack) {
    const size_t k = c.depth.size(), across = pack.across.size();
    size_t column = 0, depth = 0;
    const bool is_one_loop = across == 1 && c.columns.size() == 2 && access.strides.back() != 0;
    for (size_t d = 0; d < access.strides.size(); ++d) {
        int64_t& stride = access.strides[d];
        if (stride == 0) continue;
        if (d < k)
            stride = pack.from.strides[across + depth++];
        else if (is_one_loop)
            stride = pack.from.strides[0] * (d == k ? c.columns[1] : 1);
        else
            stride = pack.from.strides[column++];
    }
    access.buffer = pack.from.buffer;
    access.offset = pack.from.offset;
    return access;
}

void read_in_place(std::vector<Kernel>& kernels, const std::map<int, Pack>& sources) {
    for (Kernel& kernel : kernels) {
        if (auto* repeat = std::get_if<Repeat>(&kernel.body))
            read_in_place(repeat->kernels, sources);
        if (auto* decoded = std::get_if<ir::kernel::DecodedContract>(&kernel.body)) {
            for (Access& input : decoded->inputs)
                if (const auto found = sources.find(input.buffer); found != sources.end())
                    input = unpacked(*decoded, input, found->second);
            decoded->is_packed = false;
        }
        const auto read = [&](Access& access, bool& is_packed) {
            if (!is_packed) return;
            const Access& source = sources.at(access.buffer).from;
            access.buffer = source.buffer;
            access.offset = source.offset;
            is_packed = false;
        };
        if (auto* c = std::get_if<Contract>(&kernel.body)) {
            read(c->left, c->left_is_packed);
            read(c->right, c->right_is_packed);
        }
        if (auto* c = std::get_if<ByteContract>(&kernel.body)) {
            read(c->left, c->left_is_packed);
            read(c->right, c->right_is_packed);
        }
    }
}

}  // namespace

Program pack_constants(Program program, const Target& target) {
    return Packer(std::move(program), target).run();
}

Program without_packs(Program program) {
    std::map<int, Pack> sources;
    find_sources(program.kernels, sources);
    read_in_place(program.kernels, sources);
    return program;
}

}  // namespace composit::transforms
