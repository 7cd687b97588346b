#include "small_dump.h"

namespace msdump::check {

std::string floats(const std::vector<float>& elements) { return npy_of("<f4", elements); }
std::string halves(const std::vector<uint16_t>& codes) { return npy_of("<f2", codes); }

std::string tensor_path(std::string_view op, int64_t time, std::string_view io_slot, int64_t step, int64_t rank) {
  const size_t slash = op.rfind('/');
  const std::string_view leaf = slash == std::string_view::npos ? op : op.substr(slash + 1);
  const std::string_view type = leaf.substr(0, leaf.find("-op"));
  std::string name(op);
  for (char& c : name) c = c == '/' ? '_' : c;
  return fmt::format("rank_{}/Net/0/{}/{}.{}.0.0.{}.{}.DefaultFormat.npy", rank, step, type, name,
                     1700000000000000 + time, io_slot);
}

}  // namespace msdump::check
