#include <csignal>
#include <functional>
#include <new>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

#include "frame/usage.h"
#include "kernels/cpu.h"
#include "support/catch.h"
#include "support/program/run_program.h"

namespace msdump::cli {
namespace {

// A command that does what the test says.
class Misbehave : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override {
    static const CommandInfo info{.name = "zz-test",
                                  .order = 1000,
                                  .summary = "a command of the tests",
                                  .usage = "",
                                  .description = "For the tests.",
                                  .examples = {},
                                  .done = {},
                                  .no = {}};
    return info;
  }
  void declare(OptionTable&) override {}
  ExitCode run(Session& session) override { return body ? body(session) : ExitCode::kOk; }

  static inline std::function<ExitCode(Session&)> body;
};
const Registration kRegistration{[] { return std::make_unique<Misbehave>(); }};

Outcome misbehave(std::function<ExitCode(Session&)> body, std::vector<std::string> options = {}) {
  Misbehave::body = std::move(body);
  options.insert(options.begin(), "zz-test");
  return run_program(options);
}

TEST_CASE("nothing typed: the first screen on stderr, exit 2; asked for: on stdout, exit 0") {
  const Outcome nothing = run_program({}), asked = run_program({"help"}), option = run_program({"--help"});
  const std::string command_list = asked.out.substr(asked.out.find("\nCommands:\n"));
  CHECK(nothing.code == ExitCode::kUsage);
  CHECK(nothing.out.empty());
  CHECK(nothing.err.ends_with(command_list));
  CHECK(asked.code == ExitCode::kOk);
  CHECK(asked.err.empty());
  CHECK(option.out.starts_with(asked.out));
  CHECK(run_program({"-h"}).out == asked.out);
}

TEST_CASE("help of a command in three spellings") {
  const std::string text = run_program({"convert", "--help"}).out;
  CHECK(text.starts_with("Usage: msdump convert "));
  CHECK(run_program({"convert", "-help"}).out == text);
  const std::string brief = run_program({"convert", "-h"}).out;
  CHECK(brief.starts_with("Usage: msdump convert "));
  CHECK(brief.size() < text.size() / 2);
  CHECK(run_program({"convert", "-h", "--help"}).out == text);
  CHECK(run_program({"help", "convert"}).out == text);
  CHECK(run_program({"convert", "--nonsense", "-f", "NCWH", "--help"}).out == text);
}

TEST_CASE("what CLI11 refuses is exit 2 in our words") {
  using Words = std::vector<std::string>;
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"convret"}, "msdump: error: unknown command 'convret'; did you mean 'convert'?\n"},
      {{"convert", "--ouput", "x"}, "msdump: error: convert: unknown option '--ouput'; did you mean '--output'?\n"},
      {{"convert", "-x"}, "msdump: error: convert: unknown option '-x'\n"},
      {{"convert", "-t", "pdf", "--ouput"},
       "msdump: error: convert: unknown option '--ouput'; did you mean '--output'?\n"},
      {{"convert", "--out"}, "msdump: error: convert: option '--out' needs a value\n"},
      {{"convert", "--out", "a", "-out", "b"}, "msdump: error: convert: option '--out' is given more than once\n"},
      {{"convert", "--json", "--csv"}, "msdump: error: convert: options '--json' and '--csv' exclude each other\n"},
      {{"convert", "-j", "0"}, "msdump: error: convert: --jobs: '0' is not a number from 1 to 1024\n"},
      {{"convert", "-j", "0x10"}, "msdump: error: convert: --jobs: '0x10' is not a number from 1 to 1024\n"},
      {{"help", "a", "b"}, "msdump: error: help: unexpected argument 'b'\n"},
      {{"--json"}, "msdump: error: unknown option '--json' before the command\n"}};
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = run_program(arguments);
    CHECK(outcome.code == ExitCode::kUsage);
    // Whoever asks a command for JSON gets a document.
    const bool json = arguments.size() > 1 && arguments[1] == "--json";
    CHECK(outcome.out.empty() == !json);
    CHECK(outcome.err.substr(0, message.size()) == message);
  }
}

TEST_CASE("an exception nobody expected is exit 70 and says what to report") {
  const Outcome outcome = misbehave([](Session&) -> ExitCode { throw std::logic_error("the sky fell"); }, {"-q"});
  CHECK(outcome.code == ExitCode::kInternal);
  CHECK(outcome.err.starts_with("msdump: error: internal error: the sky fell\n  hint: "));
  CHECK(outcome.err.find("msdump zz-test -q") != std::string::npos);
  CHECK(outcome.err.find(version_number()) != std::string::npos);
  CHECK(misbehave([](Session&) -> ExitCode { throw 1; }).code == ExitCode::kInternal);
}

TEST_CASE("out of memory is not called a bug") {
  const Outcome outcome = misbehave([](Session&) -> ExitCode { throw std::bad_alloc(); });
  CHECK(outcome.code == ExitCode::kInternal);
  CHECK(outcome.err == "msdump: error: out of memory\n  hint: fewer threads (-j) or a selection take less\n");
}

TEST_CASE("a usage error has the colour that the command line asks for, understood or not") {
  const auto err = [](const std::vector<std::string>& arguments) { return run_program(arguments).err; };
  const std::string coloured = "msdump: \x1b[1;31merror:\x1b[0m ";
  CHECK(err({"convert", "--ouput", "--color", "always"}).starts_with(coloured));
  CHECK(err({"convert", "--color=always", "--ouput"}).starts_with(coloured));
  CHECK(err({"convert", "-color=ALWAYS", "--ouput"}).starts_with(coloured));
  CHECK(err({"convert", "--color=always", "--ouput", "--color", "never"}).starts_with("msdump: error: "));
  CHECK(err({"convert", "--ouput", "--", "--color", "always"}).starts_with("msdump: error: "));
}

TEST_CASE("a usage error of a running command names it") {
  const Outcome outcome = misbehave([](Session&) -> ExitCode { throw UsageError("no", "try this"); });
  CHECK(outcome.code == ExitCode::kUsage);
  CHECK(outcome.err == "msdump: error: zz-test: no\n  hint: try this\n");
}

TEST_CASE("an error that ends a command decides its exit code") {
  const auto code = [](ErrorCode error) {
    return misbehave([error](Session& session) { return session.end_with(make_error(error, "x")); }).code;
  };
  CHECK(code(ErrorCode::kNotFound) == ExitCode::kUsage);
  CHECK(code(ErrorCode::kUsage) == ExitCode::kUsage);
  CHECK(code(ErrorCode::kWriteFailed) == ExitCode::kUsage);  // the output cannot be made: nothing was done
  CHECK(code(ErrorCode::kTruncated) == ExitCode::kSomeFailed);
  CHECK(code(ErrorCode::kInternal) == ExitCode::kInternal);
}

TEST_CASE("3 beats 1 beats 0") {
  CHECK(worse(ExitCode::kOk, ExitCode::kNo) == ExitCode::kNo);
  CHECK(worse(ExitCode::kSomeFailed, ExitCode::kNo) == ExitCode::kSomeFailed);
}

TEST_CASE("quiet (-q) keeps errors, drops warnings, notes and the summary") {
  const auto body = [](Session& session) {
    session.messages.error(ErrorCode::kUsage, "e");
    session.messages.warning("w");
    session.messages.note("n");
    session.messages.summary("s");
    return ExitCode::kOk;
  };
  CHECK(misbehave(body).err == "msdump: error: e\nmsdump: warning: w\nmsdump: note: n\nmsdump: s\n");
  CHECK(misbehave(body, {"-q"}).err == "msdump: error: e\n");
  CHECK(misbehave(body, {"-q", "--color", "always"}).err == "msdump: \x1b[1;31merror:\x1b[0m e\n");
}

TEST_CASE("verbose (-v) says what runs and how long it took, without it nothing") {
  const auto nothing = [](Session&) { return ExitCode::kOk; };
  CHECK(misbehave(nothing).err.empty());
  const std::string text = misbehave(nothing, {"-v"}).err;
  CHECK(text.starts_with("msdump: ["));
  CHECK(text.find("zz-test, kernels for " + kernels::cpu_target()) != std::string::npos);
  CHECK(text.find("finished in ") != std::string::npos);
}

TEST_CASE("results to a full disk are exit 3, results to a reader that has gone exit 0") {
  Misbehave::body = [](Session& session) {
    (void)session.out.write("result\n");
    return ExitCode::kNo;
  };
  const MemoryFile err;
  const int full = ::open("/dev/full", O_WRONLY);
  CHECK(run({"zz-test"}, {full, err.fd()}) == ExitCode::kSomeFailed);
  ::close(full);
  CHECK(err.text() == "msdump: error: standard output: cannot write the results: No space left on device\n");

  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  const MemoryFile quiet;
  CHECK(run({"zz-test"}, {ends[1], quiet.fd()}) == ExitCode::kOk);
  ::close(ends[1]);
  CHECK(quiet.text().empty());
}

TEST_CASE("the version (--version) says what a bug report needs") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--version"}, {"-V"}, {"convert", "--version"}, {"convert", "-V"}}) {
    const Outcome outcome = run_program(arguments);
    CHECK(outcome.code == ExitCode::kOk);
    CHECK(outcome.out.starts_with("msdump " + std::string(version_number()) + " (git "));
    CHECK(outcome.out.find(kernels::cpu_target()) != std::string::npos);
    CHECK(outcome.out.find("CLI11 ") != std::string::npos);
  }
}

TEST_CASE("the completion scripts hold every command and option value") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run_program({"completion", shell});
    CHECK(outcome.code == ExitCode::kOk);
    CHECK(outcome.out.find("convert") != std::string::npos);
    CHECK(outcome.out.find("npy bin msnpy") != std::string::npos);
  }
  CHECK(run_program({"completion", "bsh"})
            .err.starts_with("msdump: error: completion: unknown shell 'bsh'; did you mean 'bash'?"));
}

}  // namespace
}  // namespace msdump::cli
