// One tensor of a .pt file: from its call in the pickle and its storage in the archive. Internal to lib/torch.
#pragma once

#include <string>

#include "io/zip/zip.h"
#include "torch/pickle.h"
#include "torch/pt_file.h"

namespace msdump::torch {

struct PtArchive {
  const ZipFile* zip = nullptr;
  std::string folder = {};
  bool big_endian = false;
};

// `call` is a kCall that makes a tensor. A fault becomes the problem of the tensor, whose other fields keep what is
// known.
// The key is left empty.
[[nodiscard]] PtTensor read_tensor(const Pickle& pickle, PickleRef call, const PtArchive& archive);

}  // namespace msdump::torch
