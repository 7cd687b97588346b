#include "graph/lines/code_lines.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "graph/load/ir_files.h"
#include "graph/load/load_graph.h"
#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

// The graph of a stack.json with a call for each stack of lines, innermost first. A line "lib: CODE" is torch's.
class Script {
 public:
  explicit Script(const std::vector<std::vector<std::string>>& stacks, int first_line = 1) {
    std::string json;
    for (size_t i = 0; i < stacks.size(); ++i) {
      std::string frames;
      for (const std::string& code : stacks[i]) {
        const bool is_library = code.starts_with("lib: ");
        frames += fmt::format("{}\"File {}, line {}, in forward, \\n {}\"", frames.empty() ? "" : ", ",
                              is_library ? "/usr/lib/python3/site-packages/torch/nn.py" : "/home/user/net.py",
                              first_line++, is_library ? code.substr(5) : code);
      }
      json += fmt::format("{}\"{}\": [[\"Functional.relu.{}.forward\"], [{}]]", json.empty() ? "" : ", ", i, i, frames);
    }
    const auto file = ir_file_of_name(scratch_.write("step0/rank0/stack.json", "{" + json + "}"));
    REQUIRE(file);
    WorkerPool pool(1);
    const CancelToken cancel;
    auto loaded = load_graph({*file}, {}, {pool, cancel});
    REQUIRE(loaded);
    graph_ = std::move(loaded->graph);
    lines_ = CodeLines(graph_);
  }

  [[nodiscard]] const CodeLines& lines() const { return lines_; }
  [[nodiscard]] uint64_t key(uint32_t call) const { return lines_.key_of(OpId(call)); }
  [[nodiscard]] std::string changed(uint32_t call, const Script& other) const {
    const SourceFrame* const line = lines_.changed_line(OpId(call), other.lines_);
    return line == nullptr ? "" : std::string(line->code);
  }

 private:
  test::ScratchDir scratch_;
  OpGraph graph_;
  CodeLines lines_;
};

TEST_CASE("calls of one line have one key, whatever its number, its blanks and its comment are") {
  const Script here({{"y = f(x)", "main()"}, {"z = f(y)", "main()"}}),
      there({{"z = f( y )  # late", "main()"}, {"y = f(x)", "main()"}}, 100);
  CHECK(here.key(0) == there.key(1));
  CHECK(here.key(1) == there.key(0));
  CHECK(here.key(0) != here.key(1));
}

TEST_CASE("lines of callers tell calls apart, those of the library and of the start do not") {
  const Script here({{"y = f(x)", "a = block(x)", "main()"}, {"y = f(x)", "b = block(a)", "main()"}}),
      there({{"y = f(x)", "lib: return self.call()", "a = block(x)", "run('main')"}, {"z", "run('main')"}});
  CHECK(here.key(0) != here.key(1));
  CHECK(here.key(0) == there.key(0));
}

TEST_CASE("a line that all calls have tells nothing") {
  const Script here({{"y = f(x)"}, {"y = f(x)"}});
  CHECK(here.key(0) == 0);
}

TEST_CASE("the changed line is the innermost that the other script lacks") {
  const Script here({{"y = f(x)", "x = last(last(x))", "main(1)"}, {"y = f(x)", "x = first(x)", "main(1)"}}),
      there({{"y = f(x)", "x = last(x)", "main()"}, {"y = f(x)", "x = first(x)", "main()"}});
  CHECK(here.changed(0, there) == "x = last(last(x))");
  CHECK(there.changed(0, here) == "x = last(x)");
  CHECK(here.changed(1, there).empty());
  CHECK(here.changed(0, Script({})).empty());
}

}  // namespace
}  // namespace msdump
