// msdump info: what a file or a tree is.
#include <string>

#include <CLI/CLI.hpp>

#include "frame/subcommand.h"
#include "frame/usage.h"
#include "info/info_run.h"
#include "io/dir_walk.h"
#include "tensor/shape.h"

namespace msdump::cli {
namespace {

const CommandInfo& info_info() {
  static const CommandInfo info{
      .name = "info",
      .order = 25,
      .summary = "what a file or a dump tree is, and what is odd about it",
      .usage = "PATH... [--values [SLICE] [--io IO] [--slot N]] [OPTIONS]",
      .description =
          "Says what each PATH is. For a dump tree: who wrote it, its ranks, graphs, steps, dtypes and kinds of "
          "files, quickly, from names and sizes alone. For a file: its kind, and what its header says. PATH may be "
          "any file in or beside a dump; one that msdump does not read is named, with what reads it. In a tree, files "
          "of tensors are counted; msdump ls lists the tensors in them.",
      .examples = {{"msdump info dump", "a tree: what is there, and is it complete?"},
                   {"msdump info dump/rank_0/Net/0/0/*.npy --jsonl", "many files, one object a line for scripts"},
                   {"msdump info x.npy --values", "the elements too"},
                   {"msdump info x.npy --values 0,:,2:5", "a part of them, as numpy indexes it"},
                   {"msdump info Conv2D.conv.1.2.1700000000000000 --values --io output --slot 0",
                    "one tensor of a dump file, in host format (NCHW)"}},
      .done = "done, even if something in a tree is odd",
      .no = ""};
  return info;
}

class Info : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return info_info(); }

  void declare(CLI::App& app) override {
    add_dump_options(app, request_.dump);
    app.add_option_function<std::string>(
           "--values", [this](const std::string& typed) { take_values(typed); },
           "Print the elements too, in host format; SLICE chooses a part as numpy does: 0,:,2:5  ...,-1  ::2")
        ->expected(0, 1)
        ->type_name("[SLICE]")
        ->group(kOutputGroup);
    add_tensor_options(app, request_.selection);
    add_report_options(app, request_.form);
  }

  ExitCode run(Session& session) override {
    take_back_path();
    const bool chosen = !request_.selection.io.empty() || !request_.selection.slot.empty();
    if (chosen && !request_.values) throw UsageError("--io and --slot choose whose --values are printed");
    return run_info(session, request_);
  }

 private:
  void take_values(const std::string& typed) {
    request_.values = true;
    typed_ = typed;
  }

  // `--values FILE`: what follows and is not an index was a path.
  void take_back_path() {
    if (typed_.empty()) return;
    const bool alone = request_.dump.options.empty() && request_.dump.positionals.empty();
    const bool index = looks_like_index(typed_) && !(alone && path_kind(typed_) != PathKind::kMissing);
    if (index) {
      request_.slice = typed_;
    } else if (!alone && path_kind(typed_) == PathKind::kMissing) {
      throw UsageError("--values: '" + typed_ + "' is neither an index nor a path",
                       "write an index as in numpy: 0,:,2:5  ...,-1  ::2");
    } else {
      request_.dump.positionals.insert(request_.dump.positionals.begin(), typed_);
    }
  }

  InfoRequest request_;
  std::string typed_;  // after --values
};

const Registration kInfoCommand{[] { return std::make_unique<Info>(); }};

}  // namespace
}  // namespace msdump::cli
