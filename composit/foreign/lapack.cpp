// Finds and opens the library that has LAPACK's routines.
#include "composit/foreign/lapack.h"

#include "composit/base/error.h"
#include "composit/foreign/lapack_routines.h"

#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <optional>

namespace composit::foreign {
namespace {

// "scipy_" and "_64_" around a routine's name.
struct Spelling {
    const char* before;
    const char* after;
    bool has_wide_integers;

    std::string of(const std::string& routine) const { return before + routine + after; }
};
// Libraries of wide integers may have the last spelling for narrow ones, too.
constexpr Spelling spellings[] = {
    {"scipy_", "_64_", true}, {"", "_64_", true}, {"scipy_", "_", false}, {"", "_", false}};

class OpenedLapack : public Lapack {
  public:
    OpenedLapack(std::string path, void* handle, const Spelling& spelling)
        : path_(std::move(path)), handle_(handle), spelling_(spelling) {}

    bool has_wide_integers() const override { return spelling_.has_wide_integers; }

    void* find(const std::string& routine) const override {
        void* const found = dlsym(handle_, spelling_.of(routine).c_str());
        user_check<NotSupported>(found != nullptr, "linalg: the library ", path_,
                                 " lacks LAPACK's routine ", spelling_.of(routine),
                                 ". A complete LAPACK is required.");
        return found;
    }

    LapackLibrary described() const { return {path_, spelling_.of("dpotrf")}; }

  private:
    std::string path_;
    void* handle_;
    Spelling spelling_;
};

struct Choice {
    std::mutex mutex;
    std::string named;  // by use_lapack
    std::unique_ptr<OpenedLapack> opened;
};

// Never destroyed, nor is the library closed: results may be asked for while the process ends.
Choice& choice() {
    static Choice* const instance = new Choice;
    return *instance;
}

std::unique_ptr<OpenedLapack> opened(const std::string& path, std::string& tried) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        tried += text(tried.empty() ? "" : "; ", dlerror());
        return nullptr;
    }
    for (const Spelling& spelling : spellings)
        if (dlsym(handle, spelling.of("dpotrf").c_str()) != nullptr)
            return std::make_unique<OpenedLapack>(path, handle, spelling);
    tried += text(tried.empty() ? "" : "; ", path, " has no routine dpotrf");
    return nullptr;
}

const OpenedLapack& library() {
    Choice& c = choice();
    const std::lock_guard lock(c.mutex);
    if (c.opened) return *c.opened;
    std::string tried;
    const char* const wished = std::getenv("COMPOSIT_LAPACK");
    if (wished != nullptr && *wished != '\0') {
        c.opened = opened(wished, tried);
        user_check<NotSupported>(c.opened != nullptr,
                                 "linalg: COMPOSIT_LAPACK names no LAPACK: ", tried,
                                 ". The file of a library that has it is required.");
        return *c.opened;
    }
    if (!c.named.empty()) c.opened = opened(c.named, tried);
    for (const char* path : {"liblapack.so.3", "libopenblas.so.0"})
        if (!c.opened) c.opened = opened(path, tried);
    user_check<NotSupported>(
        c.opened != nullptr, "linalg: no LAPACK was found: ", tried,
        ". NumPy's wheels bring one for Python; else install liblapack3 or libopenblas0 (Debian, "
        "Ubuntu), or name a library in the environment variable COMPOSIT_LAPACK.");
    return *c.opened;
}

}  // namespace

void use_lapack(const std::string& path) {
    Choice& c = choice();
    const std::lock_guard lock(c.mutex);
    c.named = path;
}

LapackLibrary lapack_in_use() { return library().described(); }

const Lapack& lapack() { return library(); }

}  // namespace composit::foreign
