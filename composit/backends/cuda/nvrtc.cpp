// Finds NVRTC in the places that installers put it in, and calls it.
#include "composit/backends/cuda/nvrtc.h"

#include "composit/base/error.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <utility>

namespace composit::cuda {
namespace {

namespace fs = std::filesystem;

using NvrtcStatus = int;  // nvrtcResult; 0: success
struct NvrtcProgram;

constexpr const char* library_names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr int least_major = 12;

class LoadedNvrtc : public Nvrtc {
  public:
    // Throws NotSupported with the reason.
    explicit LoadedNvrtc(std::string file) : path_(std::move(file)) {
        library_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
        user_check<NotSupported>(library_ != nullptr, path_, " cannot be loaded");
        find(version_, "nvrtcVersion");
        find(error_string_, "nvrtcGetErrorString");
        find(create_, "nvrtcCreateProgram");
        find(compile_, "nvrtcCompileProgram");
        find(destroy_, "nvrtcDestroyProgram");
        find(log_size_, "nvrtcGetProgramLogSize");
        find(log_, "nvrtcGetProgramLog");
        find(cubin_size_, "nvrtcGetCUBINSize");
        find(cubin_, "nvrtcGetCUBIN");
        find(ptx_size_, "nvrtcGetPTXSize");
        find(ptx_, "nvrtcGetPTX");
        find(architecture_count_, "nvrtcGetNumSupportedArchs");
        find(list_architectures_, "nvrtcGetSupportedArchs");
        check("nvrtcVersion", version_(&major_, &minor_));
        int count = 0;
        check("nvrtcGetNumSupportedArchs", architecture_count_(&count));
        architectures_.resize(static_cast<size_t>(std::max(count, 0)));
        if (count > 0) check("nvrtcGetSupportedArchs", list_architectures_(architectures_.data()));
        std::sort(architectures_.begin(), architectures_.end());
    }

    std::string path() const override { return path_; }
    int major() const override { return major_; }
    int minor() const override { return minor_; }
    const std::vector<int>& architectures() const override { return architectures_; }

    Compilation compile(const std::string& text, const Architecture& target) const override {
        std::vector<std::string> options = compile_options();
        options.push_back(target.option());
        std::vector<const char*> words;
        for (const std::string& option : options) words.push_back(option.c_str());
        NvrtcProgram* program = nullptr;
        check("nvrtcCreateProgram",
              create_(&program, text.c_str(), "composit.cu", 0, nullptr, nullptr));
        Compilation result;
        try {
            const NvrtcStatus status =
                compile_(program, static_cast<int>(words.size()), words.data());
            result.log = read(program, log_size_, log_);
            result.log.resize(std::min(result.log.size(), result.log.find('\0')));
            result.is_done = status == 0;
            if (!result.is_done) {
                result.log = composit::text(error_string_(status), "\n", result.log);
            } else if (target.is_ptx) {
                result.code = read(program, ptx_size_, ptx_);
                result.code += '\0';  // of which the driver reads until there
            } else {
                result.code = read(program, cubin_size_, cubin_);
            }
        } catch (...) {
            destroy_(&program);
            throw;
        }
        destroy_(&program);
        return result;
    }

  private:
    using Size = NvrtcStatus (*)(NvrtcProgram*, size_t*);
    using Read = NvrtcStatus (*)(NvrtcProgram*, char*);

    template <class Function>
    void find(Function& function, const char* name) {
        void* const symbol = dlsym(library_, name);
        user_check<NotSupported>(symbol != nullptr, path_, " has no ", name, ": it is too old");
        function = reinterpret_cast<Function>(symbol);
    }

    void check(const char* call, NvrtcStatus status) const {
        if (status != 0)
            fail<RuntimeError>("cuda: ", call, " of ", path_, " failed: ", error_string_(status),
                               ". A whole installation of NVRTC is required.");
    }

    std::string read(NvrtcProgram* program, Size size, Read read) const {
        size_t bytes = 0;
        check("asking for the size of NVRTC's output", size(program, &bytes));
        std::string content(bytes, '\0');
        if (bytes > 0) check("reading NVRTC's output", read(program, content.data()));
        return content;
    }

    std::string path_;
    void* library_ = nullptr;
    int major_ = 0, minor_ = 0;
    std::vector<int> architectures_;
    NvrtcStatus (*version_)(int*, int*) = nullptr;
    const char* (*error_string_)(NvrtcStatus) = nullptr;
    NvrtcStatus (*create_)(NvrtcProgram**, const char* text, const char* name, int headers,
                           const char* const* header_texts,
                           const char* const* header_names) = nullptr;
    NvrtcStatus (*compile_)(NvrtcProgram*, int, const char* const*) = nullptr;
    NvrtcStatus (*destroy_)(NvrtcProgram**) = nullptr;
    Size log_size_ = nullptr, cubin_size_ = nullptr, ptx_size_ = nullptr;
    Read log_ = nullptr, cubin_ = nullptr, ptx_ = nullptr;
    NvrtcStatus (*architecture_count_)(int*) = nullptr;
    NvrtcStatus (*list_architectures_)(int*) = nullptr;
};

// The libraries of known names in `folder`, the newest first.
void add_those_in(const fs::path& folder, std::vector<std::string>& places) {
    std::error_code ignored;
    for (const char* name : library_names)
        if (fs::exists(folder / name, ignored)) places.push_back((folder / name).string());
}

void add_hint(const std::string& hint, std::vector<std::string>& places) {
    for (size_t begin = 0; begin <= hint.size();) {
        const size_t end = std::min(hint.find(':', begin), hint.size());
        const fs::path place = hint.substr(begin, end - begin);
        std::error_code ignored;
        if (fs::is_directory(place, ignored))
            add_those_in(place, places);
        else if (!place.empty())
            places.push_back(place.string());
        begin = end + 1;
    }
}

// site-packages/nvidia/cu13/lib, where composit lies in site-packages/composit.
void add_packages(std::vector<std::string>& places) {
    Dl_info self{};
    if (dladdr(reinterpret_cast<void*>(&places_of_nvrtc), &self) == 0 || self.dli_fname == nullptr)
        return;
    std::error_code ignored;
    const fs::path folder = fs::absolute(self.dli_fname, ignored).parent_path().parent_path();
    std::vector<fs::path> packages;
    for (fs::directory_iterator at(folder / "nvidia", ignored), end; !ignored && at != end;
         at.increment(ignored))
        packages.push_back(at->path() / "lib");
    std::sort(packages.rbegin(), packages.rend());
    for (const fs::path& package : packages) add_those_in(package, places);
}

}  // namespace

std::string Architecture::option() const {
    return text("--gpu-architecture=", is_ptx ? "compute_" : "sm_", number);
}

Architecture Nvrtc::architecture_for(int capability) const {
    const std::vector<int>& known = architectures();
    const auto after = std::upper_bound(known.begin(), known.end(), capability);
    if (after == known.begin()) return {};
    const int number = *(after - 1);
    return {number, number != capability};
}

const std::vector<std::string>& compile_options() {
    static const auto& options = *new std::vector<std::string>{
        "--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"};
    return options;
}

std::vector<std::string> places_of_nvrtc() {
    std::vector<std::string> places;
    if (const char* hint = std::getenv("COMPOSIT_NVRTC")) add_hint(hint, places);
    for (const char* name : library_names) places.emplace_back(name);
    add_packages(places);
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* folder = std::getenv(variable); folder != nullptr && *folder != 0)
            add_those_in(fs::path(folder) / "lib64", places);
    add_those_in("/usr/local/cuda/lib64", places);
    return places;
}

std::shared_ptr<const Nvrtc> find_nvrtc(const std::vector<std::string>& places, int most_major,
                                        std::string& reason) {
    std::string unfit;
    for (const std::string& place : places) {
        try {
            auto found = std::make_shared<const LoadedNvrtc>(place);
            if (found->major() >= least_major && found->major() <= most_major) return found;
            unfit = text("NVRTC ", found->major(), ".", found->minor(), " (", found->path(),
                         ") does not fit the driver, which is one for CUDA ", most_major,
                         ". One of version ", least_major, " to ", most_major, " is required");
        } catch (const Error& error) {
            // Not there, or not whole: the next place.
            if (place.find('/') != std::string::npos && unfit.empty()) unfit = error.what();
        }
    }
    reason = text("NVRTC, CUDA's compiler, is missing: install the package nvidia-cuda-nvrtc",
                  most_major >= 13 ? "" : "-cu12",
                  " (pip install 'composit[cuda]') or set COMPOSIT_NVRTC to libnvrtc.so",
                  unfit.empty() ? "" : "; ", unfit);
    return nullptr;
}

}  // namespace composit::cuda
