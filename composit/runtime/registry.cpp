// The registry of back ends by name.
#include "composit/base/error.h"
#include "composit/runtime/backend.h"

#include <map>
#include <mutex>
#include <utility>

namespace composit::runtime {

namespace {

struct Family {
    std::function<BackendFamily()> open;
    std::once_flag once;
    std::string why_none;  // once opened
};

struct Registry {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<Backend>> backends;
    std::map<std::string, std::shared_ptr<Family>> families;
};

// Never destroyed: back ends may be looked up while the process ends.
Registry& registry() {
    static Registry* const instance = new Registry;
    return *instance;
}

// Null if there is none.
std::shared_ptr<Backend> registered(const std::string& name) {
    Registry& r = registry();
    const std::lock_guard<std::mutex> lock(r.mutex);
    const auto found = r.backends.find(name);
    return found != r.backends.end() ? found->second : nullptr;
}

// The family, opened if it was not; not under the lock, as that takes long. Null if there is none.
std::shared_ptr<Family> opened_family(const std::string& name) {
    std::shared_ptr<Family> family;
    {
        Registry& r = registry();
        const std::lock_guard<std::mutex> lock(r.mutex);
        const auto found = r.families.find(name);
        if (found != r.families.end()) family = found->second;
    }
    if (family != nullptr)
        std::call_once(family->once, [&] {
            BackendFamily opened = family->open();
            for (std::shared_ptr<Backend>& backend : opened.backends)
                register_backend(std::move(backend));
            family->why_none = std::move(opened.why_none);
        });
    return family;
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
    if (std::shared_ptr<Backend> found = registered(name)) return found;
    const std::string family_name = name.substr(0, name.find(':'));
    const std::shared_ptr<Family> family = opened_family(family_name);
    if (std::shared_ptr<Backend> found = registered(name == family_name ? name + ":0" : name))
        return found;
    const std::string why = family == nullptr || family->why_none.empty()
                                ? ""
                                : text(" ", family_name, ": ", family->why_none, ".");
    fail<KeyError>("backend: there is no back end named '", name,
                   "'. Available: ", join(backend_names()), ".", why);
}

void register_backend_family(std::string name, std::function<BackendFamily()> open) {
    user_check(!name.empty() && name.find(':') == std::string::npos,
               "register_backend_family: the name is '", name,
               "'. One without a colon is required, and at least one letter.");
    user_check(open != nullptr,
               "register_backend_family: there is no function that opens it. Pass one.");
    auto family = std::make_shared<Family>();
    family->open = std::move(open);
    Registry& r = registry();
    const std::lock_guard<std::mutex> lock(r.mutex);
    r.families[std::move(name)] = std::move(family);
}

std::string why_no_more(const std::string& name) {
    const std::shared_ptr<Family> family = opened_family(name);
    return family ? family->why_none : "";
}

std::vector<std::string> backend_families() {
    Registry& r = registry();
    const std::lock_guard<std::mutex> lock(r.mutex);
    std::vector<std::string> names;
    for (const auto& entry : r.families) names.push_back(entry.first);
    return names;
}

std::vector<std::string> backend_names() {
    Registry& r = registry();
    const std::lock_guard<std::mutex> lock(r.mutex);
    std::vector<std::string> names;
    for (const auto& entry : r.backends) names.push_back(entry.first);
    return names;
}

}  // namespace composit::runtime
