#include "composit/eager/recording.h"

#include <utility>

namespace composit::eager {
namespace {

thread_local bool is_on_now = true;

}  // namespace

bool is_recording() { return is_on_now; }
bool set_recording(bool is_on) { return std::exchange(is_on_now, is_on); }

}  // namespace composit::eager
