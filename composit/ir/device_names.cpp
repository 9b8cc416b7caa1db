#include "composit/ir/device_names.h"

#include "composit/base/error.h"

#include <deque>
#include <mutex>

namespace composit::ir {
namespace {

constexpr size_t most_names = 250;

// Never destroyed, and no name ever moves: nodes refer to them while the process ends.
struct Names {
    std::mutex mutex;
    std::deque<std::string> list{"cpu", "cpu"};
};

Names& names() {
    static Names& instance = *new Names;
    return instance;
}

}  // namespace

DeviceNumber device_number(const std::string& name) {
    Names& all = names();
    const std::lock_guard lock(all.mutex);
    for (size_t i = on_cpu; i < all.list.size(); ++i)
        if (all.list[i] == name) return static_cast<DeviceNumber>(i);
    user_check<RuntimeError>(all.list.size() < most_names, "device: '", name,
                             "' is one of more than ", most_names, " devices. Use fewer.");
    all.list.push_back(name);
    return static_cast<DeviceNumber>(all.list.size() - 1);
}

const std::string& device_name(DeviceNumber number) {
    Names& all = names();
    const std::lock_guard lock(all.mutex);
    return all.list.at(number);
}

}  // namespace composit::ir
