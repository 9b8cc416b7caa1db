#include "composit/backends/simt/unfused.h"

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

namespace composit::simt {
namespace {

using ir::kernel::Access;
using ir::kernel::Extents;
using ir::kernel::Fused;
using ir::kernel::Kernel;
using ir::kernel::Member;

// Puts the loops over parts in front of a member's own.
class Widening {
  public:
    Widening(const Fused& fused, const Member& member, const ir::kernel::Program& program)
        : pieces_(fused.pieces), body_(member.kernel.body) {
        const std::vector<int64_t> number = ir::row_major_strides(pieces_);
        const auto moved = ir::kernel::accesses(body_);
        for (size_t a = 0; a < moved.size(); ++a) {
            std::vector<int64_t> steps = member.steps[a];
            if (std::find(fused.locals.begin(), fused.locals.end(), moved[a]->buffer) !=
                fused.locals.end()) {
                const auto& local = program.buffers[static_cast<size_t>(moved[a]->buffer)];
                steps = number;
                for (int64_t& step : steps) step *= local.bytes / ir::size_of(local.dtype);
            }
            steps.resize(pieces_.size(), 0);
            steps_.emplace_back(moved[a], std::move(steps));
        }
    }

    std::optional<ir::kernel::Body> run() {
        std::visit([this](auto& body) { widen(body); }, body_);
        // What has no loops that go with the parts must stand still.
        for (const auto& [access, steps] : steps_)
            can_be_ &= done_.contains(access) ||
                       std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 0; });
        if (!can_be_) return std::nullopt;
        return std::move(body_);
    }

  private:
    void add_to(Extents& extents) {
        extents.insert(extents.begin(), pieces_.begin(), pieces_.end());
    }
    // `at`: how many of its strides belong to loops before these.
    void move(Access& access, size_t at = 0) {
        for (const auto& [own, steps] : steps_)
            if (own == &access)
                access.strides.insert(access.strides.begin() + static_cast<std::ptrdiff_t>(at),
                                      steps.begin(), steps.end());
        done_.insert(&access);
    }
    void move(std::vector<Access>& accesses) {
        for (Access& access : accesses) move(access);
    }

    void widen(ir::kernel::Map& map) {
        add_to(map.extents);
        move(map.inputs);
        move(map.outputs);
    }
    void widen(ir::kernel::Reduce& reduce) {
        add_to(reduce.kept);
        move(reduce.inputs);
        move(reduce.output);
    }
    void widen(ir::kernel::Scan& scan) {
        add_to(scan.extents);
        move(scan.inputs);
        move(scan.output);
    }
    void widen(ir::kernel::Contract& contract) {
        can_be_ &= !contract.left_is_packed && !contract.right_is_packed;
        add_to(contract.batch);
        move(contract.left);
        move(contract.right);
        move(contract.output);
        move(contract.finish.inputs);
        move(contract.finish.outputs);
    }
    void widen(ir::kernel::Gather& gather) {
        add_to(gather.outer);
        move(gather.indices);
        move(gather.output);
    }
    void widen(ir::kernel::Scatter& scatter) {
        add_to(scatter.inner);
        move(scatter.update, scatter.outer.size());
        move(scatter.data);
    }
    void widen(ir::kernel::Fold& fold) {
        add_to(fold.outer);
        move(fold.input);
        move(fold.output);
    }
    void widen(ir::kernel::Sort& sort) {
        add_to(sort.extents);
        move(sort.input);
        move(sort.output);
        move(sort.spare);
    }
    void widen(ir::kernel::Search& search) {
        add_to(search.extents);
        move(search.sorted);
        move(search.values);
        move(search.output);
    }
    template <class Other>
    void widen(Other&) {
        can_be_ = false;
    }

    const Extents& pieces_;
    ir::kernel::Body body_;
    std::vector<std::pair<Access*, std::vector<int64_t>>> steps_;
    std::set<const Access*> done_;
    bool can_be_ = true;
};

}  // namespace

std::optional<Unfused> unfused(const Fused& fused, const ir::kernel::Program& program) {
    Unfused result;
    for (const Member& member : fused.members) {
        std::optional<ir::kernel::Body> body = Widening(fused, member, program).run();
        if (!body) return std::nullopt;
        Kernel kernel = member.kernel;
        kernel.body = std::move(*body);
        result.kernels.push_back(std::move(kernel));
    }
    const int64_t pieces = ir::element_count(fused.pieces);
    for (const int local : fused.locals)
        result.local_bytes.push_back(program.buffers[static_cast<size_t>(local)].bytes * pieces);
    return result;
}

}  // namespace composit::simt
