#include "profiles/result_writer.h"

#include <algorithm>
#include <iterator>

#include "compare/pair/pair_reader.h"

namespace msdump {
namespace {

constexpr size_t kMostKept = 1000;

}  // namespace

void ProfileFailures::add(Error error) {
  ++count;
  if (kept.size() < kMostKept) kept.push_back(std::move(error));
}

void ProfileFailures::add(ProfileFailures&& more) {
  count += more.count;
  const size_t room = std::min(more.kept.size(), kMostKept - kept.size());
  std::move(more.kept.begin(), more.kept.begin() + static_cast<std::ptrdiff_t>(room), std::back_inserter(kept));
}

Result<kernels::PairState> compare_elements(HostTensor& a, HostTensor& b, double scale, const CancelToken& cancel) {
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b));
  const kernels::PairRule rule{.scale = scale, .ulp = false, .quantiles = false};
  kernels::PairState state;
  MSDUMP_CHECK_OK(reader.for_each(cancel, [&](const PairSlab& slab) {
    kernels::pair_block(reader.dtype(), slab.a, slab.b, slab.count, rule, state);
  }));
  return state;
}

void append_csv_field(std::string& row, std::string_view text, std::string_view line_end) {
  if (!row.empty()) row += ',';
  if (text.find_first_of(",\"") == std::string_view::npos && text.find_first_of(line_end) == std::string_view::npos) {
    row += text;
    return;
  }
  row += '"';
  for (const char c : text) {
    if (c == '"') row += '"';
    row += c;
  }
  row += '"';
}

}  // namespace msdump
