#include "profiles/msaccucmp/result.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "profiles/msaccucmp/files.h"
#include "profiles/msaccucmp/tensors.h"

namespace msdump {
namespace {

FileKind kind_of(const MsaccucmpSide& side, const TensorRecord& tensor) {
  return side.side.index->files()[tensor.file].kind;
}

bool is_of_dump_files(const MsaccucmpSide& side) {
  return std::all_of(side.side.tensors->begin(), side.side.tensors->end(),
                     [&](const TensorRecord& tensor) { return kind_of(side, tensor) == FileKind::kDumpFile; });
}

Status check_side(const MsaccucmpSide& side) {
  const DumpIndex& index = *side.side.index;
  const std::string& path = index.paths().front();
  std::set<uint32_t> folders;
  for (const TensorRecord& tensor : *side.side.tensors) {
    if (!tensor.has_elements) {
      return fail(make_error(ErrorCode::kUsage, "only statistics of some tensors are here; msaccucmp compares elements")
                      .with_path(path)
                      .with_hint("leave --profile: msdump compares statistics, too"));
    }
    folders.insert(index.files()[tensor.file].folder);
  }
  if (folders.size() < 2) return {};
  const auto shown = [&](uint32_t folder) {
    const std::string& relative = index.folders()[folder].relative;
    return relative.empty() ? std::string(".") : relative;
  };
  return fail(make_error(ErrorCode::kUsage, "tensors of {}, such as {} and {}; msaccucmp compares one with one",
                         plural(folders.size(), "folder"), shown(*folders.begin()), shown(*folders.rbegin()))
                  .with_path(path)
                  .with_hint("--rank, --graph and --step choose one, or name the folder"));
}

}  // namespace

Result<MsaccucmpCounts> write_msaccucmp_result(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                               const RunContext& context, const ProfileSink& sink) {
  MSDUMP_CHECK_OK(check_side(a));
  MSDUMP_CHECK_OK(check_side(b));
  const MsaccucmpColumns columns{is_of_dump_files(a), is_of_dump_files(b)};
  // compare(i) makes the rows of the i-th of `count` operators.
  const auto write = [&](size_t count, const auto& compare) {
    const auto make = [&](size_t i) -> Result<ProfileRows<MsaccucmpCounts>> {
      MSDUMP_TRY(MsaccucmpOpRows rows, compare(i));
      rows.counts.rows = static_cast<int64_t>(rows.rows.size());
      ProfileRows<MsaccucmpCounts> text{{}, std::move(rows.counts)};
      for (const MsaccucmpRow& row : rows.rows) text.lines += msaccucmp_line(columns, i, row);
      return text;
    };
    return write_rows_in_order<MsaccucmpCounts>(context, count, msaccucmp_header(columns), make, sink);
  };
  if (columns.address_a && columns.address_b) {
    const std::vector<MsaccucmpFilePair> pairs = pair_dump_files(a, b);
    return write(pairs.size(), [&](size_t i) { return compare_dump_files(a, b, pairs[i], context.cancel); });
  }
  const MsaccucmpTensorPairs pairs = pair_tensors(a, b);
  return write(pairs.operators.size(),
               [&](size_t i) { return compare_tensors(a, b, pairs, pairs.operators[i], context.cancel); });
}

}  // namespace msdump
