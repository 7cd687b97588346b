// A tensor as it lies in a file: what it is and where its bytes are. None of its bytes have been read.
#pragma once

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

namespace msdump {

struct StoredTensor {
  Io io = Io::kOutput;
  std::string slot;     // "0"
  std::string op_name;  // of a file that names its tensors (parameters); else empty
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::shared_ptr<const std::vector<FilePiece>> pieces;  // of the elements; null: they follow each other
  std::shared_ptr<const ZipData>
      zip;               // the entry that the elements fill; null: they are not in an archive, or not alone
  uint64_t address = 0;  // where it was on the device; 0: not said
  PlanRequest request;   // dtype, format, shapes; `target` is for the caller to set
  // What the framework's tensor was, where the file holds a wider copy: bfloat16 as float32, int4 as int8.
  std::optional<DType> original_dtype;
  // The output of the framework's operator that this is, where the compiler fused or cut operators; empty: not said.
  std::string original_op;
  uint32_t original_output = 0;
  bool big_endian = false;
  bool fortran_order = false;
  std::optional<Error> problem;  // why the bytes cannot be read

  [[nodiscard]] std::string label() const { return op_name.empty() ? std::string(name_of(io)) + ":" + slot : op_name; }
  // An optional input that was not given: no shape and no bytes. There is nothing to convert.
  [[nodiscard]] bool absent() const { return !problem && bytes == 0 && !request.shape; }
};

struct OpenedFile {
  File file;
  FileKind container = FileKind::kDumpFile;  // a kind that holds tensors
  std::string op_name;                       // full scope name, when the file carries it
  std::vector<StoredTensor> tensors;
};

}  // namespace msdump
