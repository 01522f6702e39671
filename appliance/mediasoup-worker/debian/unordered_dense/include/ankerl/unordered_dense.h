// Replaces ankerl::unordered_dense, which Debian 12 does not package, with the standard containers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace ankerl::unordered_dense {
// Mixes all bits (the finalizer of SplitMix64): the worker uses combined hashes as identities of
// transport tuples.
template <typename T>
struct hash {
  size_t operator()(const T &value) const noexcept {
    uint64_t mixed = static_cast<uint64_t>(std::hash<T>{}(value)) + 0x9e3779b97f4a7c15ull;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
    return static_cast<size_t>(mixed ^ (mixed >> 31));
  }
};

template <typename K, typename V, typename H = hash<K>, typename E = std::equal_to<K>>
using map = std::unordered_map<K, V, H, E>;

template <typename K, typename H = hash<K>, typename E = std::equal_to<K>>
using set = std::unordered_set<K, H, E>;
}  // namespace ankerl::unordered_dense
