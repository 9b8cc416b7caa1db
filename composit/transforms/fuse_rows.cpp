// Joins kernels that hand rows on to each other, so that rows stay in the cache between them.
//
// The outer loops of a kernel are those of which every index has its own part of the output. Two
// kernels can share loops when what one reads of the other's result, at each index of these loops,
// is what the other wrote there. Several groups grow at a time. A kernel that needs all of a group
// waits for a few others, which may still join; then the group is done.
//
// A product that is cut into rows packs its right side for each part anew, so it is cut between its
// batches only. But where two products hand on a matrix of which one alone would not stay in the
// cache (attention's scores), blocks of its rows cost less than the matrix.
#include "composit/base/text.h"
#include "composit/ir/operation.h"
#include "composit/transforms/row_groups.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <unordered_map>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Body;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Extents;
using ir::kernel::Fused;
using ir::kernel::Kernel;
using ir::kernel::Loop;
using ir::kernel::Member;
using ir::kernel::Program;

namespace {

constexpr size_t most_members = 32;
constexpr size_t most_open = 8;     // groups at a time
constexpr size_t most_waiting = 4;  // kernels, put off until others had the chance to join a group

class Fuser {
  public:
    Fuser(Program program, const Target& target) : program_(std::move(program)), target_(target) {
        for (const Kernel& kernel : program_.kernels)
            for (const auto& buffers :
                 {ir::kernel::buffers_read(kernel), ir::kernel::buffers_written(kernel)})
                for (int buffer : buffers) ++uses_[buffer];
    }

    Program run() {
        std::vector<Kernel> kernels = std::move(program_.kernels);
        for (Kernel& kernel : kernels) add(std::move(kernel), true);
        stop_waiting();
        while (!open_.empty()) close(open_.begin());
        program_.kernels = std::move(done_);
        return std::move(program_);
    }

  private:
    using Groups = std::list<Group>;

    // No open group precedes another. Of the groups that precede a kernel it joins the youngest
    // that it can; the others are closed. If there is none it opens a group of its own. One that
    // can join none of the groups before it, or follows one that waits, first waits if it may.
    void add(Kernel kernel, bool may_wait) {
        Candidate next(kernel, target_);
        if (may_wait && waiting_.precedes(next)) return wait(std::move(next), std::move(kernel));
        std::vector<Groups::iterator> before;
        for (auto group = open_.begin(); group != open_.end(); ++group)
            if (group->precedes(next)) before.push_back(group);
        size_t shared = 0, joined = before.size();
        while (shared == 0 && joined > 0) shared = shared_with(*before[--joined], next);
        if (may_wait && shared == 0 && !before.empty())
            return wait(std::move(next), std::move(kernel));
        for (size_t b = 0; b < before.size(); ++b)
            if (shared == 0 || b != joined) close(before[b]);
        if (shared > 0) {
            before[joined]->shared = shared;
            before[joined]->add(std::move(next), std::move(kernel));
            return;
        }
        if (next.outer.empty()) return done_.push_back(std::move(kernel));
        if (open_.size() == most_open) close(open_.begin());
        open_.emplace_back().shared = next.outer.size();
        open_.back().add(std::move(next), std::move(kernel));
    }

    void wait(Candidate next, Kernel kernel) {
        waiting_.add(std::move(next), std::move(kernel));
        if (waiting_.members.size() > most_waiting) stop_waiting();
    }

    void stop_waiting() {
        Group waited = std::move(waiting_);
        waiting_ = {};
        for (Kernel& kernel : waited.originals) add(std::move(kernel), false);
    }

    // The number of loops that the group shares when `next` joins; 0: it cannot.
    size_t shared_with(const Group& group, const Candidate& next) const {
        if (group.members.size() == most_members) return 0;
        const Extents& outer = group.members[0].outer;
        size_t shared = 0;
        while (shared < group.shared && shared < next.outer.size() &&
               outer[shared] == next.outer[shared])
            ++shared;
        for (; shared > 0; --shared)
            if (may_share(group, next, shared)) return shared;
        return 0;
    }

    bool may_share(const Group& group, const Candidate& next, size_t shared) const {
        for (const Candidate& member : group.members)
            if (!suits(member, shared)) return false;
        if (!suits(next, shared)) return false;
        for (const Reach& reach : next.reaches)
            for (const Candidate& member : group.members)
                for (const Reach& earlier : member.reaches)
                    if ((earlier.is_written || reach.is_written) &&
                        earlier.buffer == reach.buffer &&
                        !(move_together(earlier, reach, shared) &&
                          stays_in_its_part(earlier, member.outer, shared) &&
                          stays_in_its_part(reach, next.outer, shared)))
                        return false;
        return true;
    }

    // Whether a kernel can be cut along the first `shared` of its loops. Positions cannot move.
    bool suits(const Candidate& candidate, size_t shared) const {
        if (candidate.is_cut(shared)) {
            const auto& product = std::get<ir::kernel::Contract>(candidate.kernel.body);
            if (!candidate.is_wide || shared != candidate.batch + 1 ||
                buffer(product.right.buffer).kind == BufferKind::constant)  // packed once
                return false;
        }
        for (const Reach& reach : candidate.reaches) {
            for (size_t d = 0; d < shared; ++d)
                if (reach.buffer == Access::position && reach.steps[d] != 0) return false;
            for (const Reach& other : candidate.reaches)
                if (other.buffer == reach.buffer && !move_together(reach, other, shared))
                    return false;
        }
        return true;
    }

    const Buffer& buffer(int number) const { return program_.buffers[static_cast<size_t>(number)]; }

    // Buffers that only the group touches.
    std::vector<int> find_locals(const Group& group) const {
        std::unordered_map<int, int> inside;
        for (const Kernel& kernel : group.originals)
            for (const auto& buffers :
                 {ir::kernel::buffers_read(kernel), ir::kernel::buffers_written(kernel)})
                for (int number : buffers) ++inside[number];
        std::vector<int> locals;
        for (const auto& [number, count] : inside)
            if (buffer(number).kind == BufferKind::temporary && count == uses_.at(number) &&
                group.written.contains(number))
                locals.push_back(number);
        std::sort(locals.begin(), locals.end());
        return locals;
    }

    // Members that touch each buffer which moves with the shared loops.
    std::map<int, int> touches(const Group& group) const {
        std::map<int, int> counts;
        for (const Candidate& member : group.members) {
            std::set<int> moving;
            for (const Reach& reach : member.reaches)
                for (size_t d = 0; d < group.shared; ++d)
                    if (reach.buffer != Access::position && reach.steps[d] != 0)
                        moving.insert(reach.buffer);
            for (int number : moving) ++counts[number];
        }
        return counts;
    }

    // Bytes that a member touches after another did.
    int64_t gain(const Group& group) const {
        int64_t bytes = 0;
        for (const auto& [number, count] : touches(group))
            bytes += buffer(number).bytes * (count - 1);
        return bytes;
    }

    // Bytes that the group touches at one index of the shared loops.
    int64_t bytes_of_index(const Group& group) const {
        int64_t count = 1;  // none where there are no rows: no memory is touched then
        for (size_t d = 0; d < group.shared; ++d) count *= group.members[0].outer[d];
        if (count == 0) return 0;
        int64_t bytes = 0;
        for (const auto& [number, uses] : touches(group)) bytes += buffer(number).bytes / count;
        return bytes;
    }

    // Products are not cut where what they hand on between batches stays in the cache as it is.
    void leave_whole(Group& group) const {
        while (group.shared > 1 && cut_products(group) > 0) {
            --group.shared;
            if (bytes_of_index(group) <= target_.group_bytes) continue;
            ++group.shared;
            return;
        }
    }

    static int64_t cut_products(const Group& group) {
        return std::count_if(group.members.begin(), group.members.end(),
                             [&](const Candidate& m) { return m.is_cut(group.shared); });
    }

    bool is_worth_it(const Group& group) const {
        return group.members.size() >= 2 && gain(group) >= target_.part_bytes / 2 &&
               bytes_of_index(group) <= target_.group_bytes && cut_products(group) != 1 &&
               has_large_parts(group);
    }

    // An extent without a divisor that fits leaves parts of a few indices, and starting each takes
    // longer than what it saves.
    bool has_large_parts(const Group& group) const {
        const int64_t rows = rows_of_part(group);
        if (cut_products(group) > 0) return rows > 0;
        return rows * bytes_of_index(group) >= std::max<int64_t>(1, target_.part_bytes / 32);
    }

    void close(Groups::iterator place) {
        Group group = std::move(*place);
        open_.erase(place);
        leave_whole(group);
        if (is_worth_it(group)) return done_.push_back(fused(group));
        // What lies between its products may still share rows.
        Group rest;
        for (Kernel& kernel : group.originals) {
            Candidate next(kernel, target_);
            const size_t shared =
                next.is_product || rest.members.empty() ? 0 : shared_with(rest, next);
            if (shared == 0) {
                finish(std::exchange(rest, {}));
                rest.shared = next.outer.size();
            } else {
                rest.shared = shared;
            }
            if (next.is_product)
                done_.push_back(std::move(kernel));
            else
                rest.add(std::move(next), std::move(kernel));
        }
        finish(std::move(rest));
    }

    void finish(Group group) {
        if (is_worth_it(group)) return done_.push_back(fused(group));
        for (Kernel& kernel : group.originals) done_.push_back(std::move(kernel));
    }

    // How many indices of the innermost shared loop make a part: a divisor of its extent, with
    // enough parts left for threads to share; 0 if columns would be cut too narrow.
    int64_t rows_of_part(const Group& group) const {
        const Extents& outer = group.members[0].outer;
        const int64_t extent = outer[group.shared - 1],
                      bytes = std::max<int64_t>(1, bytes_of_index(group));
        if (cut_products(group) > 0) return rows_of_block(extent, bytes, target_);
        int64_t others = 1;
        for (size_t d = 0; d + 1 < group.shared; ++d) others *= outer[d];
        const int64_t width = width_of_columns(group);
        const int64_t most_bytes = width > 0 ? target_.column_part_bytes : target_.part_bytes;
        int64_t best = 1;
        for (int64_t rows = 2; rows <= extent && rows * bytes <= most_bytes; ++rows) {
            const int64_t parts = others * (extent / rows);
            const bool is_narrow =
                best * width < target_.least_row_bytes ||
                (parts >= target_.few_parts && rows * width <= target_.enough_row_bytes);
            if (extent % rows == 0 && (parts >= target_.enough_parts || (width > 0 && is_narrow)))
                best = rows;
        }
        return best * width < std::min(extent * width, target_.least_row_bytes) ? 0 : best;
    }

    // Bytes between two indices of the innermost shared loop where that loop lies across the rows
    // that some member goes down, the least of all such; 0: it does nowhere.
    int64_t width_of_columns(const Group& group) const {
        int64_t least = 0;
        for (const Candidate& member : group.members)
            for (const Reach& reach : member.reaches) {
                if (!reach.is_across_rows(group.shared)) continue;
                const int64_t bytes = std::abs(reach.steps[group.shared - 1]) *
                                      ir::size_of(buffer(reach.buffer).dtype);
                if (least == 0 || bytes < least) least = bytes;
            }
        return least;
    }

    Kernel fused(Group& group) {
        const Extents& outer = group.members[0].outer;
        const int64_t rows = rows_of_part(group);
        Fused body;
        body.pieces.assign(outer.begin(),
                           outer.begin() + static_cast<std::ptrdiff_t>(group.shared));
        body.pieces.back() /= rows;
        const int64_t pieces = ir::element_count(body.pieces);
        body.locals = find_locals(group);
        for (Candidate& member : group.members)
            body.members.push_back(cut(member, group.shared, rows, body));
        for (int local : body.locals) {
            Buffer& b = program_.buffers[static_cast<size_t>(local)];
            b.kind = BufferKind::local;
            b.bytes /= pieces;
            b.shape = {b.bytes / ir::size_of(b.dtype)};
        }
        Kernel kernel;
        // "fused_maximum_to_divide"
        kernel.name =
            "fused_" + group.originals.front().name + "_to_" + group.originals.back().name;
        std::vector<std::string> words;
        for (const Kernel& original : group.originals) {
            words.push_back(original.comment.empty() ? original.name : original.comment);
            for (const std::string& line : original.lines)
                if (std::find(kernel.lines.begin(), kernel.lines.end(), line) == kernel.lines.end())
                    kernel.lines.push_back(line);
        }
        kernel.comment = join(words, "; ");
        kernel.body = std::move(body);
        return kernel;
    }

    // A member over one part.
    static Member cut(Candidate& candidate, size_t shared, int64_t rows, const Fused& fused) {
        Body& body = candidate.kernel.body;
        const auto moved = ir::kernel::accesses(body);
        Member member{{}, std::vector<std::vector<int64_t>>(moved.size())};
        auto loops = outer_loops(body);
        for (size_t a = 0; a < moved.size(); ++a)
            for (size_t d = 0; d < shared; ++d) {
                const bool is_local = std::find(fused.locals.begin(), fused.locals.end(),
                                                moved[a]->buffer) != fused.locals.end();
                const int64_t step =
                    is_local ? 0 : ir::kernel::stride_of(*moved[a], loops[d].stride_at[a]);
                member.steps[a].push_back(d + 1 == shared ? step * rows : step);
            }
        const Loop& last = loops[shared - 1];
        (*last.extents)[last.at] = rows;
        for (size_t d = shared; d-- > 0;) {
            if (d + 1 == shared && rows > 1) continue;
            loops = outer_loops(body);
            ir::kernel::erase_loop(body, loops[d]);
        }
        member.kernel = std::move(candidate.kernel);
        return member;
    }

    Program program_;
    const Target& target_;
    std::unordered_map<int, int> uses_;  // of each buffer, by kernels
    std::vector<Kernel> done_;
    Groups open_;
    Group waiting_;  // in order; never fused
};

}  // namespace

Program fuse_rows(Program program, const Target& target) {
    if (has_one_kernel(program)) return program;
    const auto fused = [&](Program kernels) { return Fuser(std::move(kernels), target).run(); };
    return fused(within_repeats(std::move(program), fused));
}

}  // namespace composit::transforms
