#include "shared/parallel_rows.h"

#include <algorithm>
#include <atomic>
#include <string>

namespace msdump::cli {

void write_rows(report::RowSink& sink, WorkerPool& pool, size_t count,
                const std::function<report::Row(size_t)>& row_of) {
  constexpr size_t kChunk = 256;
  constexpr int64_t kMostWaiting = 64;  // chunks
  size_t first = 0;
  // The first row may define the columns. A table has no formatter.
  const auto write_one = [&] { return sink.row(row_of(first++)).has_value(); };
  if (count > 0 && !write_one()) return;
  if (count <= kChunk || pool.jobs() == 1 || !sink.formatter()) {
    while (first < count && write_one()) {
    }
    return;
  }
  std::atomic<bool> stopped = false;
  const auto make_chunk = [&](int64_t chunk) {
    std::string text;
    const size_t begin = first + static_cast<size_t>(chunk) * kChunk;
    const auto formatter = sink.formatter();
    for (size_t i = begin; i < std::min(begin + kChunk, count) && !stopped; ++i) formatter->append(row_of(i), text);
    return text;
  };
  const auto write_chunk = [&](int64_t, std::string&& text) {
    if (!stopped && !sink.write_formatted(text)) stopped = true;
  };
  pool.ordered_for(static_cast<int64_t>((count - first + kChunk - 1) / kChunk), make_chunk, write_chunk, kMostWaiting);
}

}  // namespace msdump::cli
