#include "parts/part_file.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

#include <fmt/ranges.h>

#include "base/text.h"
#include "io/file.h"
#include "kernels/digest/digest.h"

namespace msdump {

Result<Shard> parse_shard(std::string_view text) {
  const size_t slash = std::min(text.find('/'), text.size());
  const auto index = parse_u64(text.substr(0, slash));
  const auto count = parse_u64(text.substr(std::min(slash + 1, text.size())));
  if (!index || !count || *index < 1 || *index > *count || *count > kMostShards) {
    return fail(make_error(ErrorCode::kUsage, "'{}' is not I/N with 1 <= I <= N <= {}", excerpt(text), kMostShards)
                    .with_hint("--shard 1/4 is the first of four parts"));
  }
  return Shard{static_cast<uint32_t>(*index), static_cast<uint32_t>(*count)};
}

std::string to_string(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

std::vector<uint32_t> shares_of(std::span<const uint64_t> bytes, uint32_t count) {
  std::vector<size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  using Load = std::pair<uint64_t, uint32_t>;  // bytes, shard: of equal ones the first
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (uint32_t shard = 1; shard <= count; ++shard) loads.emplace(0, shard);
  std::vector<uint32_t> shares(bytes.size());
  for (const size_t unit : order) {
    const auto [load, shard] = loads.top();
    loads.pop();
    shares[unit] = shard;
    const uint64_t sum = load + std::max<uint64_t>(bytes[unit], 1);
    loads.emplace(sum < load ? UINT64_MAX : sum, shard);
  }
  return shares;
}

namespace {

constexpr std::string_view kMagic = "msdump-part ", kFormat = "1", kHexDigits = "0123456789ABCDEF";
constexpr size_t kLastLineMost = 80;

std::string digest_of(std::string_view text) {
  return kernels::hex(kernels::sha1(std::as_bytes(std::span(text.data(), text.size()))));
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '%'; }

std::string escaped(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (needs_escape(c)) {
      const auto byte = static_cast<uint8_t>(c);
      line += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 0xF]};
    } else {
      line += c;
    }
  }
  return line;
}

std::optional<std::string> unescaped(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '%') {
      text += line[i];
      continue;
    }
    const size_t high = i + 2 < line.size() ? kHexDigits.find(line[i + 1]) : std::string_view::npos;
    const size_t low = i + 2 < line.size() ? kHexDigits.find(line[i + 2]) : std::string_view::npos;
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    text += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return text;
}

Error not_a_part(const std::string& path, std::string_view why) {
  return make_error(ErrorCode::kBadHeader, "is not a part of a run: {}", why)
      .with_path(path)
      .with_hint("parts are what commands write with --shard");
}

Error cut(const std::string& path) {
  return make_error(ErrorCode::kTruncated, "is cut: its last line is missing or belongs to other bytes")
      .with_path(path)
      .with_hint("run this shard again");
}

// The lines before the facts, one after another.
class HeaderLines {
 public:
  HeaderLines(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  // The rest of the next line, which begins with `word`; no value at another line.
  std::optional<std::string_view> next(std::string_view word) {
    const size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text_.substr(at_, end - at_);
    if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ') return std::nullopt;
    at_ = end + 1;
    return line.substr(word.size() + 1);
  }

  Result<std::string> text(std::string_view word) {
    const auto rest = next(word);
    const auto value = rest ? unescaped(*rest) : std::nullopt;
    if (!value) return fail(not_a_part(path_, fmt::format("no line '{}'", word)));
    return *value;
  }

  Result<uint64_t> number(std::string_view word) {
    MSDUMP_TRY(const std::string digits, text(word));
    const auto value = parse_u64(digits);
    if (!value) return fail(not_a_part(path_, fmt::format("line '{}' without a number", word)));
    return *value;
  }

  // The position of the facts, after the empty line.
  Result<size_t> end() {
    if (text_.substr(at_, 1) != "\n") return fail(not_a_part(path_, "its first lines do not end"));
    return at_ + 1;
  }

 private:
  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
};

// The position of the last line, which has the digest of all bytes before it.
Result<size_t> check_last_line(std::string_view text, uint64_t facts, const std::string& path) {
  const size_t begin = text.size() < kLastLineMost ? 0 : text.size() - kLastLineMost;
  // The facts are bytes: the line is searched from its own end.
  const size_t at = text.substr(begin).rfind(fmt::format("end {} ", facts));
  if (at == std::string_view::npos) return fail(cut(path));
  const size_t end = begin + at;
  if (text.substr(end) != fmt::format("end {} {}\n", facts, digest_of(text.substr(0, end)))) return fail(cut(path));
  return end;
}

bool read_fact(FactReader& reader, std::pair<FactKey, std::string_view>& fact) {
  uint8_t kind = 0;
  uint64_t length = 0;
  reader(kind, fact.first.first, fact.first.second);
  if (!reader.get_number(length)) return false;
  fact.second = reader.get_bytes(length);
  fact.first.kind = static_cast<FactKind>(kind);
  return reader.good() && is_fact_kind(kind);
}

Result<PartHeader> read_header(HeaderLines& lines, const std::string& path, uint64_t& facts) {
  const auto format = lines.next(kMagic.substr(0, kMagic.size() - 1));
  if (!format) return fail(not_a_part(path, "it begins otherwise"));
  if (*format != kFormat) return fail(not_a_part(path, fmt::format("format {} of another msdump", excerpt(*format))));
  PartHeader header;
  MSDUMP_TRY(header.version, lines.text("version"));
  MSDUMP_TRY(header.command, lines.text("command"));
  MSDUMP_TRY(const std::string shard, lines.text("shard"));
  MSDUMP_TRY(header.shard, in_file(parse_shard(shard), path));
  MSDUMP_TRY(header.inputs, lines.text("inputs"));
  MSDUMP_TRY(header.units, lines.number("units"));
  MSDUMP_TRY(facts, lines.number("facts"));
  const auto read_list = [&](std::string_view word, std::vector<std::string>& list) {
    while (const auto rest = lines.next(word)) {
      auto value = unescaped(*rest);
      if (!value) return false;
      list.push_back(std::move(*value));
    }
    return true;
  };
  if (!read_list("problem", header.problems)) return fail(not_a_part(path, "a problem cannot be read"));
  if (!read_list("option", header.options)) return fail(not_a_part(path, "an option cannot be read"));
  return header;
}

}  // namespace

void KeptFacts::keep(const FactKey& key, std::string bytes) {
  const std::lock_guard lock(mutex_);
  facts_.insert_or_assign(key, std::move(bytes));
}

std::string part_text(const PartHeader& header, const std::map<FactKey, std::string>& facts) {
  std::string text = fmt::format("{}{}\nversion {}\ncommand {}\nshard {}\ninputs {}\nunits {}\nfacts {}\n", kMagic,
                                 kFormat, escaped(header.version), escaped(header.command), to_string(header.shard),
                                 escaped(header.inputs), header.units, facts.size());
  for (const std::string& problem : header.problems) text += fmt::format("problem {}\n", escaped(problem));
  for (const std::string& option : header.options) text += fmt::format("option {}\n", escaped(option));
  text += '\n';
  for (const auto& [key, bytes] : facts) {
    FactWriter writer;
    writer(static_cast<uint8_t>(key.kind), key.first, key.second, bytes);
    text += writer.take();
  }
  text += fmt::format("end {} {}\n", facts.size(), digest_of(text));
  return text;
}

bool looks_like_part(std::string_view head) { return head.starts_with(kMagic); }

Result<ReadPart> read_part(std::string_view text, const std::string& path) {
  ReadPart part;
  uint64_t facts = 0;
  HeaderLines lines(text, path);
  MSDUMP_TRY(part.header, read_header(lines, path, facts));
  MSDUMP_TRY(const size_t begin, lines.end());
  MSDUMP_TRY(const size_t end, check_last_line(text, facts, path));
  if (end < begin) return fail(cut(path));
  FactReader reader(text.substr(begin, end - begin));
  while (reader.remaining() > 0) {
    std::pair<FactKey, std::string_view> fact;
    const bool read = read_fact(reader, fact);
    if (!read || (!part.facts.empty() && !(part.facts.back().first < fact.first)))
      return fail(not_a_part(path, "its facts cannot be read").with_offset(begin + reader.position()));
    part.facts.push_back(fact);
  }
  if (part.facts.size() != facts) return fail(cut(path));
  return part;
}

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
