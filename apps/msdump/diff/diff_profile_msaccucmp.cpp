// msdump diff --profile msaccucmp.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "diff/diff_profile.h"
#include "diff/diff_result.h"
#include "frame/usage.h"
#include "profiles/msaccucmp/result.h"
#include "shared/catalogue.h"

namespace msdump::cli {
namespace {

void refuse_other_options(const ProfileOptions& profile, const DiffOptions& options) {
  if (profile.fuzzy) throw UsageError("--fuzzy goes with --profile msprobe", "msaccucmp compares equal names");
  if (!options.map.empty()) {
    throw UsageError("--map does not go with --profile msaccucmp, which has none",
                     "its fusion rules (-f, -q, -cf) are not supported; --map works without --profile");
  }
  if (!options.selection.io.empty() || !options.selection.slot.empty())
    throw UsageError("--io and --slot do not go with --profile msaccucmp, which writes all tensors of an operator");
}

Result<Catalogue> open_side(const RunContext& context, const DiffOptions& options, bool is_candidate) {
  DumpOptions dump;
  dump.options = {is_candidate ? options.paths.front() : options.paths.back()};
  const SelectionOptions selection = is_candidate ? selection_of(options, options.rank_a, options.step_a)
                                                  : selection_of(options, options.rank_b, options.step_b);
  return open_catalogue(context, {dump, selection, {Headers::kAll}});
}

MsaccucmpSide side_of(const Catalogue& catalogue) {
  MsaccucmpSide side;
  side.side.index = &catalogue.index;
  side.side.tensors = &catalogue.list.tensors();
  side.selection = &catalogue.selection;
  return side;
}

// Is there no tensor, whatever the selection?
bool holds_nothing(const Catalogue& catalogue) {
  const auto& files = catalogue.index.files();
  return std::none_of(files.begin(), files.end(), [](const IndexedFile& file) { return file.family != nullptr; });
}

bool nothing_chosen(const Catalogue& catalogue) {
  return catalogue.list.tensors().empty() && catalogue.list.failures().empty();
}

std::string summary_text(const MsaccucmpCounts& counts, bool to_file) {
  std::string text = plural(static_cast<uint64_t>(counts.rows), "row");
  if (to_file) text += " in 1 file written";
  if (counts.unmatched > 0) text += fmt::format(", {} without partner", counts.unmatched);
  if (counts.not_compared > 0) text += fmt::format(", {} not compared", counts.not_compared);
  if (counts.beyond > 0) text += fmt::format(", {} beyond the limits", counts.beyond);
  if (counts.left_out > 0) {
    text += fmt::format("; {} in no row, as in msaccucmp: their number or shapes differ",
                        plural(static_cast<uint64_t>(counts.left_out), "tensor"));
  }
  return text;
}

// Is it in the failures of the list of tensors?
bool was_listed(const Catalogue& catalogue, const Error& error) {
  for (const Error& other : catalogue.list.failures()) {
    if (other.path == error.path && (other.tensor == error.tensor || other.tensor.empty())) return true;
  }
  return false;
}

}  // namespace

ExitCode run_msaccucmp_profile(Session& session, const ProfileOptions& profile, const DiffOptions& options) {
  refuse_other_options(profile, options);
  const auto a = open_side(session.context, options, true);
  if (!a) return session.end_with(a.error());
  const auto b = open_side(session.context, options, false);
  if (!b) return session.end_with(b.error());
  for (const Catalogue* const side : {&*a, &*b}) {
    if (!holds_nothing(*side)) continue;
    report_failures(session, *side);
    return conclude_listing(session, *side);
  }
  if (nothing_chosen(*a) && nothing_chosen(*b)) return conclude_listing(session, *a);
  MsaccucmpCounts counts;
  const Status written = write_profile_file(session, profile, "result", [&](const ProfileSink& sink) -> Status {
    MSDUMP_TRY(counts, write_msaccucmp_result(side_of(*a), side_of(*b), session.context, sink));
    return {};
  });
  if (!written) return session.end_with(written.error());
  report_failures(session, *a);
  report_failures(session, *b);
  for (const Error& error : counts.failures.kept) {
    if (!was_listed(*a, error) && !was_listed(*b, error)) session.messages.error(error);
  }
  session.messages.summary(summary_text(counts, !profile.out.empty()));
  const bool failed = counts.failures.count > 0 || !a->list.failures().empty() || !b->list.failures().empty();
  return profile_exit_code(options, failed,
                           counts.unmatched + counts.not_compared + counts.left_out + counts.beyond > 0);
}

}  // namespace msdump::cli
