#include "next/case_folder.h"

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

TEST_CASE("a case is read as it was written, and a damaged one is an error") {
  const test::ScratchDir scratch;
  CaseFolder written;
  written.path = scratch.path();
  written.settings = {ConfigKind::kDataDump, "2.7.1", true, "LeNet", {"/a/ir"}};
  written.rounds = {{"/a/bad", "/a/ref", DumpExtent::kAll}, {"/c/round-2/candidate", "", DumpExtent::kRange}};
  CHECK_FALSE(CaseFolder::is_one(scratch.path()));
  REQUIRE(written.write());
  CHECK(CaseFolder::is_one(scratch.path()));
  const auto read = CaseFolder::read(scratch.path());
  REQUIRE(read);
  CHECK(read->settings.kind == ConfigKind::kDataDump);
  CHECK(read->settings.framework_version == "2.7.1");
  CHECK(read->settings.asynchronous);
  CHECK(read->settings.net_name == "LeNet");
  CHECK(read->settings.ir == std::vector<std::string>{"/a/ir"});
  REQUIRE(read->rounds.size() == 2);
  CHECK(read->rounds[0].candidate == "/a/bad");
  CHECK(read->rounds[0].reference == "/a/ref");
  CHECK(read->rounds[1].candidate == "/c/round-2/candidate");
  CHECK(read->rounds[1].reference.empty());
  CHECK(read->rounds[0].extent == DumpExtent::kAll);
  CHECK(read->rounds[1].extent == DumpExtent::kRange);
  CHECK(read->folder_of(2) == scratch.path().string() + "/round-2");

  CaseFolder many = written;
  many.rounds.resize(kMostRounds + 1, many.rounds.front());
  REQUIRE(many.write());
  CHECK_FALSE(CaseFolder::read(scratch.path()));
  many.rounds.resize(kMostRounds);
  REQUIRE(many.write());
  CHECK(CaseFolder::read(scratch.path()));
}

TEST_CASE("a case keeps the kind of its configurations and what each dump was asked for") {
  const test::ScratchDir scratch;
  CaseFolder written;
  written.path = scratch.path();
  for (const ConfigKind kind : {ConfigKind::kUnknown, ConfigKind::kDataDump, ConfigKind::kMsprobe, ConfigKind::kAcl}) {
    for (const DumpExtent extent : {DumpExtent::kAll, DumpExtent::kRange, DumpExtent::kList}) {
      written.settings.kind = kind;
      written.rounds = {{"/a", "/b", extent}};
      REQUIRE(written.write());
      const auto read = CaseFolder::read(scratch.path());
      REQUIRE(read);
      CHECK(read->settings.kind == kind);
      CHECK(read->settings.framework_version.empty());
      CHECK(read->rounds.front().extent == extent);
      CHECK(read->path == scratch.path());
    }
  }
}

TEST_CASE("a case without settings has those of the files") {
  const test::ScratchDir scratch;
  scratch.write("case.json",
                R"({"format": 1, "rounds": [{"candidate": "/a"}], "settings": {"ir": 3, "kind": "other"}})");
  const auto read = CaseFolder::read(scratch.path());
  REQUIRE(read);
  CHECK(read->settings.kind == ConfigKind::kUnknown);
  CHECK(read->settings.ir.empty());
  CHECK(read->settings.net_name == "Net");
  CHECK_FALSE(read->settings.asynchronous);
  CHECK(read->rounds.front().extent == DumpExtent::kAll);
}

TEST_CASE("a case that cannot be read is an error with its path") {
  const test::ScratchDir scratch;
  for (const char* const text : {R"({"format": 2, "rounds": [{"candidate": "/a"}]})",
                                 R"({"rounds": [{"candidate": "/a"}]})", R"({"format": 1, "rounds": []})",
                                 R"({"format": 1})", R"({"format": 1, "rounds": [{"reference": "/a"}]})", "[]", "{"}) {
    INFO(text);
    scratch.write("case.json", text);
    const auto read = CaseFolder::read(scratch.path());
    REQUIRE_FALSE(read);
    CHECK(read.error().path == scratch.path().string() + "/case.json");
  }
  const std::string good = R"({"format": 1, "rounds": [{"candidate": "/a"}]})";
  scratch.write("case.json", good + std::string((1 << 20) - good.size(), ' '));
  CHECK(CaseFolder::read(scratch.path()));
  scratch.write("case.json", good + std::string((1 << 20) - good.size() + 1, ' '));
  CHECK_FALSE(CaseFolder::read(scratch.path()));
}

TEST_CASE("an absolute path has no dots and no slash at its end") {
  CHECK(absolute_path("/a/./b/../c//") == "/a/c");
  CHECK(absolute_path("/") == "/");
  CHECK(absolute_path("x").starts_with('/'));
}

}  // namespace
}  // namespace msdump
