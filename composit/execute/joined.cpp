// Programs on several back ends: a list of steps, each of which copies a buffer to where it is
// needed or runs the kernels of one back end.
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/execute/build.h"
#include "composit/runtime/device.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <variant>

namespace composit::execute {
namespace {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Program;
using DevicePointer = std::shared_ptr<runtime::Device>;
using Clock = std::chrono::steady_clock;

struct Copy {
    int buffer;
    size_t from, to;  // devices
};
struct Work {
    size_t segment, device;
};
using Step = std::variant<Copy, Work>;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Notes when steps begin and end: of work on a device by events in its queue, else by the host's
// clock. Devices count from a point that both clocks saw.
class Recorder {
  public:
    explicit Recorder(const std::vector<DevicePointer>& devices) : devices_(devices) {
        for (const DevicePointer& device : devices_) {
            if (!device) {
                anchors_.push_back({});
                continue;
            }
            device->synchronise();
            Anchor anchor{device->record(), 0};
            anchor.event->wait();
            anchor.seconds = seconds_since(begin_);
            anchors_.push_back(std::move(anchor));
        }
    }
    // A copy begins when what it copies is there.
    template <class Function>
    void copy(size_t from, size_t to, std::string what, int64_t bytes, const Function& function) {
        if (devices_[from]) devices_[from]->record()->wait();
        note({{name_of(to), std::move(what), bytes}, to}, function);
    }
    template <class Function>
    void work(size_t device, std::string what, const Function& function) {
        Noted noted{{name_of(device), std::move(what)}, device};
        if (!devices_[device]) return note(std::move(noted), function);
        noted.begin = devices_[device]->record();
        function();
        noted.end = devices_[device]->record();
        noted_.push_back(std::move(noted));
    }
    Timeline steps() {
        for (const DevicePointer& device : devices_)
            if (device) device->synchronise();
        Timeline result;
        for (Noted& noted : noted_) {
            if (noted.begin) {
                const Anchor& anchor = anchors_[noted.device];
                noted.step.begin = anchor.seconds + noted.begin->seconds_since(*anchor.event);
                noted.step.end = anchor.seconds + noted.end->seconds_since(*anchor.event);
            }
            result.steps.push_back(std::move(noted.step));
        }
        std::ranges::stable_sort(result.steps, {}, &TimelineStep::begin);
        return result;
    }

  private:
    struct Noted;
    [[nodiscard]] std::string name_of(size_t device) const {
        return devices_[device] ? devices_[device]->name() : "cpu";
    }
    template <class Function>
    void note(Noted noted, const Function& function) {
        noted.step.begin = seconds_since(begin_);
        function();
        noted.step.end = seconds_since(begin_);
        noted_.push_back(std::move(noted));
    }

    struct Anchor {
        std::shared_ptr<runtime::Event> event;
        double seconds = 0;
    };
    struct Noted {
        TimelineStep step;
        size_t device = 0;
        std::shared_ptr<runtime::Event> begin = {}, end = {};
    };
    const std::vector<DevicePointer>& devices_;
    const Clock::time_point begin_ = Clock::now();
    std::vector<Anchor> anchors_;
    std::vector<Noted> noted_;
};

// Which copies are needed, and where each buffer has memory.
class Route {
  public:
    Route(const Program& program, const std::vector<Segment>& segments, const Homes& homes)
        : holds_(program.buffers.size()), offsets_(1, Offsets(program.buffers.size(), -1)) {
        devices_.push_back(nullptr);
        bytes_.push_back(0);
        own_.resize(program.buffers.size(), none);
        for (size_t i = 0; i < program.inputs.size(); ++i) {
            const auto number = static_cast<size_t>(program.inputs[i]);
            own_[number] = device_number(homes.inputs[i]);
            holds_[number] = {own_[number]};
        }
        for (size_t i = 0; i < program.outputs.size(); ++i) {
            const auto number = static_cast<size_t>(program.outputs[i]);
            own_[number] = device_number(homes.outputs[i]);
            if (program.buffers[number].starts_as >= 0) holds_[number] = {own_[number]};
        }
        for (size_t s = 0; s < segments.size(); ++s) {
            const Segment& segment = segments[s];
            const size_t device = device_number(runtime::backend(segment.backend)->device());
            for (int number : segment.inputs) bring(program, number, device);
            // What was written before is gone on with.
            for (int number : segment.outputs) bring(program, number, device);
            steps.emplace_back(Work{s, device});
            for (int number : segment.outputs) holds_[static_cast<size_t>(number)] = {device};
        }
        for (int number : program.outputs)
            bring(program, number, own_[static_cast<size_t>(number)]);
    }

    std::vector<Step> steps;
    [[nodiscard]] const std::vector<DevicePointer>& devices() const { return devices_; }
    // Of what a run allocates on each device.
    [[nodiscard]] const std::vector<int64_t>& bytes() const { return bytes_; }
    [[nodiscard]] int64_t offset(size_t device, size_t buffer) const {
        return offsets_[device][buffer];
    }
    // The device on which an argument or a result lies.
    [[nodiscard]] size_t home(size_t buffer) const { return own_[buffer]; }

  private:
    using Offsets = std::vector<int64_t>;
    static constexpr size_t none = SIZE_MAX;

    size_t device_number(const DevicePointer& device) {
        const auto found = std::ranges::find(devices_, device);
        if (found == devices_.end()) {
            devices_.push_back(device);
            bytes_.push_back(0);
            offsets_.emplace_back(holds_.size(), -1);
            return devices_.size() - 1;
        }
        return static_cast<size_t>(found - devices_.begin());
    }

    void bring(const Program& program, int number, size_t device) {
        const auto buffer = static_cast<size_t>(number);
        if (own_[buffer] != device && offsets_[device][buffer] < 0) {
            offsets_[device][buffer] = bytes_[device];
            bytes_[device] += (std::max<int64_t>(program.buffers[buffer].bytes, 1) + 255) & -256;
        }
        std::set<size_t>& holds = holds_[buffer];
        if (holds.empty() || holds.contains(device)) return;
        steps.emplace_back(Copy{number, *holds.begin(), device});
        holds.insert(device);
    }

    std::vector<DevicePointer> devices_;   // the first is host memory
    std::vector<std::set<size_t>> holds_;  // the devices on which each buffer is as it should be
    std::vector<Offsets> offsets_;         // by device and buffer; -1: none
    std::vector<int64_t> bytes_;
    std::vector<size_t> own_;
};

class JoinedExecutable : public Joined {
  public:
    JoinedExecutable(const Program& program, const std::vector<PlacedKernel>& placements,
                     std::vector<Segment> segments,
                     std::vector<std::shared_ptr<runtime::Executable>> executables,
                     const Homes& homes)
        : route_(program, segments, homes),
          inputs_(program.inputs),
          outputs_(program.outputs),
          placements_(placements),
          segments_(std::move(segments)),
          executables_(std::move(executables)) {
        for (const Buffer& buffer : program.buffers) {
            bytes_.push_back(buffer.bytes);
            names_.push_back(buffer.name);
        }
        for (Segment& segment : segments_) {
            const std::vector<ir::kernel::Kernel>& kernels = segment.program.kernels;
            std::string what = kernels.empty() ? "" : kernels.front().name;
            if (kernels.size() > 1) what += " to " + kernels.back().name;
            work_names_.push_back(std::move(what));
            segment.program = {};
        }
    }

    void run(const runtime::Run& run) const override { go(run, nullptr); }

    Timeline timeline(const runtime::Run& run) const override {
        Recorder recorder(route_.devices());
        go(run, &recorder);
        return recorder.steps();
    }

    std::vector<runtime::SourceFile> sources() const override {
        std::vector<runtime::SourceFile> all;
        std::string elsewhere;
        for (const PlacedKernel& placed : placements_)
            if (!placed.why.empty())
                elsewhere += comment_line(
                    text(placed.kernel, " runs on the ", placed.backend, ": ", placed.why));
        if (!elsewhere.empty()) all.push_back({"placements", elsewhere});
        for (size_t s = 0; s < segments_.size(); ++s)
            for (const runtime::SourceFile& file : executables_[s]->sources())
                all.push_back({text("segment_", s, "/", file.name), file.text});
        return all;
    }

    int64_t held_bytes() const override {
        int64_t sum = 0;
        for (const auto& executable : executables_) sum += executable->held_bytes();
        return sum;
    }

    std::string build_command() const override {
        std::vector<std::string> commands;
        for (const auto& executable : executables_) {
            const std::string command = executable->build_command();
            if (!command.empty()) commands.push_back(command);
        }
        return join(commands, "\n");
    }

  private:
    // Where each buffer lies on each device in one run.
    class Memory {
      public:
        Memory(const JoinedExecutable& program, const runtime::Run& run) : program_(program) {
            const Route& route = program.route_;
            own_.resize(program.bytes_.size(), nullptr);
            for (size_t i = 0; i < program.inputs_.size(); ++i)
                own_[static_cast<size_t>(program.inputs_[i])] = const_cast<void*>(run.inputs[i]);
            for (size_t i = 0; i < program.outputs_.size(); ++i)
                own_[static_cast<size_t>(program.outputs_[i])] = run.outputs[i];
            for (size_t d = 0; d < route.devices().size(); ++d) {
                const int64_t bytes = route.bytes()[d];
                if (bytes == 0) {
                    blocks_.emplace_back();
                } else if (d == 0) {
                    blocks_.push_back(ir::allocate_aligned(bytes));
                } else {
                    const auto block =
                        runtime::DeviceMemory::allocate(route.devices()[d], bytes, "temporaries");
                    blocks_.emplace_back(block, block->address());
                }
            }
        }
        void* operator()(size_t device, int number) const {
            const auto buffer = static_cast<size_t>(number);
            if (program_.route_.home(buffer) == device) return own_[buffer];
            const int64_t offset = program_.route_.offset(device, buffer);
            return static_cast<char*>(blocks_[device].get()) + offset;
        }

      private:
        const JoinedExecutable& program_;
        std::vector<void*> own_;
        std::vector<std::shared_ptr<void>> blocks_;
    };

    void go(const runtime::Run& run, Recorder* recorder) const {
        const Memory memory(*this, run);
        for (const Step& step : route_.steps) {
            if (const auto* copied = std::get_if<Copy>(&step)) {
                const int64_t bytes = bytes_[static_cast<size_t>(copied->buffer)];
                const auto function = [&] { copy(*copied, bytes, memory); };
                const std::string& name = names_[static_cast<size_t>(copied->buffer)];
                if (recorder)
                    recorder->copy(copied->from, copied->to, "copy " + name, bytes, function);
                else
                    function();
            } else {
                const Work& work = std::get<Work>(step);
                const auto function = [&] { execute(work, run, memory); };
                if (recorder)
                    recorder->work(work.device, work_names_[work.segment], function);
                else
                    function();
            }
        }
    }

    void copy(const Copy& copied, int64_t bytes, const Memory& memory) const {
        if (bytes == 0) return;
        const DevicePointer &from = route_.devices()[copied.from],
                            &to = route_.devices()[copied.to];
        const void* source = memory(copied.from, copied.buffer);
        void* target = memory(copied.to, copied.buffer);
        if (!from) return to->copy_from_host(target, source, bytes);
        if (!to) return from->copy_to_host(target, source, bytes);
        const std::shared_ptr<void> between = ir::allocate_aligned(bytes);
        from->copy_to_host(between.get(), source, bytes);
        to->copy_from_host(target, between.get(), bytes);
    }

    void execute(const Work& work, const runtime::Run& run, const Memory& memory) const {
        const Segment& segment = segments_[work.segment];
        runtime::Run part{{}, {}, run.threads, run.parallel_for};
        for (int number : segment.inputs) part.inputs.push_back(memory(work.device, number));
        for (int number : segment.outputs) part.outputs.push_back(memory(work.device, number));
        executables_[work.segment]->run(part);
    }

    const Route route_;
    std::vector<int64_t> bytes_;  // of each buffer
    std::vector<std::string> names_, work_names_;
    std::vector<int> inputs_, outputs_;
    std::vector<PlacedKernel> placements_;
    std::vector<Segment> segments_;  // without programs
    std::vector<std::shared_ptr<runtime::Executable>> executables_;
};

}  // namespace

std::shared_ptr<Joined> joined(const Program& program, const std::vector<PlacedKernel>& placements,
                               std::vector<Segment> segments,
                               std::vector<std::shared_ptr<runtime::Executable>> executables,
                               const Homes& homes) {
    return std::make_shared<JoinedExecutable>(program, placements, std::move(segments),
                                              std::move(executables), homes);
}

}  // namespace composit::execute
