// What the profiles share: where the lines of a result file go, how rows are made on all threads and written in order,
// and which failures are kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/run_context.h"

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

// Appends a field, after a comma unless it is the first of `row`, quoted as Python's csv writer does (QUOTE_MINIMAL): for
// a comma, a quote, or a character of its line end.
void append_csv_field(std::string& row, std::string_view text, std::string_view line_end);

}  // namespace msdump
