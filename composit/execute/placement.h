// Where kernels run, as a value that can be printed, saved, compared and passed on.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace composit::execute {

// Rules, of which the last that fits a kernel decides on its device:
//
//     Placement placement;
//     placement.put("encoder.layer.0", "opencl:0").put("softmax*", "cpu");
//
// A name fits a kernel that has it, one that reads a constant of that name or writes a tensor of
// it, and one that came from that line of the user's ("model.py:12"). It is compared as programs
// spell names, with _ for other characters, "encoder_layer_0". A name fits longer ones, too, that
// go on with _, as those of a module's parts and parameters do. * stands for any characters.
// A kernel that no rule fits runs where its node lies, if the graph says so (transfer), else where
// most of the bytes that it reads are made, with arguments on the program's own device; one that
// reads constants alone where it is read next. Rules by a kernel's own name move that kernel alone.
class Placement {
  public:
    // `device`: a back end's name, "cpp", "opencl:1", or "cpu" for the host. ValueError: empty
    // ones.
    Placement& put(const std::string& name, const std::string& device);

    struct Rule {
        std::string name, device;
    };
    const std::vector<Rule>& rules() const { return rules_; }
    bool empty() const { return rules_.empty(); }

    // A line for each rule, "encoder.layer.0: opencl:0".
    std::string print() const;
    // What print wrote. ValueError with the line that cannot be read, which begins with `where`.
    static Placement parse(const std::string& text, const std::string& where = "Placement.parse: ");
    // Writes what print gives, whole or not at all, and reads it. InputOutputError; ValueError with
    // the path and the line that cannot be read.
    void save(const std::filesystem::path& path) const;
    static Placement load(const std::filesystem::path& path);
    // "- head: cpu" and "+ head: opencl:0" for what `to` has otherwise; empty when equal.
    static std::string diff(const Placement& from, const Placement& to);

    // The back end of each kernel; of a kernel that nothing places, `otherwise`. `host` runs what
    // the graph has on the "cpu", and what rules put there unless it has a device of its own: that
    // is for "cpp", then. ValueError: a rule that fits no kernel, with names that there are.
    // KeyError: a device that is not there.
    std::vector<std::string> backends_of(const ir::kernel::Program& program,
                                         const std::string& otherwise,
                                         const std::string& host) const;

  private:
    std::vector<Rule> rules_;
};

}  // namespace composit::execute
