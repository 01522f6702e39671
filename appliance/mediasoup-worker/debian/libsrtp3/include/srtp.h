// The part of the libsrtp 3 API that the mediasoup worker uses, implemented with Debian's
// libsrtp 2.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <srtp2/srtp.h>
#include <vector>

// Status codes that libsrtp 2 does not define, and therefore never returns.
static constexpr auto srtp_err_status_buffer_small = static_cast<srtp_err_status_t>(28);
static constexpr auto srtp_err_status_cryptex_err = static_cast<srtp_err_status_t>(29);

// In libsrtp 3 the policy is an opaque pointer that owns its key. This wraps the struct of libsrtp
// 2 accordingly.
struct Srtp3Policy {
  srtp_policy_t policy{};
  srtp_profile_t profile{};
  std::vector<unsigned char> key;
};
using Srtp3PolicyPointer = Srtp3Policy *;
#define srtp_policy_t Srtp3PolicyPointer

inline srtp_err_status_t srtp_policy_create(srtp_policy_t *policy) {
  *policy = new Srtp3Policy();
  return srtp_err_status_ok;
}

inline void srtp_policy_destroy(srtp_policy_t policy) { delete policy; }

inline srtp_err_status_t srtp_policy_set_ssrc(srtp_policy_t policy, srtp_ssrc_t ssrc) {
  policy->policy.ssrc = ssrc;
  return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_profile(srtp_policy_t policy, srtp_profile_t profile) {
  policy->profile = profile;
  const auto status = srtp_crypto_policy_set_from_profile_for_rtp(&policy->policy.rtp, profile);
  if (status != srtp_err_status_ok) return status;
  return srtp_crypto_policy_set_from_profile_for_rtcp(&policy->policy.rtcp, profile);
}

inline srtp_err_status_t srtp_policy_add_key(srtp_policy_t policy, const uint8_t *key,
                                             size_t key_length, const uint8_t *salt,
                                             size_t salt_length, const uint8_t *, size_t) {
  policy->key.assign(key, key + key_length);
  policy->key.insert(policy->key.end(), salt, salt + salt_length);
  policy->policy.key = policy->key.data();
  return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_allow_repeat_tx(srtp_policy_t policy, bool allow) {
  policy->policy.allow_repeat_tx = allow ? 1 : 0;
  return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_policy_set_window_size(srtp_policy_t policy, size_t size) {
  policy->policy.window_size = size;
  return srtp_err_status_ok;
}

inline srtp_err_status_t srtp_create(srtp_t *session, srtp_policy_t policy) {
  return ::srtp_create(session, const_cast<const decltype(policy->policy) *>(&policy->policy));
}

inline srtp_err_status_t srtp_stream_remove(srtp_t session, uint32_t ssrc) {
  return ::srtp_remove_stream(session, ssrc);
}

namespace srtp2 {
using InPlace = srtp_err_status_t (*)(srtp_t, void *, int *);

// libsrtp 2 works in place, libsrtp 3 copies to an output buffer. `trailer` is the maximum growth
// in bytes.
inline srtp_err_status_t apply(InPlace function, srtp_t session, const uint8_t *in,
                               size_t in_length, uint8_t *out, size_t *out_length, size_t trailer) {
  if (*out_length < in_length + trailer) return srtp_err_status_buffer_small;
  if (in != out) std::memmove(out, in, in_length);
  int length = static_cast<int>(in_length);
  const auto status = function(session, out, &length);
  if (status == srtp_err_status_ok) *out_length = static_cast<size_t>(length);
  return status;
}
}  // namespace srtp2

inline srtp_err_status_t srtp_protect(srtp_t session, const uint8_t *in, size_t in_length,
                                      uint8_t *out, size_t *out_length, size_t) {
  return srtp2::apply(static_cast<srtp2::InPlace>(&::srtp_protect), session, in, in_length, out,
                      out_length, SRTP_MAX_TRAILER_LEN);
}

inline srtp_err_status_t srtp_protect_rtcp(srtp_t session, const uint8_t *in, size_t in_length,
                                           uint8_t *out, size_t *out_length, size_t) {
  // SRTCP adds an index of four bytes.
  return srtp2::apply(static_cast<srtp2::InPlace>(&::srtp_protect_rtcp), session, in, in_length,
                      out, out_length, SRTP_MAX_TRAILER_LEN + 4);
}

inline srtp_err_status_t srtp_unprotect(srtp_t session, const uint8_t *in, size_t in_length,
                                        uint8_t *out, size_t *out_length) {
  return srtp2::apply(static_cast<srtp2::InPlace>(&::srtp_unprotect), session, in, in_length, out,
                      out_length, 0);
}

inline srtp_err_status_t srtp_unprotect_rtcp(srtp_t session, const uint8_t *in, size_t in_length,
                                             uint8_t *out, size_t *out_length) {
  return srtp2::apply(static_cast<srtp2::InPlace>(&::srtp_unprotect_rtcp), session, in, in_length,
                      out, out_length, 0);
}
