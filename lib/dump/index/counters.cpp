#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/index/dump_index.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"

namespace msdump {
namespace {

std::string_view stem_of(const IndexedFile& file) {
  const std::string_view name = file.shown_name();
  return name.substr(0, name.rfind('.'));
}

struct Counted {
  IndexedFile* file = nullptr;
  CountedName name;
};
using CountedFiles = std::vector<Counted>;

// True for arrays whose path is their only name.
bool is_foreign(const IndexedFile& file) {
  if (file.family != &npy_family() && file.family != &pt_family()) return false;
  return file.facts.op_type.empty() && file.facts.timestamp.empty() && !file.facts.op_name.empty();
}

// The digits after "rank" in a name. Processes that write into one folder count each for themselves.
std::string_view rank_in(std::string_view name) {
  constexpr std::string_view kRank = "rank";
  const size_t at = name.find(kRank);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = name.substr(at + kRank.size());
  const std::string_view digits = rest.substr(rest.starts_with('_') ? 1 : 0);
  return digits.substr(0, digits.find_first_not_of("0123456789"));
}

// `by_rank`: of one rank.
bool has_equal_numbers(const CountedFiles& files, bool by_rank = false) {
  std::set<std::pair<std::string_view, std::string_view>> numbers;
  return !std::all_of(files.begin(), files.end(), [&](const Counted& counted) {
    const std::string_view rank = by_rank ? rank_in(counted.name.name) : std::string_view();
    return numbers.emplace(rank, counted.name.number).second;
  });
}

bool has_runs_of_several_names(const CountedFiles& files) {
  std::set<std::string_view> names;
  for (const Counted& counted : files) names.insert(counted.name.name);
  return names.size() > 1 && names.size() < files.size();
}

bool has_several_devices(const CountedFiles& files) {
  return std::any_of(files.begin(), files.end(),
                     [&](const Counted& other) { return other.name.device != files.front().name.device; });
}

// `kept`: bytes of the stem that name the operator. A folder that names a step or a rank is not part of the name.
void take(const Counted& counted, const IndexedFolder& folder, size_t kept) {
  NameFacts& facts = counted.file->facts;
  const std::string_view stem = stem_of(*counted.file);
  facts.op_name.remove_suffix(stem.size() - kept);
  if (folder.identity.layout != Layout::kFlat) facts.op_name = facts.op_name.substr(facts.op_name.rfind('/') + 1);
  facts.timestamp = counted.name.number;
  facts.dtype = counted.name.dtype;
}

void take_all(const CountedFiles& files, const IndexedFolder& folder) {
  for (const Counted& counted : files) take(counted, folder, counted.name.name.size());
}

// The number that a name begins with, and whether it counts everything in a folder: no two of a process are equal, but not all
// names are: "0_x.npy, 1_x.npy" may be two layers.
struct LeadingNumbers {
  CountedFiles files;
  std::set<std::pair<std::string_view, uint64_t>> numbers;
  std::set<std::string> names;  // without their ranks
  std::string_view before;      // the letter before the numbers

  void add(IndexedFile& file) {
    const std::string_view stem = stem_of(file);
    const auto name = parse_leading_number(stem);
    const auto number = name ? parse_u64(name->number) : std::nullopt;
    if (!number) return;
    const std::string_view letter = stem.substr(0, static_cast<size_t>(name->number.data() - stem.data()));
    if (files.empty()) before = letter;
    const std::string_view rank = rank_in(name->name);
    if (letter != before || !numbers.emplace(rank, *number).second) return;
    files.push_back({&file, *name});
    std::string of_all(name->name);
    if (!rank.empty()) of_all.erase(static_cast<size_t>(rank.data() - name->name.data()), rank.size());
    names.insert(std::move(of_all));
  }

  [[nodiscard]] bool count_all(size_t arrays) const { return files.size() == arrays && names.size() > 1; }
};

// The name of a file without the number before it, in the path of its folder.
void take_leading(const Counted& counted, const IndexedFolder& folder, TextArena& arena) {
  NameFacts& facts = counted.file->facts;
  const std::string_view path = facts.op_name.substr(0, facts.op_name.size() - stem_of(*counted.file).size());
  const bool alone = path.empty() || folder.identity.layout != Layout::kFlat;
  facts.op_name = alone ? counted.name.name : arena.keep(fmt::format("{}{}", path, counted.name.name));
  facts.timestamp = counted.name.number;
}

// True if three names or more end in numbers without a gap.
bool count_without_gap(const CountedFiles& files) {
  constexpr size_t kFewestNames = 3;
  std::set<std::string_view> names;
  std::set<uint64_t> numbers;
  for (const Counted& counted : files) {
    names.insert(counted.name.name);
    if (const auto number = parse_u64(counted.name.number)) numbers.insert(*number);
  }
  return names.size() >= kFewestNames && numbers.size() == files.size() &&
         *numbers.rbegin() - *numbers.begin() + 1 == files.size();
}

}  // namespace

void take_counters(std::span<IndexedFile> files, const IndexedFolder& folder, TextArena& arena) {
  CountedFiles of_devices, of_tensor_dump, numbered;
  LeadingNumbers leading;
  size_t arrays = 0, npy = 0, others = 0;
  for (IndexedFile& file : files) {
    if (!is_foreign(file)) continue;
    const std::string_view stem = stem_of(file);
    const bool pt = file.family == &pt_family();
    const auto of_device = pt ? parse_torch_npu_name(stem) : std::nullopt;
    const auto name = of_device ? of_device : pt ? std::nullopt : parse_tensor_dump_name(stem);
    const auto number = name ? std::nullopt : parse_numbered_name(stem);
    if (name) (of_device ? of_devices : of_tensor_dump).push_back({&file, *name});
    if (number) numbered.push_back({&file, *number});
    if (number && !pt) ++npy;
    if (!name && !number) ++others;
    leading.add(file);
    ++arrays;
  }
  if (leading.count_all(arrays)) {
    for (const Counted& counted : leading.files) take_leading(counted, folder, arena);
    return;
  }
  const bool keep_device = has_several_devices(of_devices);
  for (const Counted& counted : of_devices) {
    const std::string_view name = counted.name.name, device = counted.name.device;
    take(counted, folder, keep_device ? static_cast<size_t>(device.data() + device.size() - name.data()) : name.size());
  }
  if (!has_equal_numbers(of_tensor_dump, true)) take_all(of_tensor_dump, folder);
  if (others > 0 || has_equal_numbers(numbered)) return;
  const bool saved = npy == 0 && has_runs_of_several_names(numbered);
  if (saved || count_without_gap(numbered)) take_all(numbered, folder);
}

}  // namespace msdump
