#include "compare/match/placement/placement_file.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/numbers.h"
#include "base/text.h"
#include "compare/limits.h"
#include "graph/op_name.h"
#include "io/file.h"

namespace msdump {
namespace {

constexpr RuleFormat kPlacementLines = {.content = "layouts",
                                        .rule = "lines",
                                        .most_bytes = uint64_t{4} << 20,
                                        .most_rules = 10'000,
                                        .most_line_bytes = 4096};
constexpr std::string_view kReferencePrefix = "reference:", kFactorPrefix = "times=";

// Splits at commas that are not within parentheses.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') inside = true;
    if (text[at] == ')') inside = false;
    if (text[at] != ',' || inside) continue;
    parts.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

// Reads the blocks "2:1:1"; "3" means three blocks of one size.
Result<std::vector<int64_t>> blocks_in(std::string_view text) {
  std::vector<int64_t> blocks;
  for (const std::string_view one : split(text, ':')) {
    MSDUMP_TRY(const int64_t size, integer_within("blocks", one, 1, kMostBlocks));
    blocks.push_back(size);
  }
  if (blocks.size() > 1) return blocks;
  const int64_t count = blocks.front();
  return count == 1 ? std::vector<int64_t>() : std::vector<int64_t>(static_cast<size_t>(count), 1);
}

Result<std::vector<int64_t>> ranks_in(std::string_view text) {
  std::vector<int64_t> ranks;
  for (const std::string_view item : split(text, ',')) {
    const size_t dash = item.find('-');
    const auto first = parse_i64(trimmed(item.substr(0, dash)));
    const auto last = dash == std::string_view::npos ? first : parse_i64(trimmed(item.substr(dash + 1)));
    if (first && last && std::max(*first, *last) > int64_t{UINT32_MAX})
      return fail(ErrorCode::kUsage, "ranks={}: a rank is at most {}", excerpt(text), UINT32_MAX);
    if (!first || !last || *first < 0 || *last < *first || *last - *first >= int64_t{kMostStated} ||
        ranks.size() + static_cast<size_t>(*last - *first) >= kMostStated)
      return fail(ErrorCode::kUsage, "ranks={}: must be as 0-3,8", excerpt(text));
    for (int64_t rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

bool are_of_one_size(const std::vector<int64_t>& blocks) {
  return std::all_of(blocks.begin(), blocks.end(), [](int64_t size) { return size == 1; });
}

Result<PlacementRole> role_in(std::string_view name) {
  std::vector<std::string> names = {"times"};
  for (const RoleTraits& role : all_roles()) {
    if (name == role.name) return static_cast<PlacementRole>(&role - all_roles().data());
    names.emplace_back(role.name);
  }
  return fail(make_error(ErrorCode::kUsage, "'{}' is not a kind of layout", excerpt(name))
                  .with_hint(did_you_mean(name, names, fmt::format("the kinds are {}", fmt::join(names, ", ")))));
}

// Reads one key, such as "axis=1".
Status take_key(std::string_view key, std::string_view value, PlacementDim& dim, StatedPlacement& stated) {
  if (key == "ranks") {
    MSDUMP_TRY(stated.ranks, ranks_in(value));
  } else if (!dim.traits().has_key(key)) {
    return fail(ErrorCode::kUsage, "{} takes no '{}'", dim.traits().name, excerpt(key));
  } else if (key == "axis") {
    MSDUMP_TRY(const int64_t axis, integer_within(key, value, 0, int64_t{kMostTried} - 1));
    dim.axis = static_cast<uint32_t>(axis);
  } else if (key == "of") {
    MSDUMP_TRY(const int64_t ranks, integer_within(key, value, 2, kMostBlocks));
    dim.groups = {ranks};
  } else if (key == "by") {
    MSDUMP_TRY(dim.extent, integer_within(key, value, 1, int64_t{kMostStated}));
  } else {
    MSDUMP_TRY(dim.groups, blocks_in(value));
  }
  return {};
}

Status take_factor(std::string_view text, Placement& placement) {
  const std::optional<double> factor = parse_f64(text);
  if (!factor || !std::isfinite(*factor) || *factor == 0)
    return fail(ErrorCode::kUsage, "times={}: must be a number other than 0", excerpt(text));
  placement.factor = *factor;
  return {};
}

// Reads one part, such as "concat(axis=1; by=2)".
Status take_part(std::string_view text, StatedPlacement& stated) {
  if (text.starts_with(kFactorPrefix)) return take_factor(text.substr(kFactorPrefix.size()), stated.placement);
  const size_t open = text.find('(');
  if (open != std::string_view::npos && !text.ends_with(')'))
    return fail(ErrorCode::kUsage, "'{}': a closing parenthesis is missing", excerpt(text));
  PlacementDim dim;
  MSDUMP_TRY(dim.role, role_in(trimmed(text.substr(0, open))));
  const RoleTraits& role = dim.traits();
  dim.extent = role.is_mesh_dim ? 0 : 1;
  std::set<std::string_view> present;
  if (open != std::string_view::npos) {
    for (const std::string_view item : split(text.substr(open + 1, text.size() - open - 2), ';')) {
      const auto [key, value] = key_value_of(item);
      MSDUMP_CHECK_OK(take_key(key, value.value_or(""), dim, stated));
      present.insert(key);
    }
  }
  for (const std::string_view key : {"axis", "of"}) {
    if (role.has_key(key) && !present.contains(key)) return fail(ErrorCode::kUsage, "{} needs {}=N", role.name, key);
  }
  if (dim.has_blocks() && !role.may_be_uneven && !are_of_one_size(dim.groups))
    return fail(ErrorCode::kUsage, "the blocks of a {} are of one size", role.name);
  stated.placement.dims.push_back(std::move(dim));
  return {};
}

// Limits the number of blocks, because each sharded dimension multiplies the boxes of a local tensor.
Status check_dimensions(const Placement& placement) {
  int64_t blocks = 1;
  size_t open = 0;
  std::set<PieceOverlap> reductions;
  for (const PlacementDim& dim : placement.dims) {
    blocks *= std::min(dim.blocks(), kMostBlocks + 1);
    if (blocks > kMostBlocks) return fail(ErrorCode::kUsage, "more than {} blocks", kMostBlocks);
    if (dim.extent == 0) ++open;
    if (dim.traits().reduction != PieceOverlap::kNone) reductions.insert(dim.traits().reduction);
  }
  if (reductions.size() > 1) return fail(ErrorCode::kUsage, "max does not go together with sum or mean");
  if (open > 1) return fail(ErrorCode::kUsage, "of several dimensions only one may go without by=N");
  return {};
}

std::string tensor_name(std::string_view op_name, const PlacementSubject& subject) {
  return fmt::format("{}:{}:{}", op_name, name_of(subject.io), subject.slot);
}

// The name with '*' in place of each run of digits.
std::string starred(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (!is_digit(c)) {
      result += c;
    } else if (!result.ends_with('*')) {
      result += '*';
    }
  }
  return result;
}

// Adds a key for the ranks to the first part that has parentheses. Only a lone factor has none.
std::string with_ranks(const std::string& text, std::span<const int64_t> ranks) {
  const size_t close = text.find(')');
  const bool possible = close != std::string::npos && !ranks.empty() && ranks.front() >= 0;
  return possible ? text.substr(0, close) + "; ranks=" + ranges_text(ranks) + text.substr(close) : text;
}

// A glob for the name: '?' stands for the characters that would end it.
std::string glob_of(std::string name) {
  for (char& c : name) {
    if (c == ' ' || c == '\t' || c == '=' || c == '#' || c == '\n' || c == '\r') c = '?';
  }
  return name;
}

}  // namespace

std::optional<Placement> placement_for(const StatedPlacement& stated, int64_t ranks) {
  Placement placement = stated.placement;
  int64_t rest = ranks;
  PlacementDim* open = nullptr;
  for (PlacementDim& dim : placement.dims) {
    if (dim.extent == 0) {
      open = &dim;
      continue;
    }
    if (rest % dim.extent != 0) return std::nullopt;
    rest /= dim.extent;
  }
  if (open != nullptr) {
    open->extent = rest;
    rest = 1;
  }
  return rest == 1 ? std::optional(std::move(placement)) : std::nullopt;
}

Result<PlacementRules> PlacementRules::parse(std::string_view text) {
  PlacementRules rules;
  MSDUMP_CHECK_OK(for_each_rule(text, kPlacementLines, [&](const RuleLine& line) -> Status {
    if (Status added = rules.add_line(line); !added) return line.wrong(std::move(added.error()));
    return {};
  }));
  return rules;
}

Result<PlacementRules> PlacementRules::read(const std::string& path) {
  MSDUMP_TRY(const std::string text, read_text(path, kPlacementLines.most_bytes, "a file of layouts"));
  Result<PlacementRules> rules = in_file(parse(text), path);
  if (rules) rules->path_ = path;
  return rules;
}

Status PlacementRules::add_line(const RuleLine& line) {
  StatedPlacement stated;
  stated.line = line.number;
  stated.of_reference = line.text.starts_with(kReferencePrefix);
  const auto [glob, parts] = key_value_of(line.text.substr(stated.of_reference ? kReferencePrefix.size() : 0));
  if (!parts || glob.empty() || glob.find_first_of(" \t\r") != std::string_view::npos)
    return fail(make_error(ErrorCode::kUsage, "'{}' is not GLOB = LAYOUT", excerpt(line.text))
                    .with_hint("*.up.*:output:0 = concat(axis=1)"));
  const std::vector<std::string_view> all = parts_of(*parts);
  if (all.size() > kFewTried + 1) return fail(ErrorCode::kUsage, "more than {} dimensions", kFewTried);
  for (const std::string_view part : all) MSDUMP_CHECK_OK(take_part(part, stated));
  MSDUMP_CHECK_OK(check_dimensions(stated.placement));
  stated.text = *parts;
  std::string pattern = normalised_op_name(glob);
  const bool of_tensor = pattern.find(':') != std::string::npos;
  lines_.push_back({QuickGlob(std::move(pattern)), of_tensor, std::move(stated)});
  return {};
}

const StatedPlacement* PlacementRules::placement_of(const PlacementSubject& subject) const {
  if (lines_.empty()) return nullptr;
  const std::string name = normalised_op_name(subject.op_name);
  const std::string tensor = normalised_op_name(tensor_name(subject.op_name, subject));
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
    const StatedPlacement& stated = line->stated;
    if (stated.of_reference != subject.of_reference) continue;
    if (!stated.ranks.empty() &&
        !std::equal(stated.ranks.begin(), stated.ranks.end(), subject.ranks.begin(), subject.ranks.end()))
      continue;
    if (line->glob.matches(line->of_tensor ? tensor : name)) return &stated;
  }
  return nullptr;
}

std::string stated_text(const Placement& placement) {
  std::vector<std::string> parts;
  for (const PlacementDim& dim : placement.dims) {
    const RoleTraits& role = dim.traits();
    std::vector<std::string> keys;
    if (role.has_key("axis")) keys.push_back(fmt::format("axis={}", dim.axis));
    if (role.has_key("of")) keys.push_back(fmt::format("of={}", dim.groups.front()));
    if (role.has_key("by")) keys.push_back(fmt::format("by={}", dim.extent));
    if (dim.has_blocks() && are_of_one_size(dim.groups)) {
      keys.push_back(fmt::format("blocks={}", dim.groups.size()));
    } else if (dim.has_blocks()) {
      keys.push_back(fmt::format("blocks={}", fmt::join(dim.groups, ":")));
    }
    parts.push_back(fmt::format("{}({})", role.name, fmt::join(keys, "; ")));
  }
  if (placement.factor != 1) parts.push_back(fmt::format("{}{}", kFactorPrefix, placement.factor));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string placement_file_text(std::span<const FoundPlacement> found) {
  struct Kind {
    std::string text;
    bool agree = true, is_sure = true;
  };
  std::map<std::tuple<bool, std::string, std::string>, Kind> kinds;  // by side, starred name, io and slot
  for (const FoundPlacement& one : found) {
    const std::string text = stated_text(*one.placement);
    const std::tuple key(one.subject.of_reference, starred(one.subject.op_name), tensor_name("", one.subject));
    Kind& kind = kinds.try_emplace(key, Kind{text}).first->second;
    kind.agree = kind.agree && kind.text == text;
    kind.is_sure = kind.is_sure && one.is_sure;
  }
  const auto line = [](bool of_reference, const std::string& glob, const std::string& placement, bool is_sure) {
    return fmt::format("{}{} = {}{}\n", of_reference ? kReferencePrefix : "", glob_of(glob), placement,
                       is_sure ? "" : "  # not sure");
  };
  std::string text;
  for (const auto& [key, kind] : kinds) {
    const auto& [of_reference, name, slot] = key;
    if (kind.agree && !kind.text.empty()) text += line(of_reference, name + slot, kind.text, kind.is_sure);
  }
  // A glob of one kind may match tensors of another. A tensor whose placement no line states yet gets a line of its own.
  const Result<PlacementRules> rules = PlacementRules::parse(text);
  std::set<std::string> written;
  for (const FoundPlacement& one : found) {
    const std::string own = stated_text(*one.placement);
    const StatedPlacement* const stated = rules ? rules->placement_of(one.subject) : nullptr;
    if (own.empty() || (stated != nullptr && stated->text == own)) continue;
    const std::string name = tensor_name(one.subject.op_name, one.subject);
    const std::string full = line(one.subject.of_reference, name, with_ranks(own, one.subject.ranks), one.is_sure);
    if (written.insert(full).second) text += full;
  }
  return text;
}

}  // namespace msdump
