#include "frame/command_line.h"

#include "frame/usage.h"
#include "support/catch.h"

namespace msdump::cli {
namespace {

const CommandInfo kInfo{
    .name = "probe", .summary = "", .usage = "", .description = "", .examples = {}, .done = {}, .no = {}};

class Probe : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return kInfo; }
  void declare(OptionTable& options) override {
    options.add({{.names = "-d,--dump", .value = OptionValue::texts(dump_, "PATH"), .group = kInputGroup},
                 {.names = "--out,--output", .value = OptionValue::text(out_, "PATH"), .group = kOutputGroup},
                 {.names = "-f,--format", .value = OptionValue::text(format_, "WORD"), .group = kOutputGroup},
                 {.names = "--values",
                  .value = OptionValue::optional_text([this](const std::string& typed) { values_ = typed; }, "[SLICE]"),
                  .group = kOutputGroup},
                 {.names = "-q,--quiet", .value = OptionValue::flag(quiet_), .group = kGeneralGroup},
                 {.names = "-v,--verbose", .value = OptionValue::count(verbose_), .group = kGeneralGroup},
                 arguments_option("REST", rest_, "the rest")});
    options.add(text_options());
  }
  ExitCode run(Session&) override { return ExitCode::kOk; }

  std::vector<std::string> dump_, rest_;
  std::string out_, format_, values_ = "unset";
  bool quiet_ = false;
  int verbose_ = 0;
};

struct Fixture {
  Fixture() { probe.declare(options); }
  Prepared prepare(const std::vector<std::string>& arguments) {
    return prepare_arguments(arguments, OptionNames(options), probe);
  }
  std::vector<std::string> widen(const std::vector<std::string>& arguments) { return prepare(arguments).arguments; }
  // Through CLI11 too.
  void parse(const std::vector<std::string>& arguments) { parse_options(options, "probe", widen(arguments)); }
  Probe probe;
  OptionTable options;
};

using Words = std::vector<std::string>;

TEST_CASE("a single-dash long name gets its second dash") {
  Fixture f;
  CHECK(f.widen({"-out", "y"}) == Words{"--out", "y"});
  CHECK(f.widen({"-out=y"}) == Words{"--out=y"});
  CHECK(f.widen({"-dump", "x", "-output=a=b"}) == Words{"--dump", "x", "--output=a=b"});
  CHECK(f.widen({"--out", "y"}) == Words{"--out", "y"});
}

TEST_CASE("the value of the option before it is left alone") {
  Fixture f;
  CHECK(f.widen({"-d", "-out", "-out", "y"}) == Words{"-d", "-out", "--out", "y"});
  CHECK(f.widen({"--dump", "-quiet"}) == Words{"--dump", "-quiet"});
  CHECK(f.widen({"-qd", "-out"}) == Words{"-qd", "-out"});
  CHECK(f.widen({"--dump=x", "-out", "y"}) == Words{"--dump=x", "--out", "y"});
  CHECK(f.widen({"-quiet", "-out", "y"}) == Words{"--quiet", "--out", "y"});
}

TEST_CASE("nothing is widened after a bare --, and only exact names are") {
  Fixture f;
  CHECK(f.widen({"--", "-out", "y"}) == Words{"--", "-out", "y"});
  CHECK(f.widen({"-outy"}) == Words{"-outy"});
  CHECK(f.widen({"-vv", "-q", "-"}) == Words{"-vv", "-q", "-"});
  CHECK(f.widen({"-", "-3"}) == Words{"-", "-3"});
}

TEST_CASE("the spellings agree once CLI11 has parsed them") {
  for (const Words& words :
       {Words{"-out", "y"}, Words{"-out=y"}, Words{"--out", "y"}, Words{"--out=y"}, Words{"-output", "y"}}) {
    Fixture f;
    f.parse(words);
    CHECK(f.probe.out_ == "y");
  }
}

TEST_CASE("an option takes one value a time; brackets and commas are part of it") {
  Fixture f;
  f.parse({"-d", "a", "b", "-d", "[x,y]", "[c,d]", "--", "-e"});
  CHECK(f.probe.dump_ == Words{"a", "[x,y]"});
  CHECK(f.probe.rest_ == Words{"b", "[c,d]", "-e"});
}

TEST_CASE("a value that may be missing leaves options alone") {
  Fixture f;
  CHECK(f.prepare({"--values", "--help"}).help);
  CHECK(f.prepare({"--values", "-h"}).short_help);
  CHECK(f.widen({"--values", "-out", "x"}) == Words{"--values", "--out", "x"});
  f.parse({"--values", "-q"});
  CHECK(f.probe.values_.empty());
  CHECK(f.probe.quiet_);
  f.parse({"--values", "-1,:"});
  CHECK(f.probe.values_ == "-1,:");
  f.parse({"a", "--values=::2", "b"});
  CHECK(f.probe.values_ == "::2");
  CHECK(f.probe.rest_ == Words{"a", "b"});
}

TEST_CASE("help and version are seen among options only") {
  Fixture f;
  CHECK(f.prepare({"-d", "--help"}).help == false);
  CHECK(f.prepare({"--", "--help"}).help == false);
  CHECK(f.prepare({"-d", "x", "--help"}).help);
  CHECK(f.prepare({"--version"}).version);
}

TEST_CASE("the letter -o is refused in every spelling that could mean it") {
  for (const Words& words : {Words{"-o", "x"}, Words{"-o"}, Words{"-o=1"}, Words{"-o0"}}) {
    Fixture f;
    CHECK_THROWS_AS(f.widen(words), UsageError);
  }
  Fixture f;
  CHECK(f.widen({"-d", "-o"}) == Words{"-d", "-o"});
}

TEST_CASE("a misspelt long name is not taken apart into a letter and its value") {
  Fixture f;
  CHECK_THROWS_WITH(f.widen({"-formt", "NCHW"}), "unknown option '-formt'; did you mean '--format'?");
  CHECK(f.widen({"-fNCHW"}) == Words{"-fNCHW"});
}

}  // namespace
}  // namespace msdump::cli
