// StoredTensor: the description of a tensor in a file and the place of its bytes, by the header of the file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/names/file_kind.h"
#include "dump/names/identity.h"
#include "format/plan.h"
#include "io/file.h"
#include "io/zip.h"
#include "tensor/shape.h"

namespace msdump {

// A local tensor of a sharded one: the archive of torch.save at `offset` of a file, with one tensor, or its elements alone.
struct StoredShard {
  std::string path;
  uint64_t offset = 0, bytes = 0;
  std::vector<int64_t> begin;  // in the global tensor, by axis
  Shape shape;
  std::optional<int64_t> mtime_ns = {};  // of the file with the elements, when they were found; none: an archive
};

struct StoredTensor {
  Io io = Io::kOutput;
  std::string slot;     // "0"
  std::string op_name;  // in a file that names its tensors (parameters); else empty
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::shared_ptr<const std::vector<FilePiece>> pieces;  // of the elements; null: they follow each other
  std::shared_ptr<const ZipData>
      zip;  // the entry that the elements fill; null: they are not in an archive, or not alone
  std::shared_ptr<const std::vector<StoredShard>>
      shards;  // the elements are in other files; null: they are in this one
  // The same for ranges of the elements in C order, as if the tensor had one axis. Empty: there are none.
  std::function<std::vector<StoredShard>()> ranges;
  uint64_t address = 0;  // on the device; 0: unknown
  PlanRequest request;   // dtype, format, shapes; the caller sets `target`
  // The dtype of the framework's tensor, if the file holds a wider copy: bfloat16 as float32, int4 as int8.
  std::optional<DType> original_dtype;
  // The framework's operator and its output, if the compiler fused or split operators; empty: unknown.
  std::string original_op;
  uint32_t original_output = 0;
  std::shared_ptr<const std::string> distribution;  // place in a global tensor, as JSON; null: none
  bool big_endian = false;
  bool fortran_order = false;
  std::optional<Error> problem;  // why the bytes cannot be read

  [[nodiscard]] std::string label() const { return op_name.empty() ? std::string(name_of(io)) + ":" + slot : op_name; }
  // True for an optional input that was not given: it has no shape and no bytes.
  [[nodiscard]] bool absent() const { return !problem && bytes == 0 && !request.shape; }
};

struct OpenedFile {
  File file;
  FileKind container = FileKind::kDumpFile;  // a kind that holds tensors
  std::string op_name;                       // full scope name; empty if the file does not have it
  std::vector<StoredTensor> tensors;
  std::vector<Error> problems = {};  // why tensors that should be there are not among them
};

}  // namespace msdump
