#include "torch/pt_names.h"

#include <array>

namespace msdump::torch {
namespace {

using enum NameRole;

struct KnownName {
  std::string_view name;
  NameMeaning meaning;
};

constexpr NameMeaning storage(DType dtype) { return {.role = kStorageClass, .dtype = dtype}; }
constexpr NameMeaning element(DType dtype) { return {.role = kDtype, .dtype = dtype}; }
constexpr NameMeaning value() { return {.role = kValue}; }

constexpr std::array kNames = {
    KnownName{"torch._utils._rebuild_tensor", {.role = kTensor}},
    KnownName{"torch._utils._rebuild_tensor_v2", {.role = kTensor, .metadata_argument = 6}},
    KnownName{"torch._utils._rebuild_tensor_v3", {.role = kTensor, .dtype_argument = 6, .metadata_argument = 7}},
    KnownName{"torch._utils._rebuild_qtensor", {.role = kTensor}},
    KnownName{"torch_npu.utils.storage._rebuild_npu_tensor", {.role = kTensor}},
    KnownName{"torch._utils._rebuild_parameter", {.role = kWrapper}},
    KnownName{"torch._utils._rebuild_parameter_with_state", {.role = kWrapper}},
    KnownName{"torch._tensor._rebuild_from_type_v2", {.role = kFromType}},
    KnownName{"torch._utils._rebuild_sparse_tensor", {.role = kUnreadable}},
    KnownName{"torch._utils._rebuild_nested_tensor", {.role = kUnreadable}},
    KnownName{"torch._utils._rebuild_meta_tensor_no_storage", {.role = kUnreadable}},

    KnownName{"torch.Tensor", {.role = kTensorClass}},
    KnownName{"torch.nn.parameter.Parameter", {.role = kTensorClass}},
    KnownName{"torch.nn.parameter.Buffer", {.role = kTensorClass}},

    KnownName{"collections.OrderedDict", {.role = kOrderedDict}},
    KnownName{"collections.defaultdict", {.role = kOrderedDict}},
    KnownName{"collections.Counter", value()},
    KnownName{"torch.Size", value()},
    KnownName{"torch.device", value()},
    KnownName{"torch.serialization._get_layout", value()},
    KnownName{"torch.per_tensor_affine", value()},
    KnownName{"torch.per_tensor_symmetric", value()},
    KnownName{"torch.per_channel_affine", value()},
    KnownName{"torch.per_channel_symmetric", value()},
    KnownName{"torch.per_channel_affine_float_qparams", value()},
    KnownName{"torch_npu.npu._format.Format", value()},
    KnownName{"_codecs.encode", value()},
    KnownName{"builtins.set", value()},
    KnownName{"builtins.frozenset", value()},
    KnownName{"builtins.bytearray", value()},
    KnownName{"builtins.complex", value()},
    KnownName{"__builtin__.set", value()},  // as protocol 2 writes those of builtins
    KnownName{"__builtin__.frozenset", value()},
    KnownName{"__builtin__.bytearray", value()},
    KnownName{"__builtin__.complex", value()},

    KnownName{kUntypedStorage, storage(DType::kUndefined)},
    KnownName{"torch.DoubleStorage", storage(DType::kFloat64)},
    KnownName{"torch.FloatStorage", storage(DType::kFloat32)},
    KnownName{"torch.HalfStorage", storage(DType::kFloat16)},
    KnownName{"torch.BFloat16Storage", storage(DType::kBfloat16)},
    KnownName{"torch.ByteStorage", storage(DType::kUint8)},
    KnownName{"torch.CharStorage", storage(DType::kInt8)},
    KnownName{"torch.ShortStorage", storage(DType::kInt16)},
    KnownName{"torch.IntStorage", storage(DType::kInt32)},
    KnownName{"torch.LongStorage", storage(DType::kInt64)},
    KnownName{"torch.BoolStorage", storage(DType::kBool)},
    KnownName{"torch.ComplexFloatStorage", storage(DType::kComplex64)},
    KnownName{"torch.ComplexDoubleStorage", storage(DType::kComplex128)},
    KnownName{"torch.QInt8Storage", storage(DType::kQint8)},
    KnownName{"torch.QUInt8Storage", storage(DType::kQuint8)},
    KnownName{"torch.QInt32Storage", storage(DType::kQint32)},

    KnownName{"torch.float64", element(DType::kFloat64)},
    KnownName{"torch.float32", element(DType::kFloat32)},
    KnownName{"torch.float16", element(DType::kFloat16)},
    KnownName{"torch.bfloat16", element(DType::kBfloat16)},
    KnownName{"torch.uint8", element(DType::kUint8)},
    KnownName{"torch.int8", element(DType::kInt8)},
    KnownName{"torch.int16", element(DType::kInt16)},
    KnownName{"torch.int32", element(DType::kInt32)},
    KnownName{"torch.int64", element(DType::kInt64)},
    KnownName{"torch.uint16", element(DType::kUint16)},
    KnownName{"torch.uint32", element(DType::kUint32)},
    KnownName{"torch.uint64", element(DType::kUint64)},
    KnownName{"torch.bool", element(DType::kBool)},
    KnownName{"torch.complex32", element(DType::kComplex32)},
    KnownName{"torch.complex64", element(DType::kComplex64)},
    KnownName{"torch.complex128", element(DType::kComplex128)},
    KnownName{"torch.qint8", element(DType::kQint8)},
    KnownName{"torch.quint8", element(DType::kQuint8)},
    KnownName{"torch.qint32", element(DType::kQint32)},
    KnownName{"torch.float8_e5m2", element(DType::kFloat8E5m2)},
    KnownName{"torch.float8_e4m3fn", element(DType::kFloat8E4m3fn)},
    KnownName{"torch.float8_e8m0fnu", element(DType::kFloat8E8m0)},
};

// dtypes that only torch has: their tensors are listed but not read.
constexpr std::array<std::string_view, 5> kOtherDtypes = {"torch.float8_", "torch.float4_", "torch.bits", "torch.quint",
                                                          "torch.uint"};

}  // namespace

NameMeaning meaning_of(std::string_view global) {
  for (const KnownName& known : kNames) {
    if (known.name == global) return known.meaning;
  }
  constexpr std::string_view kPackage = "torch.";
  if (!global.starts_with(kPackage)) return {};
  if (global.ends_with("Storage") && global.find('.', kPackage.size()) == std::string_view::npos) {
    return storage(DType::kUndefined);
  }
  for (const std::string_view prefix : kOtherDtypes) {
    if (global.starts_with(prefix)) return element(DType::kUndefined);
  }
  return {};
}

}  // namespace msdump::torch
