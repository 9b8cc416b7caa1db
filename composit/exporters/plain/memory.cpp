#include "composit/exporters/plain/memory.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/shapes.h"
#include "composit/transforms/buffer_lives.h"

#include <algorithm>

namespace composit::plain {
namespace {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;

constexpr int64_t worth_sharing = 4096;  // bytes: with fewer, arrays of their own read better

int64_t rounded(int64_t bytes, int64_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

// C has no array without elements.
int64_t bytes_of(const Buffer& buffer) {
    return std::max<int64_t>(buffer.bytes, ir::size_of(buffer.dtype));
}

}  // namespace

Memory::Memory(const ir::kernel::Program& program, const std::vector<std::string>& names,
               const std::set<int>& elsewhere, const std::vector<std::set<int>>& together)
    : program_(program), names_(names) {
    const auto lives = transforms::lives_of(program).lives;
    std::vector<int> temporaries;
    int64_t all = 0;
    for (size_t b = 0; b < program.buffers.size(); ++b) {
        const Buffer& buffer = program.buffers[b];
        if (buffer.kind != BufferKind::temporary || lives[b].first < 0 ||
            elsewhere.contains(static_cast<int>(b)))
            continue;
        temporaries.push_back(static_cast<int>(b));
        all += bytes_of(buffer);
    }
    const auto buffer_of = [&](int b) -> const Buffer& {
        return program.buffers[static_cast<size_t>(b)];
    };
    // The largest first: those that come later fill what it leaves.
    std::stable_sort(temporaries.begin(), temporaries.end(),
                     [&](int a, int b) { return bytes_of(buffer_of(a)) > bytes_of(buffer_of(b)); });
    for (const int b : temporaries) {
        const auto meets = [&](int other) {
            return lives[static_cast<size_t>(b)].meets(lives[static_cast<size_t>(other)]) ||
                   std::any_of(together.begin(), together.end(), [&](const std::set<int>& set) {
                       return set.contains(b) && set.contains(other);
                   });
        };
        const auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& each) {
            return all > worth_sharing &&
                   std::none_of(each.buffers.begin(), each.buffers.end(), meets);
        });
        Slot& home = slot != slots_.end() ? *slot : slots_.emplace_back();
        home.buffers.push_back(b);
        home.alignment = std::max<int64_t>(home.alignment, ir::size_of(buffer_of(b).dtype));
        home.bytes = rounded(std::max(home.bytes, bytes_of(buffer_of(b))), home.alignment);
    }
    for (Slot& slot : slots_) std::sort(slot.buffers.begin(), slot.buffers.end());
    std::stable_sort(slots_.begin(), slots_.end(), [](const Slot& a, const Slot& b) {
        const bool is_alone = a.buffers.size() == 1;
        return a.alignment != b.alignment            ? a.alignment > b.alignment
               : is_alone != (b.buffers.size() == 1) ? !is_alone
                                                     : a.buffers < b.buffers;
    });
    int shared = 0;
    for (const Slot& slot : slots_) {
        bytes_ += slot.bytes;
        alignment_ = std::max(alignment_, slot.alignment);
        const std::string way = slot.buffers.size() > 1 ? text("shared_", ++shared, ".") : "";
        for (const int b : slot.buffers) paths_[b] = way + names_[static_cast<size_t>(b)];
    }
    bytes_ = rounded(bytes_, alignment_);
}

// "float a[16], b[4];", a type's arrays together, with `between` the types.
std::string Memory::members_of(const std::vector<int>& buffers, const std::string& between) const {
    std::vector<std::pair<std::string, std::vector<std::string>>> of_types;
    for (const int number : buffers) {
        const auto b = static_cast<size_t>(number);
        const std::string type = c_family::type_name(program_.buffers[b].dtype);
        const std::string array = names_[b] + extents_text(program_.buffers[b].shape);
        const auto known = std::find_if(of_types.begin(), of_types.end(),
                                        [&](const auto& each) { return each.first == type; });
        if (known != of_types.end())
            known->second.push_back(array);
        else
            of_types.push_back({type, {array}});
    }
    std::vector<std::string> result;
    for (const auto& [type, arrays] : of_types) result.push_back(type + " " + join(arrays) + ";");
    return join(result, between);
}

bool Memory::has_unions() const {
    return std::any_of(slots_.begin(), slots_.end(),
                       [](const Slot& slot) { return slot.buffers.size() > 1; });
}

std::vector<std::string> Memory::variables() const {
    std::vector<std::string> result;
    for (const Slot& slot : slots_)
        for (const int b : slot.buffers) result.push_back("static " + members_of({b}, ""));
    return result;
}

std::string Memory::members(const std::string& margin) const {
    std::string result = "{\n";
    std::vector<int> alone;  // neighbours that share with none
    const auto add_alone = [&] {
        if (!alone.empty())
            result += margin + "    " + members_of(alone, "\n" + margin + "    ") + "\n";
        alone.clear();
    };
    int shared = 0;
    for (const Slot& slot : slots_) {
        if (slot.buffers.size() == 1) {
            alone.push_back(slot.buffers[0]);
            continue;
        }
        add_alone();
        result += text(margin, "    union { ", members_of(slot.buffers, " "), " } shared_",
                       ++shared, ";\n");
    }
    add_alone();
    return result + margin + "}";
}

}  // namespace composit::plain
