#include "next/next_input.h"

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump::cli {
namespace {

UsedConfig used(const std::string& text) {
  const test::ScratchDir scratch;
  const auto config = read_used_config(scratch.write("config.json", text));
  REQUIRE(config);
  return *config;
}

std::string data_dump_used(const std::string& mode, const std::string& sections) {
  return R"({"common_dump_settings":{"dump_mode":)" + mode +
         R"(,"path":"/d","net_name":"LeNet","iteration":"all","input_output":0,"kernels":[],"support_device":[0],)"
         R"("op_debug_mode":0})" +
         sections + "}";
}

TEST_CASE("a data_dump.json was asynchronous unless it enables the other kind, and also without its section") {
  for (const auto& [sections, asynchronous] :
       {std::pair(R"(,"e2e_dump_settings":{"enable":true,"trans_flag":true})", false),
        {R"(,"e2e_dump_settings":{"enable":false,"trans_flag":true})", true},
        {R"(,"e2e_dump_settings":{})", false},
        {"", true},
        {R"(,"async_dump_settings":{"enable":true,"op_debug_mode":0})", true},
        {R"(,"e2e_dump_settings":{"enable":false},"async_dump_settings":{"enable":true})", true},
        {R"(,"e2e_dump_settings":{"enable":true},"async_dump_settings":{"enable":true})", false}}) {
    INFO(sections);
    const UsedConfig config = used(data_dump_used("0", sections));
    CHECK(config.kind == ConfigKind::kDataDump);
    CHECK(config.asynchronous == asynchronous);
    CHECK(config.net_name == "LeNet");
    CHECK(config.extent == DumpExtent::kAll);
  }
  CHECK(used(data_dump_used("1", "")).extent == DumpExtent::kList);
  CHECK(used(data_dump_used("2", "")).extent == DumpExtent::kList);
  const UsedConfig bare = used(R"({"common_dump_settings":{"path":"/d"}})");
  CHECK_FALSE(bare.net_name);
  CHECK(bare.extent == DumpExtent::kAll);
}

TEST_CASE("a config.json of msprobe has all calls, a range or a list, in the block of its task") {
  const std::string range = R"({"scope":["a","b"],"list":[]})", list = R"({"scope":[],"list":["a"]})";
  for (const auto& [text, extent] : {std::pair(R"("task":"tensor","tensor":)" + range, DumpExtent::kRange),
                                     {R"("task":"tensor","tensor":)" + list, DumpExtent::kList},
                                     {R"("task":"tensor","tensor":{"scope":[],"list":[]})", DumpExtent::kAll},
                                     {R"("task":"tensor","tensor":{})", DumpExtent::kAll},
                                     {R"("task":"tensor","statistics":)" + list, DumpExtent::kAll},
                                     {R"("statistics":)" + range, DumpExtent::kRange},
                                     {R"("tensor":)" + range, DumpExtent::kAll}}) {
    INFO(text);
    const UsedConfig config = used(R"({"dump_path":"d","rank":[],"step":[],"level":"L1",)" + text + "}");
    CHECK(config.kind == ConfigKind::kMsprobe);
    CHECK(config.extent == extent);
    CHECK_FALSE(config.asynchronous);
  }
}

TEST_CASE("an acl.json that names models only has all of their operators") {
  for (const auto& [list, extent] :
       {std::pair(R"([])", DumpExtent::kAll),
        {R"([{"model_name":"m"}])", DumpExtent::kAll},
        {R"([{"layer":[]}])", DumpExtent::kAll},
        {R"([{"model_name":"m"},{"layer":["a"]}])", DumpExtent::kList},
        {R"([{"model_name":"m","opname_range":[{"begin":"a","end":"b"}]}])", DumpExtent::kList}}) {
    INFO(list);
    const UsedConfig config = used(R"({"dump":{"dump_path":"d","dump_list":)" + std::string(list) + "}}");
    CHECK(config.kind == ConfigKind::kAcl);
    CHECK(config.extent == extent);
  }
  CHECK(used(R"({"dump":{"dump_path":"d","dump_op_switch":"on"}})").extent == DumpExtent::kAll);
}

}  // namespace
}  // namespace msdump::cli
