#include "checkpoint/shard_index.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "io/read_text.h"
#include "msprobe/json_members.h"

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

  // `root`: where the object begins.
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

}  // namespace msdump
