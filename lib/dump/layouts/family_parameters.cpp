#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/ms_ckpt.h"
#include "checkpoint/safetensors.h"
#include "dump/layouts/family.h"
#include "dump/layouts/name_facts.h"
#include "dump/layouts/saved_tensor.h"
#include "dump/layouts/zero_checkpoint.h"
#include "dump/names/dumper_name.h"
#include "dump/names/file_name.h"
#include "io/zip.h"
#include "torch/pt_file.h"

namespace msdump {

// PyTorch's files. Their tensors are:
//
//   the name is an operator's: msprobe's (in      tensors of that operator
//   dump_tensor_data), or counted (npugraph_ex,
//   acl_save; names/file_name.h)
//   of SGLang's dumper (names/dumper_name.h)      tensors of that operator
//   of msit, in torch_tensors                     tensors of that module
//   else a tensor in a dict, at any depth         a parameter: its op name is the key, "state_dict.layer.0.weight"
//   else                                          tensors of an operator with the name of the file
//
// .pt and pytorch_model.bin are PyTorch's. Other tools write .bin, .pth and .ckpt, too, so their content decides. Two names
// of one storage (tied weights) are two parameters.

namespace {

bool is_named_as_operator(const NameFacts& facts) { return !facts.slot.empty() || !facts.timestamp.empty(); }

StoredTensor stored_tensor(const torch::PtTensor& tensor, const NameFacts& facts) {
  StoredTensor stored = stored_tensor_of(tensor);
  const bool parameter = tensor.in_dict && !is_named_as_operator(facts);
  if (parameter) stored.op_name = tensor.key;
  stored.io = parameter ? Io::kParameter : facts.io;
  const bool keyed = !tensor.key.empty() && !parameter;
  stored.slot = keyed ? tensor.key : facts.slot.empty() ? "0" : std::string(facts.slot);
  return stored;
}

std::string_view stem_of_pt(std::string_view name) {
  constexpr std::string_view kSuffix = ".pt";
  return has_suffix(name, kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : std::string_view();
}

bool take_dumper_name(const FileContext& file, NameFacts& facts) {
  const auto name = parse_dumper_name(stem_of_pt(file.name));
  if (!name) return false;
  facts.op_name = file.arena.keep(name->op_name);
  facts.timestamp = name->index;
  facts.slot = name->slot;
  facts.io = name->io;
  if (name->io == Io::kParameter) facts.op_type = "Parameter";
  return true;
}

// The dumper saves {"value": .., "meta": {..}}, and the value alone in older versions.
std::optional<StoredTensor> value_of_dumper(const torch::PtTensor& tensor, const NameFacts& facts) {
  constexpr std::string_view kValue = "value", kMeta = "meta.";
  if (tensor.key.starts_with(kMeta)) return std::nullopt;
  torch::PtTensor value = tensor;
  value.in_dict = false;
  if (value.key == kValue) value.key.clear();
  if (value.key.starts_with("value.")) value.key.erase(0, kValue.size() + 1);
  return stored_tensor(value, facts);
}

Error placeholder_error() {
  return make_error(ErrorCode::kUnsupportedFormat, "a placeholder of DeepSpeed's ZeRO-3 without values")
      .with_hint("the values are in the optim_states of all ranks: keep these beside the model_states");
}

// msit saves MODULE/{input|output}[_I[_J]].pth and MODULE/PARAMETER.pth, each one tensor.
bool take_msit_name(const FileContext& file, NameFacts& facts) {
  constexpr std::string_view kSuffix = ".pth", kRoot = "root.";
  constexpr size_t kAboveModule = 3;  // torch_tensors/DEVICE_PID/TOKEN
  if (file.identity.layout != Layout::kMsit || !file.identity.step || !has_suffix(file.name, kSuffix)) return false;
  const std::string_view stem = file.name.substr(0, file.name.size() - kSuffix.size());
  std::string_view module = file.folder;
  const auto parts = split(module, '/');
  const size_t deep = file.identity.depth - std::min<size_t>(file.identity.depth, kAboveModule);
  if (deep == 0 || module.empty() || stem.empty()) return false;
  if (deep < parts.size()) module.remove_prefix(static_cast<size_t>(parts[parts.size() - deep].data() - module.data()));
  if (module.starts_with(kRoot) && module.size() > kRoot.size()) module.remove_prefix(kRoot.size());
  facts.op_name = module;
  const std::string_view word = stem.substr(0, stem.find('_'));
  const std::string_view rest = stem.substr(std::min(word.size() + 1, stem.size()));
  const bool numbered = rest.find_first_not_of("0123456789_") == rest.npos;
  if ((word == "input" || word == "output") && numbered) {
    facts.io = word == "input" ? Io::kInput : Io::kOutput;
    std::string slot(rest);
    std::replace(slot.begin(), slot.end(), '_', '.');
    facts.slot = slot.empty() ? "0" : file.arena.keep(slot);
  } else {
    facts.io = Io::kParameter;
    facts.slot = stem;
  }
  return true;
}

// torch_npu saves the same archive as .bin on demand.
bool is_saved_bin(std::string_view name) {
  constexpr std::string_view kSuffix = ".bin";
  return has_suffix(name, kSuffix) && parse_torch_npu_name(name.substr(0, name.size() - kSuffix.size()));
}

class PtFamily : public Family {
 public:
  std::string_view name() const override { return "PyTorch .pt"; }
  FileKind kind() const override { return FileKind::kPt; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    // Checkpoints have names in .pth and mostly hold more than tensors: their content decides.
    const bool pt = has_suffix(file.name, ".pt");
    if (!pt && !has_suffix(file.name, ".pth") && !is_saved_bin(file.name)) return Claim::kNo;
    if (take_msit_name(file, facts)) return Claim::kByName;
    const bool named =
        pt && ((file.identity.tensor_data && take_msprobe_name(file, facts)) || take_dumper_name(file, facts));
    if (!named) {
      facts.op_name = foreign_name(file, pt ? 3 : 4);
    }
    return pt ? Claim::kByName : Claim::kByContent;
  }

  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    const auto zero = parse_zero_model_file(context.name);
    if (zero) return open_zero(std::move(file), *zero, context);
    MSDUMP_TRY(const torch::PtFile pt, torch::read_pt(file));
    OpenedFile opened{std::move(file), FileKind::kPt, {}, {}};
    if (context.facts.op_name.empty()) opened.op_name = context.name.substr(0, context.name.rfind('.'));
    const bool dumper = parse_dumper_name(stem_of_pt(context.name)).has_value();
    for (const torch::PtTensor& tensor : pt.tensors) {
      if (!dumper) {
        opened.tensors.push_back(stored_tensor(tensor, context.facts));
      } else if (auto stored = value_of_dumper(tensor, context.facts)) {
        opened.tensors.push_back(std::move(*stored));
      }
    }
    return opened;
  }

  bool names_tensors(const NameFacts& facts) const override { return !is_named_as_operator(facts); }

 private:
  // Parameters that are partitioned over ranks take the place of their placeholders, or follow the others.
  static Result<OpenedFile> open_zero(File file, const ZeroModelFile& zero, const OpenContext& context) {
    torch::ZeroShapes shapes;
    MSDUMP_TRY(const torch::PtFile pt,
               torch::read_pt(file, [&](const torch::Pickle& pickle) { shapes = torch::zero_shapes_of(pickle); }));
    ZeroParameters whole = zero_parameters(file.path(), zero, shapes);
    OpenedFile opened{std::move(file), FileKind::kPt, {}, {}};
    if (whole.problem) opened.problems.push_back(*std::move(whole.problem));
    if (context.facts.op_name.empty()) opened.op_name = context.name.substr(0, context.name.rfind('.'));
    for (const torch::PtTensor& tensor : pt.tensors) {
      const auto name = zero3_placeholder_of(zero, tensor);
      if (name && whole.are_elsewhere) continue;
      const auto values = name ? whole.by_name.find(*name) : whole.by_name.end();
      if (values != whole.by_name.end()) {
        opened.tensors.push_back(std::move(values->second));
        whole.by_name.erase(values);
        continue;
      }
      opened.tensors.push_back(stored_tensor(tensor, context.facts));
      if (name) opened.tensors.back().problem = placeholder_error();
    }
    for (auto& [name, values] : whole.by_name) opened.tensors.push_back(std::move(values));
    return opened;
  }
};

class PtCheckpointFamily final : public PtFamily {
 public:
  std::string_view name() const override { return "PyTorch checkpoint"; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    if (!has_suffix(file.name, ".bin") && !has_suffix(file.name, ".ckpt")) return Claim::kNo;
    facts.op_type = "Parameter";
    facts.io = Io::kParameter;
    return is_model(file.name) ? Claim::kByName : Claim::kByContent;
  }

  // Other zip archives, and objects without tensors (training_args.bin), are no failures.
  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    const bool may_be_other = has_zip_magic(file.head()) && !is_model(context.name);
    auto opened = PtFamily::open(std::move(file), context);
    if (opened || !may_be_other) return opened;
    const ErrorCode code = opened.error().code;
    if (code == ErrorCode::kUnsupportedFormat || code == ErrorCode::kBadHeader) return fail(ErrorCode::kNotADump, "");
    return opened;
  }

 private:
  static bool is_model(std::string_view name) {
    return has_suffix(name, ".bin") && (name.find("pytorch_model") != name.npos || name.starts_with("adapter_model"));
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

// Checkpoints: named parameters of a model, in .safetensors files and in those of MindSpore (.ckpt, a suffix that other tools
// use, too).

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
