#include "composit/mosaic/place.h"

#include "composit/base/error.h"
#include "composit/runtime/backend.h"
#include "composit/runtime/device.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>

namespace composit::mosaic {
namespace {

namespace kernel = ir::kernel;

constexpr double never = std::numeric_limits<double>::infinity();

double fastest(int runs, const std::function<void()>& work) {
    double best = never;
    for (int r = 0; r < runs; ++r) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        best = std::min(best, taken.count());
    }
    return best;
}

Link measured_link(const std::shared_ptr<runtime::Device>& device) {
    constexpr int64_t few = 64, many = int64_t{8} << 20;
    const auto there = runtime::DeviceMemory::allocate(device, many, "link");
    const std::shared_ptr<void> here = ir::allocate_aligned(many);
    // There and back: a copy to a device may go on when it returns.
    const auto both_ways = [&](int64_t bytes) {
        return fastest(5,
                       [&] {
                           device->copy_from_host(there->address(), here.get(), bytes);
                           device->copy_to_host(here.get(), there->address(), bytes);
                       }) /
               2;
    };
    const double start = both_ways(few);
    return {start, static_cast<double>(many) / std::max(both_ways(many) - start, 1e-9)};
}

// A kernel hands a buffer to another; a kernel that only comes before another hands no bytes.
struct Edge {
    size_t from, to;
    int64_t bytes;
};

struct Task {
    std::vector<double> seconds;  // on each back end; `never` where it is refused
    std::vector<Edge> from, to;
    int64_t bytes_taken = 0, bytes_given = 0;  // arguments and results
    double rank = 0;

    [[nodiscard]] double mean_seconds() const {
        double sum = 0;
        int count = 0;
        for (double each : seconds)
            if (each < never) sum += each, ++count;
        return count > 0 ? sum / count : 0;
    }
};

class Scheduling {
  public:
    Scheduling(const kernel::Program& program, const std::vector<std::string>& backends,
               int threads)
        : program_(program), backends_(backends) {
        for (const std::string& name : backends_) links_.push_back(link_of(name));
        tasks_.resize(program.kernels.size());
        for (size_t k = 0; k < tasks_.size(); ++k)
            for (const std::string& name : backends_)
                tasks_[k].seconds.push_back(seconds_of(program.kernels[k], name, threads));
        add_edges();
        for (size_t k = tasks_.size(); k-- > 0;) {
            double after = 0;
            for (const Edge& edge : tasks_[k].to)
                after = std::max(after, mean_copy(edge.bytes) + tasks_[edge.to].rank);
            tasks_[k].rank = tasks_[k].mean_seconds() + after;
        }
    }

    // When the program ends with all kernels on one back end; `never` where one is refused.
    [[nodiscard]] double seconds_on(size_t backend) const {
        return run([&](size_t, const std::vector<double>&) { return backend; }).second;
    }
    // The back end of each kernel, and when the program ends.
    [[nodiscard]] std::pair<std::vector<size_t>, double> spread() const {
        return run([](size_t, const std::vector<double>& ends) {
            return static_cast<size_t>(std::ranges::min_element(ends) - ends.begin());
        });
    }

  private:
    double seconds_of(const kernel::Kernel& task, const std::string& name, int threads) const {
        if (runtime::backend(name)->refuses(task, program_)) return never;
        const Machine& machine = this_machine(name, threads);
        return roofline(task, machine).seconds + machine.launch_seconds;
    }

    void add_edges() {
        std::map<int, size_t> writer;
        std::map<int, std::vector<size_t>> readers;
        const auto edge = [&](size_t from, size_t to, int64_t bytes) {
            if (from == to) return;
            tasks_[from].to.push_back({from, to, bytes});
            tasks_[to].from.push_back({from, to, bytes});
        };
        for (size_t k = 0; k < tasks_.size(); ++k) {
            const std::vector<int> written = buffers_written(program_.kernels[k]);
            for (int number : buffers_read(program_.kernels[k])) {
                const kernel::Buffer& buffer = program_.buffers[static_cast<size_t>(number)];
                if (const auto found = writer.find(number); found != writer.end())
                    edge(found->second, k, buffer.bytes);
                if (buffer.kind == kernel::BufferKind::input) tasks_[k].bytes_taken += buffer.bytes;
                readers[number].push_back(k);
            }
            for (int number : written) {
                const kernel::Buffer& buffer = program_.buffers[static_cast<size_t>(number)];
                if (const auto found = writer.find(number); found != writer.end())
                    edge(found->second, k, 0);
                for (size_t reader : readers[number]) edge(reader, k, 0);
                readers[number].clear();
                writer[number] = k;
                if (buffer.kind == kernel::BufferKind::output)
                    tasks_[k].bytes_given += buffer.bytes;
            }
        }
    }

    [[nodiscard]] double copy(int64_t bytes, size_t from, size_t to) const {
        if (from == to || bytes == 0) return 0;
        return links_[from].seconds_for(bytes) + links_[to].seconds_for(bytes);
    }
    [[nodiscard]] double mean_copy(int64_t bytes) const {
        double sum = 0;
        for (size_t a = 0; a < links_.size(); ++a)
            for (size_t b = 0; b < links_.size(); ++b) sum += copy(bytes, a, b);
        return sum / static_cast<double>(links_.size() * links_.size());
    }

    // Kernels by rank, each where choose(kernel, ends by back end) puts it.
    template <class Choose>
    std::pair<std::vector<size_t>, double> run(const Choose& choose) const {
        std::vector<size_t> order(tasks_.size()), place(tasks_.size(), 0);
        std::iota(order.begin(), order.end(), size_t{0});
        std::ranges::stable_sort(
            order, [&](size_t a, size_t b) { return tasks_[a].rank > tasks_[b].rank; });
        std::vector<double> free(backends_.size(), 0), end(tasks_.size(), 0);
        double last = 0;
        for (size_t k : order) {
            const Task& task = tasks_[k];
            std::vector<double> ends;
            for (size_t b = 0; b < backends_.size(); ++b) {
                double begin = std::max(free[b], copy(task.bytes_taken, 0, b));
                for (const Edge& edge : task.from)
                    begin = std::max(begin, end[edge.from] + copy(edge.bytes, place[edge.from], b));
                ends.push_back(begin + task.seconds[b] + copy(task.bytes_given, b, 0));
            }
            place[k] = choose(k, ends);
            end[k] = ends[place[k]] - copy(task.bytes_given, place[k], 0);
            free[place[k]] = end[k];
            last = std::max(last, ends[place[k]]);
        }
        return {place, last};
    }

    const kernel::Program& program_;
    const std::vector<std::string>& backends_;
    std::vector<Link> links_;
    std::vector<Task> tasks_;
};

}  // namespace

const Link& link_of(const std::string& backend) {
    static std::mutex mutex;
    static auto& measured = *new std::map<std::string, Link>;
    const std::lock_guard lock(mutex);
    const auto found = measured.find(backend);
    if (found != measured.end()) return found->second;
    const auto device = runtime::backend(backend)->device();
    return measured[backend] = device ? measured_link(device) : Link{};
}

execute::Placement choose_placement(const kernel::Program& program,
                                    const std::vector<std::string>& backends, int threads) {
    user_check(!backends.empty(), "choose_placement: no devices. At least one is required.");
    std::vector<std::string> names;
    for (const std::string& name : backends)
        names.push_back(name == "cpu" ? "cpp" : runtime::backend(name)->name());
    const Scheduling scheduling(program, names, threads);
    auto [place, best] = scheduling.spread();
    for (size_t b = 0; b < names.size(); ++b) {
        const double alone = scheduling.seconds_on(b);
        if (alone > best) continue;
        best = alone;
        place.assign(place.size(), b);
    }
    // A name fits longer ones that go on with _: those come later, and decide.
    std::vector<size_t> order(place.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t k) { return program.kernels[k].name.size(); });
    execute::Placement placement;
    for (size_t k : order) placement.put(program.kernels[k].name, names[place[k]]);
    return placement;
}

}  // namespace composit::mosaic
