#include "kernels/cpu.h"

#include "kernels/dispatch.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <atomic>
#include <optional>

#include "base/text.h"

namespace msdump::kernels {
namespace {

constexpr std::string_view kScalar = "scalar";

// Set before any kernel runs.
std::atomic<bool> g_portable_forced{false};

bool is_portable(int64_t target) { return target == HWY_SCALAR || target == HWY_EMU128; }

std::string name_of_target(int64_t target) {
  return is_portable(target) ? std::string(kScalar) : to_lower(hwy::TargetName(target));
}

// The SIMD targets of the program that this CPU supports, as a mask; the lowest bit is the best.
int64_t vector_targets() {
  static const int64_t targets = [] {
    hwy::SetSupportedTargetsForTest(0);  // lifts the restriction of an earlier choice
    return hwy::SupportedTargets() & HWY_TARGETS & ~(HWY_SCALAR | HWY_EMU128);
  }();
  return targets;
}

// The target's bit; the whole mask for the empty name, 0 for "scalar".
std::optional<int64_t> target_named(std::string_view name) {
  const std::string wanted = to_lower(name);
  if (wanted.empty()) return vector_targets();
  if (wanted == kScalar) return 0;
  for (int64_t left = vector_targets(); left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    if (wanted == name_of_target(target) || (wanted == "avx512" && name_of_target(target) == "avx3")) return target;
  }
  return std::nullopt;
}

}  // namespace

bool portable_forced() { return g_portable_forced.load(std::memory_order_relaxed); }

Status choose_cpu_target(std::string_view name) {
  const std::optional<int64_t> target = target_named(name);
  if (!target) {
    std::string known;
    for (const std::string& available : available_cpu_targets()) known += (known.empty() ? "" : ", ") + available;
    return fail(make_error(ErrorCode::kUsage, "no such CPU target here: {}", name).with_hint("available: " + known));
  }
  g_portable_forced.store(*target == 0, std::memory_order_relaxed);
  hwy::SetSupportedTargetsForTest(*target);  // 0 lifts the restriction, but the flag overrides it
  hwy::GetChosenTarget().Update(*target);
  return {};
}

std::string cpu_target() {
  if (portable_forced()) return std::string(kScalar);
  const int64_t targets = hwy::SupportedTargets() & vector_targets();
  return targets == 0 ? std::string(kScalar) : name_of_target(targets & -targets);
}

std::vector<std::string> available_cpu_targets() {
  std::vector<std::string> names;
  for (int64_t left = vector_targets(); left != 0; left &= left - 1) names.push_back(name_of_target(left & -left));
  names.emplace_back(kScalar);
  return names;
}

}  // namespace msdump::kernels
