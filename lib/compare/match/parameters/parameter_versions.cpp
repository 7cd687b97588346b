#include "compare/match/parameters/parameter_versions.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "compare/match/parameters/parameter_names.h"

namespace msdump {
namespace {

// "model.layers.3." of "model.layers.3.mlp.weight"; the name, if it has no number before its last component.
std::string_view layer_prefix(std::string_view name) {
  const auto layer = layer_in(name);
  const size_t end = layer ? layer->first + layer->second.size() : name.size();
  return name.substr(0, std::min(end + 1, name.size()));
}

}  // namespace

void ParameterVersions::add(const std::vector<ComparedParameter>& compared) {
  ++size_;
  for (const ComparedParameter& one : compared) {
    ByVersion& found = parameters_[one.name];
    found.resize(size_);
    found.back() = one;
  }
  for (auto& [name, found] : parameters_) found.resize(size_);
}

std::optional<size_t> ParameterVersions::nearest(const ByVersion& found) {
  std::optional<size_t> best;
  for (size_t version = 0; version < found.size(); ++version) {
    if (found[version].agrees && (!best || found[version].error < found[*best].error)) best = version;
  }
  return best;
}

std::optional<size_t> ParameterVersions::version_of(const ByVersion& found, size_t most) {
  const std::optional<size_t> best = nearest(found);
  return best && found[most].agrees && found[most].error <= 2 * found[*best].error ? most : best;
}

size_t ParameterVersions::most() const {
  std::vector<uint64_t> votes(size_);
  for (const auto& [name, found] : parameters_) {
    const std::optional<size_t> best = nearest(found);
    if (!best) continue;
    for (size_t version = 0; version < size_; ++version)
      votes[version] += static_cast<uint64_t>(found[version].agrees && found[version].error == found[*best].error);
  }
  return static_cast<size_t>(std::max_element(votes.rbegin(), votes.rend()).base() - votes.begin()) - 1;
}

std::vector<uint64_t> ParameterVersions::counts() const {
  std::vector<uint64_t> counts(size_);
  const size_t most = this->most();
  for (const auto& [name, found] : parameters_) {
    if (const auto version = version_of(found, most)) ++counts[*version];
  }
  return counts;
}

std::vector<ParameterVersions::Group> ParameterVersions::others() const {
  const size_t most = this->most();
  const auto kind_of = [&](const ByVersion& found) {
    const std::optional<size_t> version = version_of(found, most);
    return std::pair(version, version && found[*version].error == 0);
  };
  // Names that begin alike follow each other.
  std::vector<Group> groups;
  for (auto first = parameters_.begin(); first != parameters_.end();) {
    const std::string_view prefix = layer_prefix(first->first);
    auto end = first;
    while (end != parameters_.end() && (end == first || (prefix != first->first && end->first.starts_with(prefix))))
      ++end;
    const bool alike =
        std::all_of(first, end, [&](const auto& one) { return kind_of(one.second) == kind_of(first->second); });
    for (auto one = first; one != end; ++one) {
      const auto [version, equal] = kind_of(one->second);
      if (version == most) continue;
      const bool whole = alike && std::next(first) != end;
      if (whole && one != first) {
        ++groups.back().parameters;
      } else {
        groups.push_back({whole ? std::string(prefix) + "*" : one->first, 1, version, equal});
      }
    }
    first = end;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& x, const Group& y) { return natural_less(x.names, y.names); });
  return groups;
}

}  // namespace msdump
