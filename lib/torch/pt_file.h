// .pt files: what torch.save of PyTorch 1.6 and later writes.
//
//   a zip archive, all entries stored, all names in one folder:
//   <folder>/data.pkl     pickle, protocol 2: the object with its tensors (pickle.h, pt_names.h)
//   <folder>/data/<key>   the elements of one storage, to which tensors refer by key, offset, size and strides
//   <folder>/byteorder    "little" or "big"; older versions have none: little
//   and others that say nothing about the tensors (version, .format_version, .data/serialization_id)
//
// A tensor is read wherever it stands in dicts, lists and tuples. Objects of other classes (settings, random states, a
// whole module) are not read, and none of their code is ever run; a file that is one, or that holds no tensor beside
// them, is unsupported_format with the name of the class. A tensor that cannot be read as it lies (not contiguous,
// compressed, cut off) has a problem; the others are still read.
//
// data.pkl is compared with its CRC-32, and so is a storage when a tensor that fills it has been read whole. Of a storage
// that several tensors share nothing is compared.
// Limits against hostile input: a pickle of at most 64 MiB, 100,000 tensors, containers nested 64 deep.
// Source: torch/serialization.py and torch/_utils.py of PyTorch 2; files of torch 2.x in the conformance data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "io/zip.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::torch {

struct PtTensor {
  std::string key;       // empty for a file that is one tensor; "layer.0.weight" inside dicts, lists and tuples
  bool in_dict = false;  // a dict, at any depth, says what it is called
  DType dtype = DType::kUndefined;
  Shape shape;
  std::vector<int64_t> strides;  // in elements
  bool contiguous = false;       // C order without gaps
  bool big_endian = false;
  uint64_t offset = 0;                 // in the file, of the first element
  uint64_t bytes = 0;                  // of all elements; unless there is a problem, all of them are in the file
  std::shared_ptr<const ZipData> zip;  // its storage, if it fills that
  std::optional<Error> problem;
};

struct PtFile {
  std::vector<PtTensor> tensors;           // in the order of the pickle
  int64_t other_values = 0;                // numbers, texts, None, objects, ...
  std::vector<std::string> other_classes;  // of the objects that are not read, each once
};

Result<PtFile> read_pt(const File& file);

// A zip archive, of whatever content, or what PyTorch before 1.6 wrote.
[[nodiscard]] bool looks_like_pt(std::span<const std::byte> head);

}  // namespace msdump::torch
