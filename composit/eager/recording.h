// Whether the operations of a thread are recorded on the tape.
//
//     {
//         const NoGrad scope;  // PyTorch's torch.no_grad()
//         weights.assign(weights - 0.1 * step);
//     }
#pragma once

namespace composit::eager {

// True unless the thread is within a scope that says otherwise.
[[nodiscard]] bool is_recording();
// Says it for this thread from now on; returns what was said before.
bool set_recording(bool is_on);

// Operations of this thread are recorded or not until the scope ends.
class RecordingScope {
  public:
    explicit RecordingScope(bool is_on) : before_(set_recording(is_on)) {}
    ~RecordingScope() { set_recording(before_); }
    RecordingScope(const RecordingScope&) = delete;
    RecordingScope& operator=(const RecordingScope&) = delete;

  private:
    bool before_;
};

// They are not recorded: no gradient goes through what they make.
class NoGrad : public RecordingScope {
  public:
    NoGrad() : RecordingScope(false) {}
};

// They are recorded, within a NoGrad, too.
class EnableGrad : public RecordingScope {
  public:
    EnableGrad() : RecordingScope(true) {}
};

}  // namespace composit::eager
