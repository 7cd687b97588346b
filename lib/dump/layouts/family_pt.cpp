// PyTorch's .pt files: those of msprobe, whose names say the operator, and all others.
#include "dump/layouts/family.h"
#include "dump/layouts/msprobe_facts.h"
#include "dump/names/file_name.h"
#include "dump/names/saved_name.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

StoredTensor stored_tensor(const torch::PtTensor& tensor, std::string_view slot, Io io) {
  StoredTensor stored;
  stored.io = io;
  stored.slot = tensor.key.empty() ? std::string(slot) : tensor.key;
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

class PtFamily final : public Family {
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
    const std::string_view slot = context.facts.slot.empty() ? "0" : context.facts.slot;
    for (const torch::PtTensor& tensor : pt.tensors)
      opened.tensors.push_back(stored_tensor(tensor, slot, context.facts.io));
    return opened;
  }

  bool recognises(std::span<const std::byte> head, uint64_t /*file_size*/) const override {
    return torch::looks_like_pt(head);
  }
};

}  // namespace

const Family& pt_family() {
  static const PtFamily kFamily;
  return kFamily;
}

}  // namespace msdump
