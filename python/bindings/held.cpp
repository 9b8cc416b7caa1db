#include "held.h"

#include "interpreter_lock.h"

#include <mutex>
#include <vector>

namespace nb = nanobind;

namespace composit::python {
namespace {

std::mutex mutex;

std::vector<std::weak_ptr<nb::object>>& all() {
    static auto* objects = new std::vector<std::weak_ptr<nb::object>>;
    return *objects;
}

void let_go() {
    std::vector<std::weak_ptr<nb::object>> objects;
    {
        const std::lock_guard lock(mutex);
        objects.swap(all());
    }
    for (const auto& object : objects)
        if (const auto alive = object.lock()) alive->reset();
}

}  // namespace

std::shared_ptr<nb::object> held(nb::object object) {
    std::shared_ptr<nb::object> result(new nb::object(std::move(object)), [](nb::object* gone) {
        const Acquired acquired;
        delete gone;
    });
    const std::lock_guard lock(mutex);
    std::erase_if(all(), [](const auto& object) { return object.expired(); });
    all().push_back(result);
    return result;
}

void bind_held(nb::module_&) {
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(let_go));
}

}  // namespace composit::python
