// PyTorch's files. Which of their tensors are what:
//
//   the name is msprobe's (in dump_tensor_data)   tensors of the operator that the name says
//   else a tensor in a dict, at any depth         a parameter: its op name is the key, "state_dict.layer.0.weight"
//   else                                          tensors of the operator that is called as the file is: npugraph_ex,
//                                                 acl_save, torch.save of one tensor or of a list
//
// .pt and .pth are PyTorch's; .bin (pytorch_model.bin) and .ckpt (Lightning) may be others' as well: their content
// decides. Two names of one storage (tied weights) are two parameters.
#include "dump/layouts/family.h"
#include "dump/layouts/msprobe_facts.h"
#include "dump/names/file_name.h"
#include "dump/names/saved_name.h"
#include "io/zip/zip.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

StoredTensor stored_tensor(const torch::PtTensor& tensor, std::string_view slot, Io io) {
  StoredTensor stored;
  const bool parameter = slot.empty() && tensor.in_dict;
  if (parameter) stored.op_name = tensor.key;
  stored.io = parameter ? Io::kParameter : io;
  stored.slot = tensor.key.empty() || parameter ? std::string(slot.empty() ? "0" : slot) : tensor.key;
  stored.offset = tensor.offset;
  stored.bytes = stored.request.bytes = tensor.bytes;
  stored.request.dtype = tensor.dtype;
  stored.request.shape = tensor.shape;
  stored.request.format_number = static_cast<int64_t>(Format::kND);
  stored.big_endian = tensor.big_endian;
  stored.problem = tensor.problem;
  return stored;
}

// torch_npu saves the same archive as .bin when it is told so.
bool is_saved_bin(std::string_view name) {
  constexpr std::string_view kSuffix = ".bin";
  return has_suffix(name, kSuffix) && parse_torch_npu_name(name.substr(0, name.size() - kSuffix.size()));
}

class PtFamily : public Family {
 public:
  std::string_view name() const override { return "PyTorch .pt"; }
  FileKind kind() const override { return FileKind::kPt; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    // Checkpoints are called .pth, and mostly hold more than tensors: their content decides.
    const bool pt = has_suffix(file.name, ".pt");
    if (!pt && !has_suffix(file.name, ".pth") && !is_saved_bin(file.name)) return Claim::kNo;
    if (!(pt && file.identity.tensor_data && take_msprobe_name(file, facts))) {
      facts.op_name = foreign_name(file, pt ? 3 : 4);
    }
    return pt ? Claim::kByName : Claim::kByContent;
  }

  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    MSDUMP_TRY(const torch::PtFile pt, torch::read_pt(file));
    OpenedFile opened{std::move(file), FileKind::kPt, {}, {}};
    for (const torch::PtTensor& tensor : pt.tensors)
      opened.tensors.push_back(stored_tensor(tensor, context.facts.slot, context.facts.io));
    return opened;
  }

  bool recognises(std::span<const std::byte> head, uint64_t /*file_size*/) const override {
    return torch::looks_like_pt(head);
  }

  bool names_tensors(const NameFacts& facts) const override { return facts.slot.empty(); }
};

class PtCheckpointFamily final : public PtFamily {
 public:
  std::string_view name() const override { return "PyTorch checkpoint"; }

  Claim claim(const FileContext& file, NameFacts& /*facts*/) const override {
    return has_suffix(file.name, ".bin") || has_suffix(file.name, ".ckpt") ? Claim::kByContent : Claim::kNo;
  }

  // training_args.bin lies beside pytorch_model.bin and is an object without tensors: not what was looked for.
  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    const bool archive = has_zip_magic(file.head());
    auto opened = PtFamily::open(std::move(file), context);
    const bool object = !opened && opened.error().code == ErrorCode::kUnsupportedFormat;
    if (archive && object) return fail(ErrorCode::kNotADump, "");
    return opened;
  }
};

}  // namespace

const Family& pt_family() {
  static const PtFamily kFamily;
  return kFamily;
}

const Family& pt_checkpoint_family() {
  static const PtCheckpointFamily kFamily;
  return kFamily;
}

}  // namespace msdump
