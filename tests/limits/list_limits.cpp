// Lists of paths on standard input: of damaged files, of files that share what lies beside them, and of nothing at all.
#include <fmt/format.h>

#include "limits/inputs.h"
#include "limits/measure.h"
#include "support/catch.h"

namespace msdump::limits {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMiB = int64_t{1} << 20;

std::string npy_name(int64_t i) {
  return fmt::format("Add.Default_net-Net_layer{0}_Add-op{0}.0.0.{1}.output.0.DefaultFormat.npy", i,
                     1'700'000'000'000'000 + i);
}

// A list of files that are cut.
void write_damaged(const fs::path& folder, int64_t files) {
  const std::string bytes = tiny_npy().substr(0, 20);
  for (int64_t i = 0; i < files; ++i) write_text(folder / "d" / npy_name(i), bytes);
  write_pieces(folder / "list", files,
               [&](std::string& text, int64_t i) { text += (folder / "d" / npy_name(i)).string() + "\n"; });
}

}  // namespace

TEST_CASE("damaged files cost what good ones do, also when each was named") {
  check_growth("damaged", 5'000, write_damaged,
               {{{"ls", "@/d"}, kOfFailure, 3},
                {{"ls", "-d", "-"}, kOfFailure, 3, "@/list"},
                {{"stats", "-d", "-"}, kOfFailure, 3, "@/list"},
                {{"stats", "-d", "-", "--json"}, kOfFailure, 3, "@/list"},
                {{"check", "-d", "-"}, kOfFailure, 3, "@/list"},
                {{"convert", "-d", "-", "-out", "@/out"}, kOfFailure, 3, "@/list"},
                {{"diff", "@/d", "@/d"}, kOfFailure, 3}});
}

TEST_CASE("a list on standard input costs what its names are, and ends at a limit") {
  check_growth("a list of nothing", 16 * kMiB,
               [](const fs::path& folder, int64_t bytes) {
                 write_sparse(folder / "nul", "", static_cast<uint64_t>(bytes));
                 write_repeated(folder / "lines", "", "\n", bytes);
                 write_repeated(folder / "names", "", "a\n", bytes / 2);
               },
               {{{"ls", "-d", "-"}, kOfList, 2, "@/nul"},
                {{"ls", "-d", "-"}, kOfList, 2, "@/lines"},
                {{"ls", "-d", "-"}, kOfList, 2, "@/names"},
                {{"info", "-d", "-"}, kOfList, 2, "@/names"},
                {{"check-config", "-"}, kOfList, 2, "@/names"}});
}

TEST_CASE("files that are named one by one share what lies beside them") {
  check_growth(
      "tensors of msprobe", 500,
      [](const fs::path& folder, int64_t files) {
        const fs::path rank = folder / "step0" / "rank0";
        const std::string bytes = tiny_npy();
        const auto name_of = [](int64_t i) { return fmt::format("Functional.relu.{}.forward.output.0.npy", i); };
        for (int64_t i = 0; i < files; ++i) write_text(rank / "dump_tensor_data" / name_of(i), bytes);
        write_pieces(folder / "list", files, [&](std::string& text, int64_t i) {
          text += (rank / "dump_tensor_data" / name_of(i)).string() + "\n";
        });
        write_pieces(rank / "dump.json", files, [&](std::string& text, int64_t i) {
          text +=
              i == 0 ? R"({"task":"tensor","level":"mix","framework":"pytorch","dump_data_dir":null,"data":{)" : ",";
          text += fmt::format(R"("Functional.relu.{}.forward":{{"input_args":[],"input_kwargs":{{}},"output":[{{)"
                              R"("type":"torch.Tensor","dtype":"torch.bfloat16","shape":[4],"data_name":"{}"}}]}})",
                              i, name_of(i));
          if (i + 1 == files) text += "}}";
        });
      },
      {{{"ls", "-d", "-"}, kOfTensor, 0, "@/list"}, {{"check", "-d", "-"}, kOfTensor, 0, "@/list"}});
  check_growth("hashed names", 1'000,
               [](const fs::path& folder, int64_t files) {
                 const std::string bytes = tiny_npy();
                 write_pieces(folder / "mapping.csv", files, [](std::string& text, int64_t i) {
                   text += fmt::format("{:032x},{}\n", i, npy_name(i));
                 });
                 write_pieces(folder / "list", files, [&](std::string& text, int64_t i) {
                   const fs::path path = folder / fmt::format("{:032x}.npy", i);
                   write_text(path, bytes);
                   text += path.string() + "\n";
                 });
               },
               {{{"ls", "-d", "-"}, kOfTensor, 0, "@/list"}});
}

}  // namespace msdump::limits
