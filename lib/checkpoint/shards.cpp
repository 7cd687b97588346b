#include "checkpoint/shards.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "msprobe/json_text.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

constexpr uint64_t kMostIndexBytes = 100'000'000;
constexpr size_t kMostParameters = 500'000;
constexpr size_t kMostPairBytes = size_t{64} << 10, kMostIndexMetadata = size_t{1} << 20;

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos && name.find('\0') == name.npos;
}

class IndexReader {
 public:
  explicit IndexReader(std::string_view text) : text_(text) {}

  // `root` is the offset of the object.
  Result<ShardIndex> run(size_t root) {
    JsonMemberReader members(text_, root);
    size_t map = root;
    for (;;) {
      MSDUMP_TRY(const auto member, members.next());
      if (!member) break;
      if (text_[member->begin] != '{') continue;
      if (member->key == "weight_map") map = member->begin;
      if (member->key == "metadata") MSDUMP_CHECK_OK(metadata(*member));
    }
    MSDUMP_CHECK_OK(members.check_end());
    MSDUMP_CHECK_OK(weight_map(map));
    return std::move(result_);
  }

 private:
  Status weight_map(size_t begin) {
    JsonMemberReader members(text_, begin);
    for (;;) {
      MSDUMP_TRY(const auto member, members.next());
      if (!member) return {};
      MSDUMP_CHECK_OK(parameter(*member));
    }
  }

  Status parameter(const JsonMemberPlace& member) {
    if (result_.parameters.size() == kMostParameters)
      return fail(ErrorCode::kTooLarge, "more than {} parameters", kMostParameters);
    if (member.end - member.begin > kMostPairBytes)
      return fail(ErrorCode::kTooLarge, "{}: a name of {} bytes", excerpt(member.key), member.end - member.begin);
    MSDUMP_TRY(const JsonValue value, parse_json_at(text_, member.begin, member.end));
    if (!value.is(JsonKind::kString))
      return bad_json(text_, member.begin, fmt::format("{}: expected the name of a file", excerpt(member.key)));
    if (!is_plain_name(value.text)) {
      return fail(make_error(ErrorCode::kUnsafeName, "{}: '{}' is not the name of a file beside the index",
                             excerpt(member.key), excerpt(value.text))
                      .with_offset(member.begin));
    }
    if (!names_.insert(member.key).second)
      return bad_json(text_, member.begin, fmt::format("{}: the name stands twice", excerpt(member.key)));
    const auto [place, is_new] = places_.try_emplace(value.text, static_cast<uint32_t>(result_.files.size()));
    if (is_new) result_.files.push_back(value.text);
    result_.parameters.emplace_back(member.key, place->second);
    return {};
  }

  Status metadata(const JsonMemberPlace& member) {
    if (member.end - member.begin > kMostIndexMetadata)
      return fail(ErrorCode::kTooLarge, "metadata of {} bytes", member.end - member.begin);
    MSDUMP_TRY(const JsonValue value, parse_json_at(text_, member.begin, member.end));
    const JsonValue* const size = value.find("total_size");
    const auto number = size == nullptr ? std::nullopt : size->as_double();  // some write 1.5e10
    constexpr double kMost = 9e18;
    if (number && *number >= 0 && *number < kMost) {
      const auto whole = size->as_int();
      result_.total_size = whole ? static_cast<uint64_t>(*whole) : static_cast<uint64_t>(*number);
    }
    return {};
  }

  std::string_view text_;
  ShardIndex result_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, uint32_t> places_;
};

Result<ShardIndex> read_index(const File& file) {
  MSDUMP_TRY(const LargeText text, read_large_text(file, kMostIndexBytes, "the index of a checkpoint"));
  const std::string_view view = text.view();
  const size_t begin = skip_json_space(view, 0);
  if (begin == view.size() || view[begin] != '{') return bad_json(view, begin, "expected an object");
  return IndexReader(view).run(begin);
}

}  // namespace

bool is_shard_index_name(std::string_view name) {
  constexpr std::array<std::string_view, 2> kEnds = {".safetensors.index.json", ".bin.index.json"};
  return name == "param_name_map.json" ||
         std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return name.ends_with(end); });
}

Result<ShardIndex> read_shard_index(const File& file) { return in_file(read_index(file), file.path()); }

namespace {

struct ShardParameter {
  std::string name;
  uint64_t offset = 0, bytes = 0;
};

Result<std::vector<ShardParameter>> parameters_of(const File& file) {
  std::vector<ShardParameter> parameters;
  if (torch::looks_like_pt(file.head())) {
    MSDUMP_TRY(torch::PtFile pt, torch::read_pt(file));
    for (torch::PtTensor& tensor : pt.tensors)
      parameters.push_back({std::move(tensor.key), tensor.offset, tensor.bytes});
    return parameters;
  }
  MSDUMP_TRY(SafeTensors checkpoint, read_safetensors(file));
  for (StoredParameter& tensor : checkpoint.tensors)
    parameters.push_back({std::move(tensor.name), tensor.offset, tensor.bytes});
  return parameters;
}

// "2 parameters: a, b", "9 parameters: a, b, c, .."
std::string names_text(const std::vector<std::string_view>& names) {
  constexpr size_t kShown = 3;
  std::string text = plural(names.size(), "parameter");
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i == 0 ? ": " : ", ") + excerpt(names[i]);
  return names.size() > kShown ? text + ", .." : text;
}

class ShardChecker {
 public:
  ShardChecker(const ShardIndex& index, const std::string& folder) : index_(index), folder_(folder) {
    listed_.resize(index.files.size());
    for (const auto& [name, file] : index.parameters) listed_[file].push_back(name);
  }

  ShardCheck run(const CancelToken& cancel) {
    for (size_t i = 0; i < index_.files.size() && !cancel.cancelled(); ++i) check_file(index_.files[i], listed_[i]);
    if (complete_) {
      result_.bytes = bytes_;
      check_total();
    }
    return std::move(result_);
  }

 private:
  void check_file(const std::string& name, const std::vector<std::string_view>& listed) {
    const auto file = File::open(join_path(folder_, name));
    const auto found = file ? parameters_of(*file) : tl::unexpected(file.error());
    if (!found) {
      complete_ = false;
      const bool missing = found.error().code == ErrorCode::kNotFound;
      const ShardFaultKind kind = missing ? ShardFaultKind::kMissingFile : ShardFaultKind::kUnreadable;
      add(kind, name, missing ? "missing, with " + names_text(listed) : found.error().message);
      result_.faults.back().problem = found.error();
      return;
    }
    std::set<std::pair<uint64_t, uint64_t>> places;
    std::unordered_set<std::string_view> present;
    for (const ShardParameter& parameter : *found) {
      present.insert(parameter.name);
      bytes_ += parameter.bytes;
      shared_bytes_ += places.emplace(parameter.offset, parameter.bytes).second ? 0 : parameter.bytes;
    }
    compare(name, listed, *found, present);
  }

  void compare(const std::string& name, const std::vector<std::string_view>& listed,
               const std::vector<ShardParameter>& found, const std::unordered_set<std::string_view>& present) {
    std::vector<std::string_view> missing, unlisted;
    for (const std::string_view parameter : listed) {
      if (!present.contains(parameter)) missing.push_back(parameter);
    }
    if (!missing.empty()) add(ShardFaultKind::kMissing, name, "lacks " + names_text(missing));
    const std::unordered_set<std::string_view> known(listed.begin(), listed.end());
    for (const ShardParameter& parameter : found) {
      if (!known.contains(parameter.name)) unlisted.push_back(parameter.name);
    }
    if (!unlisted.empty())
      add(ShardFaultKind::kUnlisted, name, "holds what the index does not have in it: " + names_text(unlisted));
  }

  // Tied weights count once for some writers.
  void check_total() {
    const auto total = index_.total_size;
    if (!total || *total == bytes_ || *total == bytes_ - shared_bytes_) return;
    add(ShardFaultKind::kTotalSize, "", fmt::format("total_size is {}; the parameters take {}", *total, bytes_));
  }

  void add(ShardFaultKind kind, const std::string& file, std::string text) {
    result_.faults.push_back({kind, file, std::move(text)});
  }

  const ShardIndex& index_;
  const std::string& folder_;
  std::vector<std::vector<std::string_view>> listed_;  // by file
  ShardCheck result_;
  uint64_t bytes_ = 0, shared_bytes_ = 0;
  bool complete_ = true;
};

}  // namespace

ShardCheck check_shards(const ShardIndex& index, const std::string& folder, const CancelToken& cancel) {
  return ShardChecker(index, folder).run(cancel);
}

}  // namespace msdump
