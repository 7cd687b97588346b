#include "checkpoint/shards.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "io/dir_walk.h"
#include "torch/pt_file.h"

namespace msdump {
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
    std::unordered_set<std::string_view> there;
    for (const ShardParameter& parameter : *found) {
      there.insert(parameter.name);
      bytes_ += parameter.bytes;
      shared_bytes_ += places.emplace(parameter.offset, parameter.bytes).second ? 0 : parameter.bytes;
    }
    compare(name, listed, *found, there);
  }

  void compare(const std::string& name, const std::vector<std::string_view>& listed,
               const std::vector<ShardParameter>& found, const std::unordered_set<std::string_view>& there) {
    std::vector<std::string_view> missing, unlisted;
    for (const std::string_view parameter : listed) {
      if (!there.contains(parameter)) missing.push_back(parameter);
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
