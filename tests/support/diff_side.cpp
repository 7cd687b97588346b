#include "support/diff_side.h"

#include <optional>
#include <utility>

#include "support/must.h"
#include "support/statistics_run.h"

namespace msdump::test {

std::unique_ptr<DiffSide> open_diff_side(const std::filesystem::path& path, const RunContext& context,
                                         const SelectionOptions& asked) {
  OpenedGraph opened = must(OpenedGraph::select(asked));
  ListedDump dump = list_dump({path});
  opened.catalogue.emplace(Catalogue{std::move(dump.index), Selection(), {}, std::move(dump.list)});
  opened.search = must(find_ir(&opened.catalogue->index, {}));
  if (const Status read = opened.read(std::nullopt, context); !read) fail(read.error().message);
  return std::make_unique<DiffSide>(std::move(opened));
}

}  // namespace msdump::test
