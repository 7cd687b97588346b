#include "dump/index/counted_files.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "dump/layouts/family.h"
#include "dump/names/saved_name.h"

namespace msdump {
namespace {

struct Counted {
  IndexedFile* file = nullptr;
  CountedName name;
};
using CountedFiles = std::vector<Counted>;

// Only the path says what such a file is.
bool is_foreign(const IndexedFile& file) {
  if (file.family != &npy_family() && file.family != &pt_family()) return false;
  return file.facts.op_type.empty() && file.facts.timestamp.empty() && !file.facts.op_name.empty();
}

std::string_view stem_of(const IndexedFile& file) {
  const std::string_view name = file.shown_name();
  return name.substr(0, name.rfind('.'));
}

bool has_equal_numbers(const CountedFiles& files) {
  std::set<std::string_view> numbers;
  return !std::all_of(files.begin(), files.end(),
                      [&](const Counted& counted) { return numbers.insert(counted.name.number).second; });
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

// `kept`: how much of the stem names the operator. A folder that says a step or a rank is not part of the name.
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

}  // namespace

void take_counters(std::span<IndexedFile> files, const IndexedFolder& folder) {
  CountedFiles of_devices, of_tensor_dump, numbered;
  size_t other_pt = 0;
  for (IndexedFile& file : files) {
    if (!is_foreign(file)) continue;
    const std::string_view stem = stem_of(file);
    const bool pt = file.family == &pt_family();
    const auto of_device = pt ? parse_torch_npu_name(stem) : std::nullopt;
    const auto name = of_device ? of_device : pt ? parse_numbered_name(stem) : parse_tensor_dump_name(stem);
    if (name) {
      (of_device ? of_devices : pt ? numbered : of_tensor_dump).push_back({&file, *name});
    } else if (pt) {
      ++other_pt;
    }
  }
  const bool keep_device = has_several_devices(of_devices);
  for (const Counted& counted : of_devices) {
    const std::string_view name = counted.name.name, device = counted.name.device;
    take(counted, folder, keep_device ? static_cast<size_t>(device.data() + device.size() - name.data()) : name.size());
  }
  if (!has_equal_numbers(of_tensor_dump)) take_all(of_tensor_dump, folder);
  const bool saved = other_pt == 0 && has_runs_of_several_names(numbered) && !has_equal_numbers(numbered);
  if (saved) take_all(numbered, folder);
}

}  // namespace msdump
