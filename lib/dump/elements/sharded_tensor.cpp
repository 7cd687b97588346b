// HostTensor of a tensor whose elements are in the archives of its shards.
#include <utility>
#include <vector>

#include "dump/elements/host_tensor.h"
#include "dump/layouts/saved_tensor.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

Result<HostTensor> open_elements(File file, const StoredShard& shard, DType dtype) {
  if (file.mtime_ns() != shard.mtime_ns)
    return fail(make_error(ErrorCode::kChangedWhileReading, "written again since it was listed").with_path(shard.path));
  StoredTensor stored;
  stored.bytes = stored.request.bytes = shard.bytes;
  stored.request.dtype = dtype;
  stored.request.shape = shard.shape;
  stored.request.format_number = static_cast<int64_t>(Format::kND);
  return HostTensor::make(std::move(file), FileKind::kPt, stored, {});
}

// The one tensor in the archive of a shard, or the elements of a range.
Result<HostTensor> open_shard(const StoredShard& shard, DType dtype) {
  MSDUMP_TRY(File file, File::open_part(shard.path, shard.offset, shard.bytes));
  if (shard.mtime_ns) return open_elements(std::move(file), shard, dtype);
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
  const Shape shape = stored.request.shape.value_or(Shape());
  TensorPieces pieces{
      .shape = stored.ranges ? Shape{element_count(shape).value_or(0)} : shape, .records = {}, .boxes = {}};
  const auto shards = stored.ranges ? std::make_shared<const std::vector<StoredShard>>(stored.ranges()) : stored.shards;
  std::vector<PieceSource> sources;
  const DType dtype = stored.request.dtype.value_or(DType::kUndefined);
  for (const StoredShard& shard : *shards) {
    const std::vector<int64_t> origin(shard.shape.size(), 0);
    pieces.boxes.push_back({static_cast<uint32_t>(sources.size()), origin, shard.begin, shard.shape});
    sources.push_back({[shards, &shard, dtype] { return open_shard(shard, dtype); }, shard.shape});
  }
  if (sources.empty()) {  // nothing but empty shards
    StoredTensor empty = stored;
    empty.shards = nullptr;
    empty.ranges = {};
    return make(std::move(file), FileKind::kPt, empty, {});
  }
  MSDUMP_TRY(PiecesReader reader, PiecesReader::open(std::move(sources), pieces));
  return assemble(std::move(file), std::move(reader), shape);
}

}  // namespace msdump
