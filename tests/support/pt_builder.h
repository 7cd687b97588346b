// Builds .pt files as torch.save writes them, good and with one named fault. Nothing of lib/torch is used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/zip_builder.h"

namespace msdump::test {

// Pickle, protocol 2. Each function gives the opcodes that leave one value on the stack.
namespace pickle {

using Text = std::string;

[[nodiscard]] Text none();
[[nodiscard]] Text boolean(bool value);
[[nodiscard]] Text integer(int64_t value);
[[nodiscard]] Text real(double value);
[[nodiscard]] Text text(std::string_view value);
[[nodiscard]] Text global(std::string_view module, std::string_view name);
[[nodiscard]] Text tuple(const std::vector<Text>& items);
[[nodiscard]] Text list(const std::vector<Text>& items);
[[nodiscard]] Text integers(const std::vector<int64_t>& values);  // as a tuple
[[nodiscard]] Text dict(const std::vector<std::pair<Text, Text>>& items);
[[nodiscard]] Text ordered_dict(const std::vector<std::pair<Text, Text>>& items = {});
[[nodiscard]] Text call(const Text& function, const std::vector<Text>& arguments);
[[nodiscard]] Text object(const Text& type, const Text& state,
                          const std::vector<Text>& arguments = {});  // NEWOBJ, BUILD
[[nodiscard]] Text whole(const Text& value);                         // with PROTO and STOP

}  // namespace pickle

// The arguments of torch._utils._rebuild_tensor_v2, or _v3 if there is a dtype.
struct PtTensorSpec {
  std::string storage_class = "FloatStorage";
  std::string key = "0";
  std::string location = "cpu";
  int64_t elements = 6;
  int64_t offset = 0;
  std::vector<int64_t> shape = {2, 3};
  std::optional<std::vector<int64_t>> strides = {};  // default: C order
  std::string dtype = {};                            // of torch
  std::string metadata = {};                         // opcodes
};

[[nodiscard]] pickle::Text storage_id(const PtTensorSpec& spec);
[[nodiscard]] pickle::Text tensor_call(const PtTensorSpec& spec = {});

// A DTensor with its local tensor, on a mesh of ranks 0, 1, .. of the given shape.
struct DTensorSpec {
  pickle::Text local = tensor_call();
  std::string type = "DTensor", tensor_module = "torch.distributed.tensor";
  std::vector<int64_t> mesh_shape = {2};
  std::vector<int64_t> ranks = {0, 1};
  std::vector<pickle::Text> placements = {};
  std::vector<int64_t> shape = {4, 3};  // of the global tensor
  // Attributes of the mesh that say which rank saved it.
  std::vector<std::pair<pickle::Text, pickle::Text>> writer = {};
};

[[nodiscard]] pickle::Text placement(std::string_view type,
                                     const std::vector<std::pair<pickle::Text, pickle::Text>>& attributes = {});
[[nodiscard]] pickle::Text dtensor_call(const DTensorSpec& spec);

// A float32 tensor in the .metadata of torch.distributed.checkpoint.
struct DcpTensorSpec {
  struct Chunk {
    std::vector<int64_t> begin, shape;
    std::string file = "__0_0.distcp";  // empty: it has no storage
    int64_t offset = 0, length = 0;
  };
  std::string name = "w";
  std::vector<int64_t> shape = {4, 3};
  std::vector<Chunk> chunks = {};
  std::string dtype = "float32";
  bool has_offsets = true;     // in the list of what is stored; without, as of a tensor that is not sharded
  bool has_properties = true;  // dtype and others
};

[[nodiscard]] std::string build_dcp_metadata(const std::vector<DcpTensorSpec>& tensors);

struct PtSpec {
  std::string pickle = pickle::whole(tensor_call());
  std::vector<std::pair<std::string, std::string>> storages = {{"0", std::string(24, '\1')}};
  std::string folder = "t";
  std::string byteorder = "little";  // empty: no such entry
  ZipForm form = ZipForm::kTorch;
};

[[nodiscard]] ZipSpec zip_of(const PtSpec& spec);
[[nodiscard]] std::string build_pt(const PtSpec& spec = {});

// A good file is float32 of shape (2, 3). Those that begin with kOne are a dict in which "bad" has the fault and "good" none.
enum class PtFault {
  kNone,
  kNotZip,
  kZipCut,
  kZipDirectoryCut,
  kNoDataPickle,
  kTwoDataPickles,
  kTorchScript,
  kOldForm,
  kDuplicateEntry,
  kPickleCrcWrong,
  kPickleEncrypted,
  kByteOrderUnknown,
  kPickleEmpty,
  kPickleCut,
  kPickleProtocol0,
  kPickleBadOpcode,
  kPickleTextTooLong,
  kPickleStackEmpty,
  kPickleMarkMissing,
  kPickleMemoMissing,
  kPickleMemoTooHigh,
  kPickleNotUtf8,
  kPickleRestOnStack,
  kPickleKeyWithoutValue,
  kPickleManyValues,
  kPickleNestedDeep,
  kPickleHoldsItself,
  kPickleBillionValues,  // ten lists of ten of ten of ...
  kPickleLongKey,
  kGlobalOsSystem,
  kGlobalModule,  // torch.nn.Linear
  kGlobalBuiltinsEval,
  kStackGlobalOsSystem,
  kGlobalTooLong,
  kCallOfNoName,
  kCallOfDtype,
  kOneCompressed,
  kOneStorageMissing,
  kOneStorageTooSmall,   // the entry
  kOneDeclaredTooSmall,  // what the pickle says of it
  kOneOffsetTooLarge,
  kOneOffsetNegative,
  kOneOffsetHuge,
  kOneLocalOffsetWrong,
  kOneEntryBeyondEnd,
  kOneTransposed,
  kOneStridesOverlap,
  kOneStridesMissing,
  kOneShapeNegative,
  kOneShapeOverflows,
  kOneShapeBytesWrap,
  kOneShapeNoTuple,
  kOneRankAboveLimit,
  kOneStorageUnknown,  // torch.QUInt4x2Storage
  kOneStorageUntyped,
  kOneDtypeUnknown,
  kOneLocationMeta,
  kOneConjugate,
  kOneSparse,
  kOneTooFewArguments,
  kOneStorageNoId,
  kLast_,
};

[[nodiscard]] std::string_view name_of(PtFault fault);
[[nodiscard]] std::vector<PtFault> all_pt_faults();
[[nodiscard]] std::string build_faulty_pt(PtFault fault);
[[nodiscard]] bool is_of_one_tensor(PtFault fault);

}  // namespace msdump::test
