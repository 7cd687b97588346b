#include "dump/names/dumper_name.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::string_view kBetween = "___", kHooked = "non_intrusive__", kParameter = "param__";

using Tag = std::pair<std::string_view, std::string_view>;  // key and value

bool is_key(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return !text.empty() && !is_digits(text.substr(0, 1)) && text.find_first_not_of(kLetters) == text.npos;
}

// The tags in their order; none if a key is missing or comes twice. A value may hold the separator, but neither a key nor '='.
std::optional<std::vector<Tag>> tags_of(std::string_view stem) {
  std::vector<Tag> tags;
  for (size_t begin = 0; begin <= stem.size();) {
    const size_t end = std::min(stem.find(kBetween, begin), stem.size());
    const std::string_view part = stem.substr(begin, end - begin);
    const size_t equals = part.find('=');
    begin = end + kBetween.size();
    if (equals != part.npos && is_key(part.substr(0, equals))) {
      tags.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    } else if (!tags.empty()) {
      std::string_view& value = tags.back().second;
      value = {value.data(), static_cast<size_t>(stem.data() + end - value.data())};
    } else {
      return std::nullopt;
    }
  }
  std::stable_sort(tags.begin(), tags.end(), [](const Tag& a, const Tag& b) { return a.first < b.first; });
  const auto same_key = [](const Tag& a, const Tag& b) { return a.first == b.first; };
  if (std::adjacent_find(tags.begin(), tags.end(), same_key) != tags.end()) return std::nullopt;
  return tags;
}

// MODULE.inputs.K, MODULE.output, MODULE.output.K: takes io and slot off the name.
void take_hooked(std::string_view& name, DumperName& found) {
  constexpr std::string_view kInputs = "inputs", kOutput = "output";
  for (size_t end = name.size(); end > 0;) {
    const size_t dot = name.rfind('.', end - 1);
    const size_t begin = dot == name.npos ? 0 : dot + 1;
    const std::string_view part = name.substr(begin, end - begin);
    const bool input = part == kInputs;
    if (input || part == kOutput) {
      found.io = input ? Io::kInput : Io::kOutput;
      found.slot = end < name.size() ? name.substr(end + 1) : "0";
      name = dot == name.npos ? "root" : name.substr(0, dot);
      return;
    }
    if (dot == name.npos) return;
    end = dot;
  }
}

bool says_nothing(const Tag& tag) {
  constexpr std::array<std::string_view, 5> kOfProcess = {"pp_rank", "tp_rank", "cp_rank", "ep_rank", "etp_rank"};
  return std::find(kOfProcess.begin(), kOfProcess.end(), tag.first) != kOfProcess.end() ||
         tag == Tag{"recompute_status", "disabled"};
}

}  // namespace

std::optional<DumperName> parse_dumper_name(std::string_view stem) {
  if (stem.find(kBetween) == stem.npos || stem.find("name=") == stem.npos) return std::nullopt;
  const auto tags = tags_of(stem);
  if (!tags) return std::nullopt;
  DumperName found;
  std::string_view name, layer;
  std::string others;
  for (const Tag& tag : *tags) {
    const auto& [key, value] = tag;
    if (key == "name") {
      name = value;
    } else if (key == "step" || key == "forward_pass_id") {
      found.step = is_digits(value) ? parse_i64(value) : std::nullopt;
      if (!found.step) return std::nullopt;
    } else if (key == "rank") {
      found.rank = is_digits(value) ? parse_i64(value) : std::nullopt;
      if (!found.rank) return std::nullopt;
    } else if (key == "dump_index" && is_digits(value)) {
      found.index = value;
    } else if (key == "layer_id" && is_digits(value)) {
      layer = value;
    } else if (!says_nothing(tag)) {
      others.append(".").append(key).append("=").append(value);
    }
  }
  // Other tools write key=value, too.
  if (name.empty() || (!found.rank && !found.step && found.index.empty())) return std::nullopt;
  if (name.starts_with(kHooked)) {
    name.remove_prefix(kHooked.size());
    take_hooked(name, found);
    layer = {};
  } else if (name.starts_with(kParameter) && name.size() > kParameter.size()) {
    name.remove_prefix(kParameter.size());
    found.io = Io::kParameter;
    layer = {};
  }
  if (!layer.empty()) found.op_name.append("layers.").append(layer).append(".");
  found.op_name.append(name).append(others);
  return found;
}

}  // namespace msdump
