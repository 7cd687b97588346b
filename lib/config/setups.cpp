#include "config/setups.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::array kReleases = {
    Version{1, 0, 0}, Version{1, 1, 0}, Version{1, 2, 0}, Version{1, 3, 0},  Version{1, 5, 0}, Version{1, 6, 0},
    Version{1, 7, 0}, Version{1, 8, 0}, Version{1, 9, 0}, Version{1, 10, 0}, Version{2, 0, 0}, Version{2, 1, 0},
    Version{2, 2, 0}, Version{2, 3, 0}, Version{2, 4, 0}, Version{2, 5, 0},  Version{2, 6, 0}, Version{2, 7, 0},
    Version{2, 7, 1}, Version{2, 8, 0}, Version{2, 9, 0}, Version{2, 10, 0}};
constexpr std::array kDevices = {Device::kCpu, Device::kGpu, Device::kAscend};

std::string_view word(Framework framework) { return framework == Framework::kPyTorch ? "PyTorch" : "MindSpore"; }

// Consecutive releases as ranges: "1.3 to 1.7", "2.4 and later".
std::string ranges(const std::vector<Version>& all, const std::vector<Version>& some) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (size_t i = 0; i < some.size();) {
    const auto first = std::find(all.begin(), all.end(), some[i]);
    size_t length = 0;
    while (i + length < some.size() && first + static_cast<std::ptrdiff_t>(length) != all.end() &&
           *(first + static_cast<std::ptrdiff_t>(length)) == some[i + length])
      ++length;
    const Version& last = some[i + length - 1];
    if (length == 1) {
      add(short_text(last));
    } else if (last == all.back()) {
      add(short_text(some[i]) + " and later");
    } else {
      add(fmt::format("{} to {}", short_text(some[i]), short_text(last)));
    }
    i += length;
  }
  return text;
}

// An axis of the setups: releases of MindSpore, or frameworks.
struct Axis {
  std::vector<Version> versions;
  std::vector<Framework> frameworks;

  bool operator==(const Axis&) const = default;
  void add(const Setup& setup) {
    if (std::find(versions.begin(), versions.end(), setup.version) == versions.end()) versions.push_back(setup.version);
    if (std::find(frameworks.begin(), frameworks.end(), setup.framework) == frameworks.end())
      frameworks.push_back(setup.framework);
  }
  // Empty when it equals `all`.
  [[nodiscard]] std::string text(const Axis& all) const {
    if (*this == all) return "";
    if (all.frameworks.size() > 1) return std::string(word(frameworks.front()));
    return "MindSpore " + ranges(all.versions, versions);
  }
};

std::string device_text(const std::vector<Device>& devices) {
  std::string text;
  for (const Device device : devices) {
    text += (text.empty() ? "" : device == devices.back() ? " or " : ", ");
    text += in_words(device);
  }
  return "on " + text;
}

// True for the end of a version number of Python: a pre- or post-release ("rc1", ".post1", "-dev3"), a build ("+cpu").
bool is_release_suffix(std::string_view text) {
  constexpr std::array<std::string_view, 8> kStages = {"alpha", "beta", "post", "dev", "rc", "a", "b", "c"};
  text = text.substr(0, text.find('+'));
  while (!text.empty()) {
    if (std::string_view(".-_").find(text.front()) != std::string_view::npos) text.remove_prefix(1);
    const auto stage = std::find_if(kStages.begin(), kStages.end(), [&](auto word) { return text.starts_with(word); });
    if (stage == kStages.end()) return false;
    text.remove_prefix(stage->size());
    while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
  }
  return true;
}

}  // namespace

std::string_view name_of(Device device) {
  switch (device) {
    case Device::kCpu: return "cpu";
    case Device::kGpu: return "gpu";
    case Device::kAscend: return "ascend";
  }
  return "";
}

std::string_view name_of(Framework framework) { return framework == Framework::kPyTorch ? "pytorch" : "mindspore"; }

std::string_view in_words(Device device) {
  switch (device) {
    case Device::kCpu: return "a CPU";
    case Device::kGpu: return "a GPU";
    case Device::kAscend: return "Ascend";
  }
  return "";
}

std::string_view name_of(ConfigKind kind) {
  switch (kind) {
    case ConfigKind::kDataDump: return "data_dump";
    case ConfigKind::kMsprobe: return "msprobe";
    case ConfigKind::kAcl: return "acl";
    case ConfigKind::kUnknown: break;
  }
  return "unknown";
}

std::string_view title_of(ConfigKind kind) {
  switch (kind) {
    case ConfigKind::kDataDump: return "MindSpore's data_dump.json";
    case ConfigKind::kMsprobe: return "msprobe's config.json";
    case ConfigKind::kAcl: return "a dump configuration of AscendCL";
    case ConfigKind::kUnknown: break;
  }
  return "not a dump configuration";
}

std::span<const Version> known_releases() { return kReleases; }

std::optional<TypedRelease> parse_release(std::string_view text) {
  if (text.starts_with('v') || text.starts_with('V')) text.remove_prefix(1);
  size_t end = 0;
  for (int count = 0; count < 3; ++count) {
    size_t at = count == 0 ? 0 : end + 1;
    if (count > 0 && (end >= text.size() || text[end] != '.' || at >= text.size() || !is_digit(text[at]))) break;
    while (at < text.size() && is_digit(text[at])) ++at;
    end = at;
  }
  const auto version = parse_version(text.substr(0, end));
  if (!version || !is_release_suffix(text.substr(end))) return std::nullopt;
  return TypedRelease{*version, end == text.size()};
}

std::string short_text(const Version& version) {
  std::string text = fmt::format("{}.{}", version.major, version.minor);
  if (version.patch != 0) text += fmt::format(".{}", version.patch);
  return text;
}

std::vector<Setup> setups_for(ConfigKind kind, const LintTarget& target, bool before_1_3) {
  std::vector<Version> versions = {{}};
  if (kind == ConfigKind::kDataDump && target.version) {
    versions = {*target.version};
  } else if (kind == ConfigKind::kDataDump) {
    versions.assign(before_1_3 ? kReleases.begin() : kReleases.begin() + 3, kReleases.end());
  }
  std::vector<Device> devices(kDevices.begin(), kDevices.end());
  if (kind == ConfigKind::kAcl) devices = {Device::kAscend};
  if (kind != ConfigKind::kAcl && target.device) devices = {*target.device};
  std::vector<Framework> frameworks = {Framework::kMindSpore};
  if (kind == ConfigKind::kMsprobe) {
    frameworks = {Framework::kPyTorch, Framework::kMindSpore};
    if (target.framework) frameworks = {*target.framework};
  }
  std::vector<Setup> setups;
  for (const Framework framework : frameworks) {
    for (const Version& version : versions) {
      for (const Device device : devices) setups.push_back({version, device, framework});
    }
  }
  return setups;
}

std::string where_text(std::span<const Setup> all, const std::vector<bool>& some) {
  if (std::find(some.begin(), some.end(), false) == some.end()) return "";
  Axis everything;
  std::map<Device, Axis> by_device;
  for (size_t i = 0; i < all.size(); ++i) {
    everything.add(all[i]);
    Axis& axis = by_device[all[i].device];  // an entry for every device, even if its axis stays empty
    if (some[i]) axis.add(all[i]);
  }
  // Groups devices with equal axes.
  std::vector<std::pair<Axis, std::vector<Device>>> groups;
  for (const auto& one : by_device) {
    const Axis& axis = one.second;  // clang 14 cannot capture a structured binding
    if (axis.versions.empty()) continue;
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == axis; });
    if (same == groups.end()) {
      groups.push_back({axis, {one.first}});
    } else {
      same->second.push_back(one.first);
    }
  }
  std::string text;
  for (const auto& [axis, devices] : groups) {
    std::string part = axis.text(everything);
    if (devices.size() < by_device.size()) part += (part.empty() ? "" : " ") + device_text(devices);
    text += (text.empty() ? "" : "; ") + part;
  }
  return text;
}

std::string versions_text(ConfigKind kind, std::span<const Setup> all) {
  if (all.empty() || kind == ConfigKind::kAcl || kind == ConfigKind::kUnknown) return "";
  if (kind == ConfigKind::kDataDump) {
    const std::string first = short_text(all.front().version), last = short_text(all.back().version);
    return first == last ? to_string(all.front().version) : fmt::format("{} to {}", first, last);
  }
  return all.front().framework == all.back().framework ? std::string(word(all.front().framework))
                                                       : "PyTorch and MindSpore";
}

}  // namespace msdump
