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

constexpr size_t kMaxFailures = 1000;

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

class Writer {
 public:
  Writer(const MsaccucmpContext& context, const MsaccucmpSink& sink, const MsaccucmpColumns& columns)
      : context_(context), sink_(sink), columns_(columns) {}

  // compare(i) makes the rows of the i-th of `count` operators.
  template <class Compare>
  Result<MsaccucmpCounts> run(size_t count, Compare&& compare) {
    Status status = sink_(msaccucmp_header(columns_));
    context_.pool.ordered_for(
        static_cast<int64_t>(count),
        [&](int64_t i) -> Result<MsaccucmpOpRows> {
          MSDUMP_CHECK_OK(context_.cancel.check());
          return compare(static_cast<size_t>(i));
        },
        [&](int64_t i, Result<MsaccucmpOpRows>&& rows) {
          if (!status) return;
          status = rows ? take(static_cast<size_t>(i), std::move(*rows)) : Status(fail(std::move(rows).error()));
        });
    MSDUMP_CHECK_OK(std::move(status));
    MSDUMP_CHECK_OK(context_.cancel.check());
    return std::move(counts_);
  }

 private:
  Status take(size_t index, MsaccucmpOpRows&& rows) {
    std::string lines;
    for (const MsaccucmpRow& row : rows.rows) lines += msaccucmp_line(columns_, index, row);
    counts_.rows += static_cast<int64_t>(rows.rows.size());
    counts_.unmatched += rows.unmatched;
    counts_.not_compared += rows.not_compared;
    counts_.left_out += rows.left_out;
    counts_.beyond += rows.beyond;
    for (Error& error : rows.failures) {
      ++counts_.failed;
      if (counts_.failures.size() < kMaxFailures) counts_.failures.push_back(std::move(error));
    }
    return sink_(lines);
  }

  const MsaccucmpContext& context_;
  const MsaccucmpSink& sink_;
  MsaccucmpColumns columns_;
  MsaccucmpCounts counts_;
};

}  // namespace

Result<MsaccucmpCounts> write_msaccucmp_result(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                               const MsaccucmpContext& context, const MsaccucmpSink& sink) {
  MSDUMP_CHECK_OK(check_side(a));
  MSDUMP_CHECK_OK(check_side(b));
  const MsaccucmpColumns columns{is_of_dump_files(a), is_of_dump_files(b)};
  Writer writer(context, sink, columns);
  if (columns.address_a && columns.address_b) {
    const std::vector<MsaccucmpFilePair> pairs = pair_dump_files(a, b);
    return writer.run(pairs.size(), [&](size_t i) { return compare_dump_files(a, b, pairs[i], context.cancel); });
  }
  const MsaccucmpTensorPairs pairs = pair_tensors(a, b);
  return writer.run(pairs.operators.size(),
                    [&](size_t i) { return compare_tensors(a, b, pairs, pairs.operators[i], context.cancel); });
}

}  // namespace msdump
