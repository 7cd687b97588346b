// .pt files, which torch.save of PyTorch 1.6 and later writes.
//
//   a zip archive, all entries stored, all names in one folder:
//   <folder>/data.pkl     pickle, protocol 2: the object with its tensors (pickle.h)
//   <folder>/data/<key>   the elements of one storage, to which tensors refer by key, offset, size and strides
//   <folder>/byteorder    "little" or "big"; older versions have none: little
//   and others without information on tensors (version, .format_version, .data/serialization_id)
//
// Tensors in dicts, lists and tuples are read; of a DTensor, the local tensor. Objects of other classes (settings, random
// states, modules) are not, and no code of theirs is run. A file with such objects alone is kUnsupportedFormat with the name of the class. A tensor that
// cannot be read (not contiguous, compressed, truncated) has a problem; the others are read.
//
// The CRC-32 is checked of data.pkl, and of a storage once a tensor that fills it has been read. That of a storage shared by
// several tensors is not.
// Limits against hostile input: a pickle of at most 64 MiB, 100,000 tensors, containers nested 64 deep.
// Source: torch/serialization.py and torch/_utils.py of PyTorch 2.
#pragma once

#include <cstdint>
#include <functional>
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

struct Pickle;

struct PtTensor {
  std::string key;       // "layer.0.weight" inside dicts, lists and tuples; empty if the file is one tensor
  bool in_dict = false;  // inside a dict, at any depth, which gives it a name
  DType dtype = DType::kUndefined;
  Shape shape;
  std::vector<int64_t> strides;  // in elements
  bool contiguous = false;       // C order without gaps
  bool big_endian = false;
  uint64_t offset = 0;                                   // in the file, of the first element
  uint64_t bytes = 0;                                    // of all elements; inside the file, unless there is a problem
  std::shared_ptr<const std::vector<FilePiece>> pieces;  // of a slice, in C order with gaps; null: without gaps
  std::shared_ptr<const ZipData> zip;                    // its storage, if the tensor fills it
  // How the global tensor is distributed that this is a part of, as JSON (dtensor.h, dumper_meta.h); null: unknown.
  std::shared_ptr<const std::string> distribution;
  std::optional<Error> problem;
};

struct PtFile {
  std::vector<PtTensor> tensors;           // in the order of the pickle
  int64_t other_values = 0;                // numbers, texts, None, objects, ...
  std::vector<std::string> other_classes;  // of the objects that are not read, each once
};

// `also`, if it is set, reads more of the pickle, which holds only during the call.
Result<PtFile> read_pt(const File& file, const std::function<void(const Pickle& pickle)>& also = {});

// True for any zip archive, and for files of PyTorch before 1.6.
[[nodiscard]] bool looks_like_pt(std::span<const std::byte> head);

}  // namespace msdump::torch
