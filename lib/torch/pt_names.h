// The names of classes and functions in the pickle of a .pt file, and what a tensor's reader makes of them. A call of any
// other name is an object that is not read. Internal to lib/torch.
//
//   torch._utils._rebuild_tensor       (storage, offset, size, strides)
//   torch._utils._rebuild_tensor_v2    (..., requires_grad, hooks[, metadata])
//   torch._utils._rebuild_tensor_v3    (..., requires_grad, hooks, dtype[, metadata])     dtypes without a storage type
//   torch._utils._rebuild_qtensor      (..., quantizer, requires_grad, hooks)             the integers are kept
//   torch_npu.utils.storage._rebuild_npu_tensor    (..., requires_grad, hooks, format)    a copy in plain layout
//   torch._utils._rebuild_parameter    (tensor, requires_grad, hooks)
//   torch._tensor._rebuild_from_type_v2    (function, class, arguments, state)            the state is dropped
//
// with storage a persistent id: ("storage", torch.FloatStorage, key, location, elements).
#pragma once

#include <cstdint>
#include <string_view>

#include "tensor/dtype.h"

namespace msdump::torch {

enum class NameRole : uint8_t {
  kUnknown,
  kTensor,        // begins with storage, offset, size, strides
  kWrapper,       // begins with a tensor
  kFromType,      // (function, class, arguments, state)
  kUnreadable,    // a tensor, but not one of this kind: sparse, without data
  kOrderedDict,   // a dict
  kValue,         // makes something that holds no tensors
  kTensorClass,   // torch.Tensor, Parameter: only named
  kStorageClass,  // `dtype` of its elements; kUndefined: not known
  kDtype,         // `dtype`; kUndefined: not one of ours
};

struct NameMeaning {
  NameRole role = NameRole::kUnknown;
  DType dtype = DType::kUndefined;
  size_t dtype_argument = 0;     // of a kTensor: where it is; 0: the storage's class says it
  size_t metadata_argument = 0;  // of a kTensor: where it may be; 0: there is none
};

[[nodiscard]] NameMeaning meaning_of(std::string_view global);

inline constexpr std::string_view kUntypedStorage = "torch.storage.UntypedStorage";

}  // namespace msdump::torch
