// Checkpoints: the parameters of a model, each with a name of its own, in .safetensors files and those of MindSpore
// (.ckpt, a suffix that others use, too).
#include <utility>
#include <vector>

#include "checkpoint/ms_ckpt.h"
#include "checkpoint/safetensors.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"

namespace msdump {
namespace {

StoredTensor stored_tensor(StoredParameter&& parameter) {
  StoredTensor stored;
  stored.io = Io::kParameter;
  stored.slot = "0";
  stored.op_name = std::move(parameter.name);
  stored.offset = parameter.offset;
  stored.bytes = stored.request.bytes = parameter.bytes;
  stored.request.dtype = parameter.dtype;
  stored.request.shape = std::move(parameter.shape);
  stored.request.format_number = static_cast<int64_t>(Format::kND);
  if (!parameter.pieces.empty())
    stored.pieces = std::make_shared<const std::vector<FilePiece>>(std::move(parameter.pieces));
  stored.problem = std::move(parameter.problem);
  return stored;
}

class CheckpointFamily : public Family {
 public:
  bool names_tensors(const NameFacts& /*facts*/) const override { return true; }

 protected:
  static Claim claim_suffix(const FileContext& file, std::string_view suffix, Claim fitting, NameFacts& facts) {
    if (!has_suffix(file.name, suffix)) return Claim::kNo;
    facts.op_type = "Parameter";
    facts.io = Io::kParameter;
    return fitting;
  }

  [[nodiscard]] OpenedFile opened(File file, std::vector<StoredParameter> parameters) const {
    OpenedFile result{std::move(file), kind(), {}, {}};
    result.tensors.reserve(parameters.size());
    for (StoredParameter& parameter : parameters) result.tensors.push_back(stored_tensor(std::move(parameter)));
    return result;
  }
};

class SafetensorsFamily final : public CheckpointFamily {
 public:
  std::string_view name() const override { return "safetensors"; }
  FileKind kind() const override { return FileKind::kSafetensors; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    return claim_suffix(file, ".safetensors", Claim::kByName, facts);
  }

  Result<OpenedFile> open(File file, const OpenContext& /*context*/) const override {
    MSDUMP_TRY(SafeTensors checkpoint, read_safetensors(file));
    return opened(std::move(file), std::move(checkpoint.tensors));
  }

  bool recognises(std::span<const std::byte> head, uint64_t file_size) const override {
    return looks_like_safetensors(head, file_size);
  }
};

class CkptFamily final : public CheckpointFamily {
 public:
  std::string_view name() const override { return "MindSpore checkpoint"; }
  FileKind kind() const override { return FileKind::kCheckpoint; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    return claim_suffix(file, ".ckpt", Claim::kByContent, facts);
  }

  Result<OpenedFile> open(File file, const OpenContext& /*context*/) const override {
    MSDUMP_TRY(MsCkpt checkpoint, read_ms_ckpt(file));
    return opened(std::move(file), std::move(checkpoint.tensors));
  }

  bool recognises(std::span<const std::byte> head, uint64_t file_size) const override {
    return looks_like_ms_ckpt(head, file_size);
  }
};

}  // namespace

const Family& safetensors_family() {
  static const SafetensorsFamily kFamily;
  return kFamily;
}

const Family& ckpt_family() {
  static const CkptFamily kFamily;
  return kFamily;
}

}  // namespace msdump
