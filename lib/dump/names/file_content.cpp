#include "dump/names/file_content.h"

#include <string_view>

#include "ascend/dump_file.h"
#include "checkpoint/safetensors.h"
#include "io/zip/zip.h"
#include "npy/npy.h"
#include "tables/monitor_csv.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

FileKind kind_of_magic(std::string_view head) {
  using namespace std::string_view_literals;
  constexpr size_t kEventBytes = 64;  // the first record says its version
  if (head.starts_with("SQLite format 3\0"sv)) return FileKind::kDatabase;
  if (head.starts_with("\x89HDF\r\n\x1a\n"sv)) return FileKind::kHdf5;
  if (head.starts_with("IMOD"sv)) return FileKind::kOfflineModel;
  if (head.starts_with("\x7f"
                       "ELF"sv))
    return FileKind::kKernel;
  if (head.starts_with("$Version="sv)) return FileKind::kAtbTensor;
  const std::string_view first = head.substr(0, kEventBytes);
  const bool event = first.find("brain.Event:") != first.npos || first.find("MindSpore.Event:") != first.npos;
  return event ? FileKind::kEvents : FileKind::kUnknown;
}

// By the titles of the first line.
FileKind kind_of_result_table(std::string_view titles) {
  const auto has = [&](std::string_view title) { return titles.find(title) != std::string_view::npos; };
  if (looks_like_monitor_csv(titles)) return FileKind::kMonitor;
  if (titles.starts_with("NPU Name,Bench Name,")) return FileKind::kCompareResult;
  if (has("pert_") && has("api_name") && has("max_rel")) return FileKind::kFreeBenchmark;
  if (titles.starts_with("API Name,") && has("比对结果")) return FileKind::kPrecisionCompare;
  const bool api = titles.starts_with("API name,") || titles.starts_with("API Name,");
  if (api && (has(",Forward Test Success,") || has(",Status,"))) return FileKind::kAccCheck;
  if (titles.starts_with("module_name,stack_info")) return FileKind::kToolTable;
  return FileKind::kUnknown;
}

FileKind kind_of_json_text(std::string_view text) {
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  if (has("\"dump_data_dir\"") && has("\"data\"")) return FileKind::kDumpJson;
  if (has("\"common_dump_settings\"")) return FileKind::kConfig;
  const bool alerts = has("\"tag_name\"") && has("\"group_mates\"");
  if (alerts || (has("\"rank_") && has("\"op_name\"") && has("\"data_info\""))) return FileKind::kAnomalies;
  if (has("\"traceEvents\"") || (has("\"ph\"") && has("\"pid\"") && has("\"ts\""))) return FileKind::kProfile;
  return FileKind::kUnknown;
}

FileKind kind_of_text(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (const std::string_view title : {"Op Type,Op Name,", "Input/Output,Index,", "Device and PID,Execution Count,"}) {
    if (text.starts_with(title)) return FileKind::kStatistic;
  }
  if (const FileKind result = kind_of_result_table(text.substr(0, text.find('\n'))); result != FileKind::kUnknown)
    return result;
  if (text.starts_with("NodeExecutionOrder-FullNameWithScope")) return FileKind::kExecutionOrder;
  if (text.starts_with("#IR entry") || text.starts_with("# IR entry")) return FileKind::kIrText;
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  return json ? kind_of_json_text(text) : FileKind::kUnknown;
}

}  // namespace

FileKind kind_of_content(std::span<const std::byte> head, uint64_t file_size) {
  if (npy::has_magic(head)) return FileKind::kNpy;
  if (torch::looks_like_pt(head)) return FileKind::kPt;
  if (looks_like_safetensors(head, file_size)) return FileKind::kSafetensors;
  if (const FileKind magic = kind_of_magic({reinterpret_cast<const char*>(head.data()), head.size()});
      magic != FileKind::kUnknown)
    return magic;
  const FileKind kind = kind_of_text({reinterpret_cast<const char*>(head.data()), head.size()});
  if (kind != FileKind::kUnknown) return kind;
  return ascend::looks_like_dump_file(head, file_size) ? FileKind::kDumpFile : FileKind::kUnknown;
}

std::optional<Error> mistaken_content(FileKind promised, std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with("version https://git-lfs.github.com/spec/")) {
    return make_error(ErrorCode::kBadHeader, "a Git LFS pointer: the file itself is not here")
        .with_hint("git lfs pull fetches it");
  }
  const bool archive = promised == FileKind::kPt || promised == FileKind::kNpz;
  if (archive || !has_zip_magic(head)) return std::nullopt;
  return make_error(ErrorCode::kBadHeader, "a zip archive, such as PyTorch's .pt or numpy's .npz, under another name")
      .with_hint("msdump reads it when its name ends in .pt or .npz");
}

}  // namespace msdump
