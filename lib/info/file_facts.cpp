#include "info/file_facts.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "ascend/opdebug.h"
#include "dump/layouts/dump_json_kinds.h"
#include "dump/layouts/family.h"
#include "dump/names/file_kind.h"
#include "ge/graph/ge_graph.h"
#include "info/fact_readers.h"
#include "info/tree_facts.h"
#include "io/zip.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

constexpr size_t kShownBytes = 16;

const Family* family_of(FileKind kind, const IndexedFile& file) {
  if (file.family != nullptr && file.family->kind() == kind) return file.family;
  return info(kind).family == nullptr ? nullptr : &info(kind).family();
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool holds_pickle(const File& file) {
  const auto pt = torch::read_pt(file);
  return pt || pt.error().code != ErrorCode::kBadHeader;
}

// A zip archive that is no tensor: a spreadsheet, or what config_check packs.
FileKind kind_of_archive(const File& file) {
  const auto zip = ZipFile::open(file);
  if (!zip) return FileKind::kUnknown;
  if (zip->find("xl/workbook.xml")) return FileKind::kSpreadsheet;
  constexpr std::array<std::string_view, 6> kParts = {"env", "pip", "hyperparameters", "dataset", "weights", "random"};
  const auto is_part = [&](const ZipEntry& entry) {
    const std::string_view top = std::string_view(entry.name).substr(0, entry.name.find('/'));
    return std::find(kParts.begin(), kParts.end(), top) != kParts.end();
  };
  const auto entries = zip->entries();
  const bool packed = !entries.empty() && std::all_of(entries.begin(), entries.end(), is_part);
  return packed ? FileKind::kConfigCheck : FileKind::kUnknown;
}

// The kind by the name if that says something, else by the content.
FileKind kind_of(const IndexedFile& indexed, const File& file) {
  const FileKind by_name = kind_in_tree(indexed);
  // Any .json that has no name of its own may be a configuration.
  const bool guessed = by_name == FileKind::kConfig;
  if (is_read(by_name) && !guessed && !indexed.by_content) return by_name;
  const FileKind by_content = kind_of_content(file.head(), file.size());
  // Many other files are zip archives, too.
  const bool named_pt = indexed.family == &pt_family();
  if (by_content == FileKind::kPt && !named_pt && !holds_pickle(file)) {
    const FileKind archive = kind_of_archive(file);
    return archive == FileKind::kUnknown ? by_name : archive;
  }
  const bool unsaid = by_content == FileKind::kUnknown && (guessed || !is_read(by_name));
  if (unsaid && ge_form(text_of(file.head()))) return FileKind::kGeGraph;
  const bool trusted =
      by_content == FileKind::kDumpJson || by_content == FileKind::kProfile || by_content == FileKind::kAnomalies;
  if (by_content == FileKind::kUnknown || (guessed && !trusted)) return by_name;
  return by_content == FileKind::kDumpFile && ascend::is_opdebug_name(indexed.shown_name()) ? FileKind::kOpdebug
                                                                                            : by_content;
}

std::string first_bytes(const File& file) {
  std::string text;
  for (const std::byte byte : file.head().first(std::min(kShownBytes, file.head().size()))) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", std::to_integer<int>(byte));
  }
  return text;
}

// The reader of configurations names the tool.
std::string title_of(FileKind kind, const IndexedFile& file) {
  const std::string_view word = name_of(kind);
  if (word == "unknown") return std::string(word);
  return fmt::format("{}, {}", word,
                     kind == FileKind::kConfig ? "of an unknown tool" : explanation(kind, file.shown_name()));
}

void add_unknown_facts(const FactSource& source, FileFacts& facts) {
  std::string why(explanation(facts.kind, source.indexed.shown_name()));
  if (source.file.size() == 0) why = "an empty file";
  if (facts.kind == FileKind::kUnknown && source.file.size() > 0)
    why = "neither its name nor its first bytes are those of a file that a dump has";
  facts.add("why", std::move(why)).add("first_bytes", first_bytes(source.file));
}

void add_facts(const FactSource& source, FileFacts& facts) {
  if (is_like_dump_json(facts.kind)) return add_dump_json_facts(source, facts);
  switch (facts.kind) {
    case FileKind::kOpdebug: return add_opdebug_facts(source, facts);
    case FileKind::kStatistic: return add_statistic_facts(source, facts);
    case FileKind::kMapping:
    case FileKind::kExecutionOrder: return add_line_facts(source, facts);
    case FileKind::kFreeBenchmark:
    case FileKind::kAccCheck:
    case FileKind::kPrecisionCompare:
    case FileKind::kCompareResult:
    case FileKind::kAnomalies: return add_result_facts(source, facts);
    case FileKind::kMonitor: return add_monitor_facts(source, facts);
    case FileKind::kStackJson:
    case FileKind::kConstructJson:
    case FileKind::kKernelArgs:
    case FileKind::kConfig: return add_json_facts(source, facts);
    case FileKind::kIrText:
    case FileKind::kIrProtobuf: return add_ir_facts(source, facts);
    case FileKind::kShardIndex: return add_shard_index_facts(source, facts);
    case FileKind::kGeGraph: return add_ge_facts(source, facts);
    default: break;
  }
  const bool holds_tensors = facts.family != nullptr && facts.family->has_elements();
  return holds_tensors ? add_tensor_facts(source, facts) : add_unknown_facts(source, facts);
}

}  // namespace

FileFacts& FileFacts::add(std::string_view key, report::Value value) {
  std::string label(key);
  std::replace(label.begin(), label.end(), '_', ' ');
  lines.push_back({std::move(label), {}, value});
  detail.add(key, std::move(value));
  return *this;
}

FileFacts& FileFacts::add_count(std::string_view key, report::Value value, int64_t least) {
  const auto* const number = value.get<int64_t>();
  const auto* const count = value.get<uint64_t>();
  const bool is_less =
      (number != nullptr && *number < least) || (count != nullptr && *count < static_cast<uint64_t>(least));
  if (!is_less) return add(key, std::move(value));
  detail.add(key, std::move(value));
  return *this;
}

FileFacts read_file_facts(const DumpIndex& index, const IndexedFile& file, const CancelToken& cancel) {
  FileFacts facts;
  facts.kind = kind_in_tree(file);
  facts.detail.add("bytes", file.size);
  const auto opened = File::open(index.path_of(file));
  if (!opened) {
    facts.title = title_of(facts.kind, file);
    facts.add("why", opened.error().message);
    facts.problems.push_back(opened.error());
    return facts;
  }
  facts.size = opened->size();
  facts.mtime_ns = opened->mtime_ns();
  facts.kind = kind_of(file, *opened);
  facts.family = family_of(facts.kind, file);
  facts.title = title_of(facts.kind, file);
  add_facts({index, file, *opened, cancel}, facts);
  if (!facts.problems.empty() && facts.tensors.empty()) {
    if (auto mistaken = mistaken_content(facts.kind, opened->head())) facts.problems = {std::move(*mistaken)};
  }
  for (const StoredTensor& tensor : facts.tensors) facts.tensor_bytes += tensor.problem ? 0 : tensor.bytes;
  if (!facts.tensors.empty()) facts.tensor_count = facts.tensors.size();
  for (Error& problem : facts.problems) {
    if (problem.path.empty()) problem.path = opened->path();
  }
  return facts;
}

Result<OpenedFile> open_with(const Family& family, const DumpIndex& index, const IndexedFile& file) {
  MSDUMP_TRY(File opened, File::open(index.path_of(file)));
  const IndexedFolder& folder = index.folders()[file.folder];
  // Only the parent of a path that was given can be outside of the index.
  const Sidecars sidecars(index.path_of_folder(file.folder), folder.identity.tensor_data && folder.relative.empty());
  MSDUMP_TRY(OpenedFile result, family.open(std::move(opened), {file.shown_name(), file.facts, sidecars}));
  std::erase_if(result.tensors, [](const StoredTensor& tensor) { return tensor.absent(); });
  return result;
}

Result<OpenedFile> open_again(const DumpIndex& index, const IndexedFile& file, const FileFacts& facts, size_t item) {
  MSDUMP_TRY(File opened, File::open(index.path_of(file)));
  if (opened.size() == facts.size && opened.mtime_ns() == facts.mtime_ns)
    return OpenedFile{std::move(opened), facts.family->kind(), {}, {facts.tensors[item]}};
  return fail(make_error(ErrorCode::kChangedWhileReading, "the file was written since its header was read")
                  .with_path(index.path_of(file)));
}

}  // namespace msdump
