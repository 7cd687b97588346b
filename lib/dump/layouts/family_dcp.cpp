#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "dump/layouts/family.h"
#include "io/dir_walk.h"
#include "torch/dcp_metadata.h"

namespace msdump {

// torch.distributed.checkpoint: the file .metadata lists the tensors of all ranks; each is whole, assembled from the shards in
// the .distcp files beside it. A tensor that lacks a shard or a file has a problem, and no part of it is read.

namespace {

constexpr std::string_view kMetadataName = ".metadata";

// Shards are compared in pairs, to show that they do not overlap.
constexpr uint64_t kMostComparisons = 100'000'000;

bool shards_overlap(const torch::DcpChunk& a, const torch::DcpChunk& b) {
  for (size_t axis = 0; axis < a.shape.size(); ++axis) {
    if (a.begin[axis] + a.shape[axis] <= b.begin[axis] || b.begin[axis] + b.shape[axis] <= a.begin[axis]) return false;
  }
  return true;
}

class ShardFinder {
 public:
  explicit ShardFinder(std::string folder) : folder_(std::move(folder)) {}

  Result<std::shared_ptr<const std::vector<StoredShard>>> shards_of(const torch::DcpTensor& tensor) {
    const auto whole = element_count(tensor.shape);
    if (!whole) return fail(ErrorCode::kBadHeader, "dimension product of {} overflows", describe(tensor.shape));
    auto shards = std::make_shared<std::vector<StoredShard>>();
    std::vector<const torch::DcpChunk*> chunks;
    int64_t covered = 0;
    for (const torch::DcpChunk& chunk : tensor.chunks) {
      const int64_t count = element_count(chunk.shape).value_or(0);
      if (count == 0) continue;
      for (const torch::DcpChunk* const other : chunks) {
        if (shards_overlap(chunk, *other)) return fail(ErrorCode::kBadHeader, "two shards have the same elements");
      }
      comparisons_ += chunks.size();
      if (comparisons_ > kMostComparisons) return fail(ErrorCode::kTooLarge, "too many shards");
      chunks.push_back(&chunk);
      covered += count;  // at most `whole`, as shards are disjoint
      MSDUMP_TRY(StoredShard shard, place(chunk));
      shards->push_back(std::move(shard));
    }
    if (covered != *whole) {
      return fail(ErrorCode::kTruncated, "its shards have {} of {} elements", covered, *whole);
    }
    return shards;
  }

 private:
  Result<StoredShard> place(const torch::DcpChunk& chunk) {
    const std::string where = "the shard at [" + join_dims(chunk.begin, ",") + "]";
    if (!chunk.storage) return fail(ErrorCode::kNotFound, "{} was not stored", where);
    const torch::DcpStorage& storage = *chunk.storage;
    if (!is_plain_file_name(storage.file)) {
      return fail(ErrorCode::kUnsafeName, "'{}' is not the name of a file beside the metadata", excerpt(storage.file));
    }
    std::string path = join_path(folder_, storage.file);
    const auto [known, is_new] = sizes_.try_emplace(storage.file);
    if (is_new) {
      std::error_code error;
      const uint64_t size = std::filesystem::file_size(path, error);
      if (!error) known->second = size;
    }
    if (!known->second) return fail(ErrorCode::kNotFound, "{} is missing, with {}", excerpt(storage.file), where);
    if (storage.offset > *known->second || storage.bytes > *known->second - storage.offset) {
      return fail(ErrorCode::kTruncated, "{} is cut off before the end of {}", excerpt(storage.file), where);
    }
    return StoredShard{std::move(path), storage.offset, storage.bytes, chunk.begin, chunk.shape};
  }

  const std::string folder_;
  std::map<std::string, std::optional<uint64_t>, std::less<>> sizes_;  // of the files; none: missing
  uint64_t comparisons_ = 0;
};

StoredTensor stored_tensor(const torch::DcpTensor& tensor, const std::string& path, ShardFinder& finder) {
  StoredTensor stored;
  stored.io = Io::kParameter;
  stored.slot = "0";
  stored.op_name = tensor.name;
  stored.request.dtype = tensor.dtype;
  stored.request.shape = tensor.shape;
  stored.request.format_number = static_cast<int64_t>(Format::kND);
  const auto count = element_count(tensor.shape);
  const auto bytes = count ? bytes_of(tensor.dtype, *count) : std::nullopt;
  stored.bytes = stored.request.bytes = bytes.value_or(0);
  stored.problem = tensor.problem;
  if (!stored.problem) {
    auto shards = finder.shards_of(tensor);
    if (shards) {
      stored.shards = std::move(*shards);
    } else {
      stored.problem = std::move(shards).error();
    }
  }
  if (stored.problem) {
    stored.problem->path = path;
    stored.problem->tensor = tensor.name;
  }
  return stored;
}

class DcpFamily final : public Family {
 public:
  std::string_view name() const override { return "torch.distributed.checkpoint"; }
  FileKind kind() const override { return FileKind::kDcpMetadata; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    if (file.name != kMetadataName) return Claim::kNo;
    facts.op_type = "Parameter";
    facts.io = Io::kParameter;
    return Claim::kByContent;  // other programs use the name, too
  }

  bool names_tensors(const NameFacts& /*facts*/) const override { return true; }

  Result<OpenedFile> open(File file, const OpenContext& /*context*/) const override {
    MSDUMP_TRY(const torch::DcpMetadata metadata, torch::read_dcp_metadata(file));
    const size_t slash = file.path().rfind('/');
    ShardFinder finder(slash == std::string::npos ? "." : file.path().substr(0, slash));
    OpenedFile opened{std::move(file), kind(), {}, {}};
    for (const torch::DcpTensor& tensor : metadata.tensors)
      opened.tensors.push_back(stored_tensor(tensor, opened.file.path(), finder));
    return opened;
  }
};

}  // namespace

const Family& dcp_family() {
  static const DcpFamily kFamily;
  return kFamily;
}

}  // namespace msdump
