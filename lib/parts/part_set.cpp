#include "parts/part_set.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/ranges.h>

#include "base/text.h"
#include "io/read_text.h"

namespace msdump {
namespace {

constexpr uint64_t kMostPartBytes = uint64_t{64} << 30;
constexpr size_t kMostNamed = 8;

bool by_key(const std::pair<FactKey, std::string_view>& a, const std::pair<FactKey, std::string_view>& b) {
  return a.first < b.first;
}

Error unlike(const std::string& path, std::string_view what, std::string_view found, std::string_view expected) {
  return make_error(ErrorCode::kUsage, "is of another run: {} {}, where {} has {}", what, excerpt(found),
                    "the first part", excerpt(expected))
      .with_path(path)
      .with_hint("all parts have to be made with the same options, of the same dump, by the same msdump");
}

Error incomplete(const std::string& path, std::string_view problem) {
  return make_error(ErrorCode::kUsage, "is of a dump that could not be read whole: {}", problem)
      .with_path(path)
      .with_hint("run this shard again");
}

}  // namespace

Result<PartSet> PartSet::read(const std::vector<std::string>& paths, std::string_view version) {
  PartSet set;
  for (const std::string& path : paths) MSDUMP_CHECK_OK(set.add(path, version));
  MSDUMP_CHECK_OK(set.check_complete());
  std::sort(set.facts_.begin(), set.facts_.end(), by_key);
  return set;
}

Status PartSet::add(const std::string& path, std::string_view version) {
  MSDUMP_TRY(const File file, File::open(path));
  const std::string_view head(reinterpret_cast<const char*>(file.head().data()), file.head().size());
  if (!looks_like_part(head)) return fail(read_part(head, path).error());
  MSDUMP_TRY(LargeText text, read_large_text(file, kMostPartBytes, "a part"));
  MSDUMP_TRY(ReadPart read, read_part(text.view(), path));
  if (read.header.version != version) {
    return fail(
        make_error(ErrorCode::kUsage, "was made by msdump {}, and this is {}", excerpt(read.header.version), version)
            .with_path(path)
            .with_hint("make and merge parts with one version"));
  }
  Part part{path, std::move(text.bytes), std::move(read.header)};
  MSDUMP_CHECK_OK(check_alike(part));
  facts_.insert(facts_.end(), read.facts.begin(), read.facts.end());
  by_index_.emplace(part.header.shard.index, parts_.size());
  parts_.push_back(std::move(part));
  return {};
}

Status PartSet::check_alike(const Part& part) const {
  const PartHeader& mine = part.header;
  if (parts_.empty()) return {};
  const PartHeader& first = header();
  const auto count = [](const PartHeader& one) { return fmt::format("N {}", one.shard.count); };
  if (mine.command != first.command) return fail(unlike(part.path, "command", mine.command, first.command));
  if (mine.shard.count != first.shard.count) return fail(unlike(part.path, "--shard with", count(mine), count(first)));
  if (mine.options != first.options) {
    const auto text = [](const PartHeader& one) { return fmt::format("'{}'", fmt::join(one.options, " ")); };
    return fail(unlike(part.path, "options", text(mine), text(first)));
  }
  if (mine.inputs != first.inputs || mine.units != first.units) {
    // A folder that one of them could not read says more than two digests.
    if (!mine.problems.empty()) return fail(incomplete(part.path, mine.problems.front()));
    if (!first.problems.empty()) return fail(incomplete(parts_.front().path, first.problems.front()));
    return fail(unlike(part.path, "a dump with", mine.inputs, first.inputs));
  }
  const auto same = by_index_.find(mine.shard.index);
  if (same == by_index_.end()) return {};
  return fail(make_error(ErrorCode::kUsage, "is part {}, like {}", to_string(mine.shard), parts_[same->second].path)
                  .with_path(part.path)
                  .with_hint("give each part once"));
}

Status PartSet::check_complete() const {
  if (parts_.empty()) return fail(ErrorCode::kUsage, "no parts are given");
  std::vector<std::string> missing;
  size_t more = 0;
  for (uint32_t i = 1; i <= header().shard.count; ++i) {
    if (by_index_.contains(i)) continue;
    if (missing.size() < kMostNamed) {
      missing.push_back(to_string(Shard{i, header().shard.count}));
    } else {
      ++more;
    }
  }
  if (missing.empty()) return {};
  return fail(make_error(ErrorCode::kUsage, "the parts are not all of the run: {}{} {} missing",
                         fmt::join(missing, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
                         missing.size() > 1 ? "are" : "is")
                  .with_hint("run these shards again, then merge"));
}

std::optional<std::string_view> PartSet::find(const FactKey& key) const {
  const auto found = std::lower_bound(facts_.begin(), facts_.end(), std::pair(key, std::string_view()), by_key);
  if (found == facts_.end() || found->first != key) return std::nullopt;
  return found->second;
}

}  // namespace msdump
