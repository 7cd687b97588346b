#include "graph/join/original_shapes.h"

#include <fmt/format.h>

#include "support/catch.h"
#include "support/ge_builder.h"
#include "support/graph_run.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

// One tensor in NC1HWC0 as MindSpore names it, and a graph beside it.
std::vector<OriginalShape> shapes_by(const test::GeNet& net, std::string_view tensor = "output.0") {
  const test::ScratchDir scratch;
  scratch.write(fmt::format("Conv2D.conv.1.0.1700000000000001.{}.NC1HWC0.npy", tensor),
                test::npy_of("<i1", Shape{1, 2, 1, 2, 2}, std::string(8, '\1')));
  scratch.write("ge_proto_00000001_graph_0_Build.txt", test::ge_proto_text({net}));
  const test::JoinedDump dump = test::join_dump(scratch.path());
  OriginalShapes shapes;
  shapes.add_graph(dump.dump.tensors(), dump.graph(), dump.join());
  return shapes.of(dump.dump.tensors().front().file, 0);
}

using Dims = std::vector<int64_t>;

test::GeDesc desc(const Dims& device, const std::optional<Dims>& host, const char* origin) {
  test::GeDesc desc;
  desc.shape = device;
  desc.layout = "NC1HWC0";
  desc.origin_format = origin;
  desc.origin_shape = host;
  return desc;
}

test::GeOp conv(const char* name, const test::GeDesc& in, const test::GeDesc& out) {
  return {name, "Conv2D", {}, {}, {in}, {out}, {}, {}};
}

const Dims kDevice = {1, 2, 1, 2, 2};

}  // namespace

TEST_CASE("a graph of GE gives the original shape, its order and the device shape of an input or output") {
  const test::GeNet net{
      "g", {conv("conv", desc(kDevice, Dims{1, 4, 1, 2}, "NCHW"), desc(kDevice, Dims{1, 1, 2, 3}, "NHWC"))}};
  const OriginalShape output{{1, 1, 2, 3}, Shape{1, 2, 1, 2, 2}, Format::kNHWC, "the graph of GE"};
  CHECK(shapes_by(net) == std::vector{output});
  const OriginalShape input{{1, 4, 1, 2}, Shape{1, 2, 1, 2, 2}, Format::kNCHW, "the graph of GE"};
  CHECK(shapes_by(net, "input.0") == std::vector{input});
  CHECK(shapes_by(net, "output.1").empty());
  CHECK(shapes_by(net, "input.weight").empty());
}

TEST_CASE("a graph without an original shape, or with unknown dimensions, says nothing") {
  CHECK(shapes_by({"g", {conv("conv", desc(kDevice, {}, "NCHW"), desc(kDevice, {}, "NCHW"))}}).empty());
  CHECK(shapes_by({"g", {conv("conv", desc(kDevice, {}, "NCHW"), desc(kDevice, Dims{1, -1, 1, 2}, "NCHW"))}}).empty());
}

TEST_CASE("an operator of another name gives no shape") {
  CHECK(shapes_by({"g", {conv("other", desc(kDevice, {}, "NCHW"), desc(kDevice, Dims{1, 3, 1, 2}, "NCHW"))}}).empty());
}

TEST_CASE("of two operators that may be meant the shape counts if both have it") {
  const auto net = [](int64_t channels) {
    return test::GeNet{"g",
                       {conv("a/conv", desc(kDevice, {}, "NCHW"), desc(kDevice, Dims{1, 3, 1, 2}, "NCHW")),
                        conv("b/conv", desc(kDevice, {}, "NCHW"), desc(kDevice, Dims{1, channels, 1, 2}, "NCHW"))}};
  };
  REQUIRE(shapes_by(net(3)).size() == 1);
  CHECK(shapes_by(net(3)).front().shape == Shape{1, 3, 1, 2});
  CHECK(shapes_by(net(4)).empty());
}

}  // namespace msdump
