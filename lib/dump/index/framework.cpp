#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "dump/index/dump_index.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"
#include "io/json.h"
#include "msprobe/tensor_log.h"

namespace msdump {
namespace {

constexpr uint64_t kMostConfigBytes = uint64_t{1} << 20;

// "ms_version" of a .dump_metadata/config.json; a file without one is not evidence, and not a failure.
std::optional<std::string> version_in(const std::string& path) {
  const auto json = read_json(path, kMostConfigBytes);
  if (!json) return std::nullopt;
  const JsonValue* version = json->find("ms_version");
  return version != nullptr && version->is(JsonKind::kString) ? std::optional(version->text) : std::nullopt;
}

bool in_metadata(const std::string& folder) {
  return folder == ".dump_metadata" || folder.ends_with("/.dump_metadata");
}

struct NameEvidence {
  bool with_dtype = false, full_scope = false, last_component = false, raw_bin = false, msprobe = false;
  bool dumper = false, msit = false, ptdbg = false, torchtitan = false, debug_mode = false;
};

NameEvidence read_names(const DumpIndex& index) {
  NameEvidence evidence;
  for (const IndexedFile& file : index.files()) {
    const Layout layout = index.folders()[file.folder].identity.layout;
    const bool in_tree = layout == Layout::kTree;
    evidence.dumper = evidence.dumper || layout == Layout::kDumper;
    evidence.msit = evidence.msit || layout == Layout::kMsit;
    evidence.ptdbg = evidence.ptdbg || file.kind == FileKind::kDumpPkl || layout == Layout::kPtdbg;
    if (file.kind == FileKind::kTensorLog)
      (rank_of_tensor_log(file.name) ? evidence.torchtitan : evidence.debug_mode) = true;
    evidence.msprobe = evidence.msprobe || file.kind == FileKind::kDumpJson || file.kind == FileKind::kDebugJson;
    if (file.kind == FileKind::kRaw && index.folders()[file.folder].identity.layout == Layout::kOldSync)
      evidence.raw_bin = true;
    if (file.kind != FileKind::kNpy || !in_tree || file.facts.timestamp.empty()) continue;
    if (file.facts.dtype != DType::kUndefined) {
      evidence.with_dtype = true;
    } else if (file.facts.op_name.starts_with("Default_") || file.facts.op_name.starts_with("Gradients_")) {
      evidence.full_scope = true;
    } else if (file.facts.op_type != "Parameter") {
      evidence.last_component = true;
    }
  }
  return evidence;
}

void judge_by_names(const NameEvidence& names, FrameworkFacts& facts) {
  const auto range = [&](std::string_view text, std::optional<Version> from, std::optional<Version> to) {
    facts.framework = "MindSpore";
    facts.text = text;
    facts.from = from;
    facts.to = to;
  };
  if (names.with_dtype) {
    range("2.4 or later", Version{2, 4, 0}, std::nullopt);
  } else if (names.full_scope) {
    range("2.3", Version{2, 3, 0}, Version{2, 4, 0});
  } else if (names.last_component) {
    range("1.3 to 2.2", Version{1, 3, 0}, Version{2, 3, 0});
  } else if (names.raw_bin) {
    range("1.0 to 1.2", Version{1, 0, 0}, Version{1, 3, 0});
  } else if (names.msprobe) {
    facts.framework = "msprobe";
  } else if (names.ptdbg) {
    facts.framework = "ptdbg_ascend";
  } else if (names.dumper) {
    facts.framework = "SGLang's dumper";
  } else if (names.msit) {
    facts.framework = "msit";
  } else if (names.torchtitan || names.debug_mode) {
    facts.framework = name_of(names.torchtitan ? TensorLogWriter::kTorchtitan : TensorLogWriter::kDebugMode);
  }
}

}  // namespace

FrameworkFacts framework_of(const DumpIndex& index) {
  FrameworkFacts facts;
  for (const IndexedFile& file : index.files()) {
    if (file.name != "config.json" || !in_metadata(index.folder_of(file))) continue;
    const auto text = version_in(index.path_of(file));
    const auto version = text ? parse_version(*text) : std::nullopt;
    if (!version) continue;
    facts.framework = "MindSpore";
    facts.version = version;
    facts.text = *text;
    return facts;
  }
  judge_by_names(read_names(index), facts);
  return facts;
}

}  // namespace msdump
