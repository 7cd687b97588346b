// The parts that both profiles use: the sink of a result file, its rows, the failures, and the metrics of two tensors. Rows
// are made on all threads and written in order.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "io/run_context.h"
#include "kernels/pair/pair.h"

namespace msdump {

// Takes the file piece by piece, whole lines each, header first.
using ProfileSink = std::function<Status(std::string_view lines)>;

// Files that could not be read: all are counted, a thousand are kept.
struct ProfileFailures {
  std::vector<Error> kept;
  int64_t count = 0;

  void add(Error error);
  void add(ProfileFailures&& more);
};

// Some rows as text, and the profile's counts of them: `Counts` has += and `failures`.
template <class Counts>
struct ProfileRows {
  std::string lines;
  Counts counts;
};

// make(i) for i below `count`, on all threads; a result is ProfileRows<Counts>. Ends at the first error, and if
// cancelled. Memory: per worker, the rows of a few pieces ahead of the output.
template <class Counts, class Make>
Result<Counts> write_rows_in_order(const RunContext& context, size_t count, std::string_view header, const Make& make,
                                   const ProfileSink& sink) {
  Counts counts;
  Status status = sink(header);
  std::atomic<bool> ended = !status;
  context.pool.ordered_for(
      static_cast<int64_t>(count),
      [&](int64_t i) -> Result<ProfileRows<Counts>> {
        MSDUMP_CHECK_OK(context.cancel.check());
        if (ended) return fail(ErrorCode::kCancelled, "the file has ended");
        return make(static_cast<size_t>(i));
      },
      [&](int64_t, Result<ProfileRows<Counts>>&& rows) {
        if (!status) return;
        if (rows) {
          status = sink(rows->lines);
          counts += std::move(rows->counts);
        } else {
          status = fail(std::move(rows).error());
        }
        ended = !status;
      },
      int64_t{4} * context.pool.jobs());
  MSDUMP_CHECK_OK(std::move(status));
  MSDUMP_CHECK_OK(context.cancel.check());
  return counts;
}

// The metrics of two tensors with equally many elements; `scale` is that of max_scaled. An error if one cannot be read.
Result<kernels::PairState> compare_elements(HostTensor& a, HostTensor& b, double scale, const CancelToken& cancel);

// Appends a field, after a comma unless it is the first of `row`. It is quoted as by Python's csv writer (QUOTE_MINIMAL): if
// it has a comma, a quote or a character of the line end.
void append_csv_field(std::string& row, std::string_view text, std::string_view line_end);

}  // namespace msdump
