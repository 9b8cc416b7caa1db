#include "composit/backends/simt/unfused.h"

#include "composit/ir/kernel/fields.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

namespace composit::simt {
namespace {

using ir::kernel::Access;
using ir::kernel::Extents;
using ir::kernel::Fused;
using ir::kernel::Kernel;
using ir::kernel::LoopRole;
using ir::kernel::Member;

// Puts the loops over parts in front of a member's own outer loops.
class Widening : public ir::kernel::NoFields {
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
            steps_[moved[a]] = std::move(steps);
        }
    }

    std::optional<ir::kernel::Body> run() {
        std::visit(
            [this](auto& body) {
                if constexpr (ir::kernel::IsDescribed<std::remove_reference_t<decltype(body)>>)
                    describe(body, *this);
            },
            body_);
        if (outer_ == nullptr) return std::nullopt;
        outer_->insert(outer_->begin(), pieces_.begin(), pieces_.end());
        // What has no loops that go with the parts must stand still.
        for (const auto& [access, steps] : steps_)
            if (std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step != 0; }))
                return std::nullopt;
        return std::move(body_);
    }

    // What describe says: loops come before what moves along them.
    void loops(std::string_view, Extents& extents, LoopRole role) {
        const bool is_outer = role == LoopRole::outer || role == LoopRole::outer_but_last;
        if (outer_ == nullptr && is_outer) outer_ = &extents;
    }
    void reads(std::string_view, Access& access, const auto&... along) {
        size_t at = 0;  // strides of loops before these
        for (const Extents* extents : {&along...}) {
            if (extents != outer_) {
                at += extents->size();
                continue;
            }
            const auto steps = steps_.extract(&access).mapped();
            access.strides.insert(access.strides.begin() + static_cast<std::ptrdiff_t>(at),
                                  steps.begin(), steps.end());
            return;
        }
    }
    void reads(std::string_view name, std::vector<Access>& accesses, const auto&... along) {
        for (Access& access : accesses) reads(name, access, along...);
    }
    void writes(std::string_view name, auto& accesses, const auto&... along) {
        reads(name, accesses, along...);
    }

  private:
    const Extents& pieces_;
    ir::kernel::Body body_;
    Extents* outer_ = nullptr;
    std::map<const Access*, std::vector<int64_t>> steps_;  // of those that do not move yet
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
