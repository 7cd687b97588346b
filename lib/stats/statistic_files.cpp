#include "stats/statistic_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"

namespace msdump::stats {
namespace {

constexpr std::string_view kTensorData = "dump_tensor_data";

std::string directory_of(const std::string& folder) {
  if (folder == kTensorData) return "";
  const size_t at = folder.rfind('/');
  return at != std::string::npos && folder.substr(at + 1) == kTensorData ? folder.substr(0, at) : folder;
}

struct NaturalOrder {
  bool operator()(const std::pair<uint32_t, std::string>& a, const std::pair<uint32_t, std::string>& b) const {
    return a.first != b.first ? a.first < b.first : natural_less(a.second, b.second);
  }
};

}  // namespace

std::vector<StatisticDirectory> statistic_directories(const DumpIndex& index,
                                                      const std::vector<TensorRecord>& tensors) {
  std::map<std::pair<uint32_t, std::string>, std::vector<size_t>, NaturalOrder> by_path;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].has_elements || tensors[i].broken) continue;
    const IndexedFolder& folder = index.folders()[index.files()[tensors[i].file].folder];
    by_path[{folder.root, directory_of(folder.relative)}].push_back(i);
  }
  std::vector<StatisticDirectory> directories;
  for (auto& [place, members] : by_path) {
    std::stable_partition(members.begin(), members.end(),
                          [&](size_t i) { return tensors[i].name.io != Io::kParameter; });
    directories.push_back({place.first, place.second, std::move(members)});
  }
  return directories;
}

Status StatisticFileWriter::take(const std::string& target, const TensorRecord& tensor,
                                 const Result<TensorStatistics>& statistics) {
  const bool left_out = !statistics && statistics.error().code == ErrorCode::kCancelled;
  if (stopped_ || left_out || cancel_.cancelled()) {
    stopped_ = true;
    file_.reset();
    return {};
  }
  Status status = target == target_ ? Status() : commit();
  target_ = target;
  if (status && statistics && statistics->supported) status = add(target, tensor, *statistics);
  if (status) return status;
  stopped_ = true;
  file_.reset();
  return status;
}

Status StatisticFileWriter::finish() {
  if (stopped_ || cancel_.cancelled()) {
    file_.reset();
    return {};
  }
  return commit();
}

Status StatisticFileWriter::add(const std::string& target, const TensorRecord& tensor,
                                const TensorStatistics& statistics) {
  if (!file_) {
    MSDUMP_TRY(TextFile file, TextFile::create(target));
    file_.emplace(std::move(file));
    waiting_rows_ = 0;
    MSDUMP_CHECK_OK(file_->append(header_line(style_)));
  }
  ++waiting_rows_;
  return file_->append(row_line(style_, index_, tensor, statistics));
}

Status StatisticFileWriter::commit() {
  if (!file_) return {};
  MSDUMP_CHECK_OK(file_->commit());
  file_.reset();
  ++files_;
  rows_ += waiting_rows_;
  return {};
}

}  // namespace msdump::stats
