#include "io/zip/gzip.h"

#include <algorithm>
#include <limits>

#include <zlib.h>

namespace msdump {

Result<std::string> gzip(std::string_view bytes) {
  // Columns of numbers: higher levels take twice the time for a few percent.
  constexpr int kLevel = 4, kGzipWindow = 15 + 16, kMemory = 8;
  constexpr size_t kMostAtOnce = std::numeric_limits<uInt>::max() / 2;
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(ErrorCode::kTooLarge, "no memory to compress");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  size_t written = 0;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const size_t piece = std::min(bytes.size(), kMostAtOnce);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib does not write to it
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = reinterpret_cast<Bytef*>(packed.data()) + written;
    stream.avail_out = static_cast<uInt>(std::min(packed.size() - written, kMostAtOnce));
    const uInt room = stream.avail_out;
    state = deflate(&stream, piece == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes.remove_prefix(piece - stream.avail_in);
    written += room - stream.avail_out;
    if (state != Z_OK && state != Z_STREAM_END) break;
  }
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return fail(ErrorCode::kTooLarge, "cannot be compressed");
  packed.resize(written);
  return packed;
}

}  // namespace msdump
