#include "ir/model/intern_pool.h"

#include <cstring>
#include <random>

namespace msdump {
namespace {

uint64_t load64(const char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

uint64_t load32(const char* bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

__extension__ using Wide = unsigned __int128;

uint64_t mix(uint64_t a, uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t random_word() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// Arbitrary odd numbers without a pattern.
constexpr uint64_t kFirst = 0x8f3a5d27c16be94d, kSecond = 0xd1b54a32d192ed03;

// At most sixteen bytes as two words that differ when the bytes do.
std::pair<uint64_t, uint64_t> two_words(const char* bytes, size_t size) {
  if (size >= 8) return {load64(bytes), load64(bytes + size - 8)};
  if (size >= 4) return {load32(bytes), load32(bytes + size - 4)};
  if (size == 0) return {0, 0};
  const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(bytes[i])}; };
  return {byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1), 0};
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes) {
  static const uint64_t seed = random_word();
  const char* at = bytes.data();
  size_t left = bytes.size();
  uint64_t state = seed ^ mix(bytes.size() + kFirst, kSecond);
  for (; left > 16; at += 16, left -= 16) state = mix(load64(at) ^ kFirst, load64(at + 8) ^ state);
  const auto [low, high] = two_words(at, left);
  return mix(mix(low ^ kSecond, high ^ state), kFirst ^ state);
}

List InternPool::intern(std::span<const uint32_t> numbers) {
  if (numbers.empty()) return List::kEmpty;
  return List{find_or_add({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()})};
}

std::span<const uint32_t> InternPool::view(List list) const {
  if (list == List::kEmpty) return {};
  const auto handle = static_cast<uint32_t>(list);
  const uint32_t* words = chunks_[handle / kChunkWords] + handle % kChunkWords;
  return {words + 1, words[0] / sizeof(uint32_t)};
}

std::string_view InternPool::at(uint32_t handle) const {
  if (handle == 0) return {};
  const uint32_t* words = chunks_[handle / kChunkWords] + handle % kChunkWords;
  return {reinterpret_cast<const char*>(words + 1), words[0]};
}

uint32_t InternPool::find_or_add(std::string_view text) {
  if (text.empty()) return 0;
  if (!slots_) slots_.emplace();
  const uint64_t hash = hash_bytes(text);
  const uint32_t known = slots_->find(hash, [&](uint32_t handle) { return at(handle) == text; });
  if (known != HashSlots::kNone) return known;
  const uint32_t handle = add(text);
  if (handle != 0) slots_->find_or_add(hash, handle, [](uint32_t) { return false; });
  return handle;
}

uint32_t InternPool::add(std::string_view text) {
  if (text.empty()) return 0;
  const uint64_t words = 1 + (uint64_t{text.size()} + 3) / 4;
  if (words > free_words_) {
    // Handle 0 is the empty text, so the first word of the first chunk stays unused.
    const uint64_t wanted = (words + kChunkWords) / kChunkWords;
    if (text.size() > UINT32_MAX || (chunks_.size() + wanted) * kChunkWords > UINT32_MAX) {
      full_ = true;
      return 0;
    }
    owned_.push_back(std::make_unique_for_overwrite<uint32_t[]>(wanted * kChunkWords));
    for (uint64_t i = 0; i < wanted; ++i) chunks_.push_back(owned_.back().get() + i * kChunkWords);
    free_words_ = static_cast<uint32_t>(wanted * kChunkWords - 1);
    chunk_bytes_ += wanted * kChunkWords * sizeof(uint32_t);
  }
  const auto handle = static_cast<uint32_t>(chunks_.size() * kChunkWords - free_words_);
  uint32_t* const place = chunks_[handle / kChunkWords] + handle % kChunkWords;
  place[0] = static_cast<uint32_t>(text.size());
  place[words - 1] = 0;
  std::memcpy(place + 1, text.data(), text.size());
  free_words_ -= static_cast<uint32_t>(words);
  return handle;
}

}  // namespace msdump
