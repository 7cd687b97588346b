// HostTensor of a tensor whose elements are in the archives of its shards.
#include <utility>
#include <vector>

#include "dump/elements/host_tensor.h"
#include "dump/layouts/saved_tensor.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

// The one tensor in the archive of a shard.
Result<HostTensor> open_shard(const StoredShard& shard, DType dtype) {
  MSDUMP_TRY(File file, File::open_part(shard.path, shard.offset, shard.bytes));
  MSDUMP_TRY(torch::PtFile saved, torch::read_pt(file));
  const auto bad = [&](std::string_view why) {
    return fail(make_error(ErrorCode::kShapeMismatch, "{}", why).with_path(shard.path).with_offset(shard.offset));
  };
  if (saved.tensors.size() != 1) return bad(fmt::format("{} tensors where one was saved", saved.tensors.size()));
  const torch::PtTensor& tensor = saved.tensors.front();
  if (tensor.problem) return fail(*tensor.problem);
  if (tensor.shape != shard.shape || tensor.dtype != dtype) {
    return bad(fmt::format("{} of {} where the checkpoint says {} of {}", describe(tensor.shape), name_of(tensor.dtype),
                           describe(shard.shape), name_of(dtype)));
  }
  return HostTensor::make(std::move(file), FileKind::kPt, stored_tensor_of(tensor), {});
}

}  // namespace

Result<HostTensor> HostTensor::of_shards(File file, const StoredTensor& stored) {
  TensorPieces pieces{.shape = stored.request.shape.value_or(Shape()), .records = {}, .boxes = {}};
  std::vector<PieceSource> sources;
  const DType dtype = stored.request.dtype.value_or(DType::kUndefined);
  for (const StoredShard& shard : *stored.shards) {
    const std::vector<int64_t> origin(shard.shape.size(), 0);
    pieces.boxes.push_back({static_cast<uint32_t>(sources.size()), origin, shard.begin, shard.shape});
    sources.push_back({[shards = stored.shards, &shard, dtype] { return open_shard(shard, dtype); }, shard.shape});
  }
  if (sources.empty()) {  // nothing but empty shards
    StoredTensor empty = stored;
    empty.shards = nullptr;
    return make(std::move(file), FileKind::kPt, empty, {});
  }
  MSDUMP_TRY(PiecesReader reader, PiecesReader::open(std::move(sources), pieces));
  return assemble(std::move(file), std::move(reader), pieces.shape);
}

}  // namespace msdump
