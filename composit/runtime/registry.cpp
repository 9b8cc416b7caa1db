// The registry of back ends by name.
#include "composit/base/error.h"
#include "composit/runtime/backend.h"

#include <map>
#include <mutex>

namespace composit::runtime {

namespace {

struct Registry {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<Backend>> backends;
};

// Never destroyed: back ends may be looked up while the process ends.
Registry& registry() {
    static Registry* const instance = new Registry;
    return *instance;
}

}  // namespace

std::string Executable::source() const {
    std::string all;
    for (const SourceFile& file : sources()) all += (all.empty() ? "" : "\n") + file.text;
    return all;
}

void register_backend(std::shared_ptr<Backend> backend) {
    user_check(backend != nullptr, "register_backend: the back end is null. Pass an object.");
    const std::string name = backend->name();  // not under the lock: it may be a user's code
    user_check(!name.empty(), "register_backend: the back end's name is empty. Give it a name.");
    Registry& r = registry();
    const std::lock_guard<std::mutex> lock(r.mutex);
    r.backends[name].swap(backend);  // the replaced one dies with the argument, after the lock
}

std::shared_ptr<Backend> backend(const std::string& name) {
    Registry& r = registry();
    {
        const std::lock_guard<std::mutex> lock(r.mutex);
        const auto found = r.backends.find(name);
        if (found != r.backends.end()) return found->second;
    }
    fail<KeyError>("backend: there is no back end named '", name,
                   "'. Available: ", join(backend_names()), ".");
}

std::vector<std::string> backend_names() {
    Registry& r = registry();
    const std::lock_guard<std::mutex> lock(r.mutex);
    std::vector<std::string> names;
    for (const auto& entry : r.backends) names.push_back(entry.first);
    return names;
}

}  // namespace composit::runtime
