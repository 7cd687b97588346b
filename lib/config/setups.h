// Setups: the releases, devices and frameworks that a configuration is judged for. A rule asks each setup what it would do,
// so "refused by MindSpore 1.3 to 2.2 on a CPU" is computed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"

namespace msdump {

enum class ConfigKind : uint8_t { kUnknown, kDataDump, kMsprobe, kAcl };
// "data_dump", "msprobe", "acl", "unknown": words of the machine output.
[[nodiscard]] std::string_view name_of(ConfigKind kind);
// "MindSpore's data_dump.json"
[[nodiscard]] std::string_view title_of(ConfigKind kind);

enum class Device : uint8_t { kCpu, kGpu, kAscend };
[[nodiscard]] std::string_view name_of(Device device);   // "cpu": words of the tables of keys
[[nodiscard]] std::string_view in_words(Device device);  // "a CPU", "Ascend"
enum class Framework : uint8_t { kMindSpore, kPyTorch };
[[nodiscard]] std::string_view name_of(Framework framework);  // "mindspore"

struct Setup {
  Version version;  // of MindSpore; 0 if it does not matter
  Device device = Device::kAscend;
  Framework framework = Framework::kMindSpore;
};

// The part of the setup that the user stated. An unset member can be anything.
struct LintTarget {
  std::optional<Version> version;  // of MindSpore
  std::optional<Device> device;
  std::optional<Framework> framework;
  std::string diagnostic_path;  // $MS_DIAGNOSTIC_DATA_PATH
  std::optional<Version> msprobe = {};
};

// The releases of MindSpore that read a data_dump.json, oldest first: 1.0 to 2.10.
[[nodiscard]] std::span<const Version> known_releases();
// The first and the newest release of msprobe (mindstudio-probe on PyPI) that the tables know.
inline constexpr Version kFirstMsprobe{1, 0, 1}, kNewestMsprobe{26, 2, 0};
// A release as people type it: "2.7", "v2.7", "2.3.0rc1", "2.7.post1", "2.7.0+cpu". `exact` is false if it has more than
// the numbers. No value for anything else.
struct TypedRelease {
  Version version;
  bool exact = true;
};
[[nodiscard]] std::optional<TypedRelease> parse_release(std::string_view text);
// "2.10", "2.7.1"
[[nodiscard]] std::string short_text(const Version& version);

// `before_1_3`: the file looks like one for 1.0 to 1.2, so these are included.
[[nodiscard]] std::vector<Setup> setups_for(ConfigKind kind, const LintTarget& target, bool before_1_3 = false);

// "MindSpore 1.3 to 2.2 on a CPU": the setups of `some` among `all`. Empty if `some` is all of them.
[[nodiscard]] std::string where_text(std::span<const Setup> all, const std::vector<bool>& some);
// "1.3 to 2.10", "PyTorch and MindSpore": the releases or frameworks of the setups.
[[nodiscard]] std::string versions_text(ConfigKind kind, std::span<const Setup> all);

}  // namespace msdump
