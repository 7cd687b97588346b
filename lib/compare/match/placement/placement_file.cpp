#include "compare/match/placement/placement_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "graph/op_name.h"
#include "io/file.h"

namespace msdump {
namespace {

constexpr uint64_t kMostLayoutBytes = uint64_t{4} << 20;
constexpr size_t kMostLines = 10'000, kLongestLayoutLine = 4096, kMostParts = 8, kMostStatedRanks = 100'000;
constexpr int64_t kMostBlocks = 8192, kMostOf = 1'000'000, kMostAxis = 63, kMostRank = UINT32_MAX;
constexpr std::string_view kReferencePrefix = "reference:", kBlanksOfLine = " \t\r";

// Up to a '#' that begins a comment.
std::string_view without_comment(std::string_view line) {
  for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  }
  return line;
}

// At separators that are not within parentheses.
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

Result<int64_t> number_in(std::string_view key, std::string_view text, int64_t least, int64_t most) {
  const std::optional<int64_t> number = parse_i64(text);
  if (number && *number >= least && *number <= most) return *number;
  return fail(make_error(ErrorCode::kUsage, "{}={}: must be a number from {} to {}", key, excerpt(text), least, most));
}

// "3" is three of one size.
Result<std::vector<int64_t>> blocks_in(std::string_view text) {
  std::vector<int64_t> blocks;
  for (const std::string_view one : split(text, ':')) {
    MSDUMP_TRY(const int64_t size, number_in("blocks", one, 1, kMostBlocks));
    blocks.push_back(size);
    if (blocks.size() > static_cast<size_t>(kMostBlocks)) return fail(ErrorCode::kUsage, "blocks: too many");
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
    if (first && last && std::max(*first, *last) > kMostRank)
      return fail(ErrorCode::kUsage, "ranks={}: a rank is at most {}", excerpt(text), kMostRank);
    if (!first || !last || *first < 0 || *last < *first || *last - *first >= static_cast<int64_t>(kMostStatedRanks) ||
        ranks.size() + static_cast<size_t>(*last - *first) >= kMostStatedRanks)
      return fail(ErrorCode::kUsage, "ranks={}: must be as 0-3,8", excerpt(text));
    for (int64_t rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

Result<CutRole> role_in(std::string_view name) {
  std::vector<std::string> names = {"times"};
  for (const CutRole role : {CutRole::kCopy, CutRole::kSum, CutRole::kMean, CutRole::kMax, CutRole::kConcat,
                             CutRole::kZigzag, CutRole::kGathered}) {
    if (name == name_of(role)) return role;
    names.emplace_back(name_of(role));
  }
  const auto near = closest_match(name, names);
  return fail(make_error(ErrorCode::kUsage, "'{}' is not a kind of layout", excerpt(name))
                  .with_hint(near ? fmt::format("did you mean '{}'?", *near)
                                  : fmt::format("the kinds are {}", fmt::join(names, ", "))));
}

// Which keys a role has, beside by and ranks.
bool takes(CutRole role, std::string_view key) {
  const bool cut = is_cut(role);
  if (key == "axis") return cut || role == CutRole::kGathered;
  if (key == "blocks") return cut;
  if (key == "of") return role == CutRole::kGathered;
  return key == "ranks" || (key == "by" && role != CutRole::kGathered);
}

Status take_key(std::string_view key, std::string_view value, CutDim& dim, StatedLayout& stated) {
  if (!takes(dim.role, key)) return fail(ErrorCode::kUsage, "{} takes no '{}'", name_of(dim.role), excerpt(key));
  if (key == "axis") {
    MSDUMP_TRY(const int64_t axis, number_in(key, value, 0, kMostAxis));
    dim.axis = static_cast<uint32_t>(axis);
  } else if (key == "by") {
    MSDUMP_TRY(dim.extent, number_in(key, value, 1, kMostOf));
  } else if (key == "of") {
    MSDUMP_TRY(const int64_t ranks, number_in(key, value, 2, kMostBlocks));
    dim.groups = {ranks};
  } else if (key == "blocks") {
    MSDUMP_TRY(dim.groups, blocks_in(value));
  } else {
    MSDUMP_TRY(stated.ranks, ranks_in(value));
  }
  return {};
}

// "concat(axis=1; by=2)"
Status take_part(std::string_view text, StatedLayout& stated) {
  if (text.starts_with("times=")) {
    const std::string_view value = text.substr(6);
    double& factor = stated.layout.factor;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), factor);
    if (error != std::errc{} || end != value.data() + value.size() || !std::isfinite(factor) || factor == 0)
      return fail(ErrorCode::kUsage, "times={}: must be a number other than 0", excerpt(value));
    return {};
  }
  const size_t open = text.find('(');
  if (open != std::string_view::npos && !text.ends_with(')'))
    return fail(ErrorCode::kUsage, "'{}': a closing parenthesis is missing", excerpt(text));
  CutDim dim;
  MSDUMP_TRY(dim.role, role_in(trimmed(text.substr(0, open))));
  dim.extent = dim.role == CutRole::kGathered ? 1 : 0;
  bool has_axis = false;
  if (open != std::string_view::npos) {
    for (const std::string_view item : split(text.substr(open + 1, text.size() - open - 2), ';')) {
      const size_t sign = item.find('=');
      const std::string_view key = trimmed(item.substr(0, sign));
      const std::string_view value = sign == std::string_view::npos ? "" : trimmed(item.substr(sign + 1));
      MSDUMP_CHECK_OK(take_key(key, value, dim, stated));
      has_axis = has_axis || key == "axis";
    }
  }
  if (takes(dim.role, "axis") && !has_axis) return fail(ErrorCode::kUsage, "{} needs axis=N", name_of(dim.role));
  if (dim.role == CutRole::kGathered && dim.groups.empty()) return fail(ErrorCode::kUsage, "gathered needs of=N");
  const bool alike = std::all_of(dim.groups.begin(), dim.groups.end(), [](int64_t size) { return size == 1; });
  if (dim.role == CutRole::kZigzag && !alike) return fail(ErrorCode::kUsage, "the blocks of a zigzag are of one size");
  stated.layout.dims.push_back(std::move(dim));
  return {};
}

// Each cut multiplies the boxes of a piece.
Status check_dimensions(const StatedLayout& stated) {
  int64_t blocks = 1;
  size_t open = 0;
  for (const CutDim& dim : stated.layout.dims) {
    int64_t own = std::max<int64_t>(static_cast<int64_t>(dim.groups.size()), 1);
    if (dim.role == CutRole::kGathered) own = dim.groups.front();
    blocks *= std::min(own, kMostBlocks + 1);
    if (blocks > kMostBlocks) return fail(ErrorCode::kUsage, "more than {} blocks", kMostBlocks);
    if (dim.extent == 0) ++open;
  }
  const CutLayout& layout = stated.layout;
  if (layout.has(CutRole::kMax) && layout.adds())
    return fail(ErrorCode::kUsage, "max does not go together with sum or mean");
  if (open > 1) return fail(ErrorCode::kUsage, "of several dimensions only one may go without by=N");
  return {};
}

bool ends_like_a_tensor(const std::string& pattern) { return pattern.find(':') != std::string::npos; }

std::string tensor_name(const LayoutSubject& subject) {
  return normalised_op_name(fmt::format("{}:{}:{}", subject.op_name, name_of(subject.io), subject.slot));
}

// Digits replaced by '*', a run of them by one.
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

// Within the first part that has parentheses: all but a lone factor do.
std::string with_ranks(const std::string& layout, std::span<const int64_t> ranks) {
  const size_t close = layout.find(')');
  const bool possible = close != std::string::npos && !ranks.empty() && ranks.front() >= 0;
  return possible ? layout.substr(0, close) + "; ranks=" + text_of_ranks(ranks) + layout.substr(close) : layout;
}

// In a glob, '?' stands for what ends one.
std::string glob_of(std::string name) {
  for (char& c : name) {
    if (c == ' ' || c == '\t' || c == '=' || c == '#' || c == '\n' || c == '\r') c = '?';
  }
  return name;
}

}  // namespace

std::optional<CutLayout> layout_for(const StatedLayout& stated, int64_t ranks) {
  CutLayout layout = stated.layout;
  int64_t rest = ranks;
  CutDim* open = nullptr;
  for (CutDim& dim : layout.dims) {
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
  return rest == 1 ? std::optional(std::move(layout)) : std::nullopt;
}

Result<LayoutRules> LayoutRules::parse(std::string_view text) {
  if (text.size() > kMostLayoutBytes)
    return fail(ErrorCode::kTooLarge, "{} bytes of layouts; at most {}", text.size(), kMostLayoutBytes);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  LayoutRules rules;
  size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (Status added = rules.add_line(line, ++number); !added) {
      Error error = std::move(added.error());
      error.message = fmt::format("line {}: {}", number, error.message);
      return fail(std::move(error));
    }
  }
  return rules;
}

Result<LayoutRules> LayoutRules::read(const std::string& path) {
  MSDUMP_TRY(const std::string text, read_text(path, kMostLayoutBytes, "a file of layouts"));
  Result<LayoutRules> rules = in_file(parse(text), path);
  if (rules) rules->path_ = path;
  return rules;
}

Status LayoutRules::add_line(std::string_view line, size_t number) {
  if (line.size() > kLongestLayoutLine)
    return fail(ErrorCode::kTooLarge, "{} bytes; at most {}", line.size(), kLongestLayoutLine);
  std::string_view text = trimmed(without_comment(line));
  if (text.empty()) return {};
  if (lines_.size() == kMostLines) return fail(ErrorCode::kTooLarge, "more than {} lines", kMostLines);
  StatedLayout stated;
  stated.line = number;
  stated.of_reference = text.starts_with(kReferencePrefix);
  if (stated.of_reference) text = trimmed(text.substr(kReferencePrefix.size()));
  const size_t sign = text.find('=');
  const std::string_view glob = trimmed(text.substr(0, sign));
  if (sign == std::string_view::npos || glob.empty() || glob.find_first_of(kBlanksOfLine) != std::string_view::npos)
    return fail(make_error(ErrorCode::kUsage, "'{}' is not GLOB = LAYOUT", excerpt(text))
                    .with_hint("*.up.*:output:0 = concat(axis=1)"));
  const std::string_view layout = trimmed(text.substr(sign + 1));
  const std::vector<std::string_view> parts = parts_of(layout);
  if (parts.size() > kMostParts + 1) return fail(ErrorCode::kUsage, "more than {} dimensions", kMostParts);
  for (const std::string_view part : parts) MSDUMP_CHECK_OK(take_part(part, stated));
  MSDUMP_CHECK_OK(check_dimensions(stated));
  stated.text = layout;
  std::string pattern = normalised_op_name(glob);
  const bool of_tensor = ends_like_a_tensor(pattern);
  lines_.push_back({QuickGlob(std::move(pattern)), of_tensor, std::move(stated)});
  return {};
}

const StatedLayout* LayoutRules::layout_of(const LayoutSubject& subject) const {
  if (lines_.empty()) return nullptr;
  const std::string name = normalised_op_name(subject.op_name), tensor = tensor_name(subject);
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
    const StatedLayout& stated = line->stated;
    if (stated.of_reference != subject.of_reference) continue;
    if (!stated.ranks.empty() &&
        !std::equal(stated.ranks.begin(), stated.ranks.end(), subject.ranks.begin(), subject.ranks.end()))
      continue;
    if (line->glob.matches(line->of_tensor ? tensor : name)) return &stated;
  }
  return nullptr;
}

std::string stated_text(const CutLayout& layout) {
  std::vector<std::string> parts;
  for (const CutDim& dim : layout.dims) {
    std::vector<std::string> keys;
    const bool cut = is_cut(dim.role);
    if (cut || dim.role == CutRole::kGathered) keys.push_back(fmt::format("axis={}", dim.axis));
    if (dim.role == CutRole::kGathered) keys.push_back(fmt::format("of={}", dim.groups.front()));
    if (dim.role != CutRole::kGathered) keys.push_back(fmt::format("by={}", dim.extent));
    if (cut && !dim.groups.empty()) {
      const bool ones = std::all_of(dim.groups.begin(), dim.groups.end(), [](int64_t size) { return size == 1; });
      keys.push_back(ones ? fmt::format("blocks={}", dim.groups.size())
                          : fmt::format("blocks={}", fmt::join(dim.groups, ":")));
    }
    parts.push_back(fmt::format("{}({})", name_of(dim.role), fmt::join(keys, "; ")));
  }
  if (layout.factor != 1) parts.push_back(fmt::format("times={}", layout.factor));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string layout_file_text(std::span<const FoundLayout> found) {
  struct Kind {
    std::string layout;
    bool agree = true, sure = true;
  };
  std::map<std::tuple<bool, std::string, std::string>, Kind> kinds;  // of the reference, starred name, io and slot
  const auto key_of = [](const FoundLayout& one) {
    return std::tuple(one.subject.of_reference, starred(one.subject.op_name),
                      fmt::format("{}:{}", name_of(one.subject.io), one.subject.slot));
  };
  for (const FoundLayout& one : found) {
    const std::string text = stated_text(*one.layout);
    const auto [kind, is_new] = kinds.try_emplace(key_of(one), Kind{text, true, true});
    kind->second.agree = kind->second.agree && kind->second.layout == text;
    kind->second.sure = kind->second.sure && one.sure;
  }
  const auto line = [](bool of_reference, const std::string& glob, const std::string& layout, bool sure) {
    return fmt::format("{}{} = {}{}\n", of_reference ? "reference:" : "", glob_of(glob), layout,
                       sure ? "" : "  # not sure");
  };
  std::string text;
  for (const auto& [key, kind] : kinds) {
    const auto& [of_reference, name, slot] = key;
    if (kind.agree && !kind.layout.empty()) text += line(of_reference, name + ":" + slot, kind.layout, kind.sure);
  }
  // A glob of one kind may match tensors of another: what has no line yet that says so gets one of its own. As many
  // matches as tensors and kinds, which are few.
  const Result<LayoutRules> rules = LayoutRules::parse(text);
  std::map<std::string, bool> written;
  for (const FoundLayout& one : found) {
    const std::string layout = stated_text(*one.layout);
    const StatedLayout* const said = rules ? rules->layout_of(one.subject) : nullptr;
    if (layout.empty() || (said != nullptr && said->text == layout)) continue;
    const std::string glob = fmt::format("{}:{}:{}", one.subject.op_name, name_of(one.subject.io), one.subject.slot);
    const std::string own = line(one.subject.of_reference, glob, with_ranks(layout, one.subject.ranks), one.sure);
    if (written.try_emplace(own, true).second) text += own;
  }
  return text;
}

}  // namespace msdump
