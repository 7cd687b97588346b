// .metadata of torch.distributed.checkpoint: which tensors a checkpoint has, and where their shards are.
//
//   a pickle of Metadata:
//   state_dict_metadata  {name: TensorStorageMetadata(properties: (dtype, ..), size, chunks: [(offsets, sizes), ..])}; other values
//                        of the state dict are BytesStorageMetadata
//   storage_data         {MetadataIndex(fqn, offset): _StorageInfo(relative_path, offset, length)}: the shard that begins at
//                        `offset` of the tensor is one archive of torch.save in a file (__RANK_N.distcp) beside this one
//
// The writer stores a replicated tensor once. A chunk without elements may have no storage.
// Limits against hostile input: 256 MiB, 4 million values in the pickle (some 400 MB), 100,000 tensors.
// Source: torch/distributed/checkpoint/metadata.py and filesystem.py of PyTorch 2.2 to 2.9.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::torch {

struct DcpStorage {
  std::string file;                // as written: mostly a name, never to be trusted as a path
  uint64_t offset = 0, bytes = 0;  // of the archive
};

struct DcpChunk {
  std::vector<int64_t> begin;  // in the tensor, by axis
  Shape shape;
  std::optional<DcpStorage> storage;  // none: the checkpoint does not say where it is
};

struct DcpTensor {
  std::string name;
  DType dtype = DType::kUndefined;  // kUndefined: unknown to msdump; `dtype_text` says what it is
  std::string dtype_text;           // "float32"
  Shape shape;
  std::vector<DcpChunk> chunks;
  std::optional<Error> problem;  // why the description is of no use
};

struct DcpMetadata {
  std::vector<DcpTensor> tensors;  // in the order of the pickle
  int64_t other_values = 0;
};

// kNotADump if the pickle is of another class.
Result<DcpMetadata> read_dcp_metadata(const File& file);

}  // namespace msdump::torch
