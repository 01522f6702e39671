#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>

// The times of one RTP packet, which map running time to the clock of the sender.
struct RtpPacket {
  // RTP timestamp, in ticks of `clockRate` modulo 2³².
  uint32_t timestamp;
  // Running time in 90 kHz ticks.
  int64_t runningTicks;
  // Ticks per second.
  int32_t clockRate;
};

// Records the newest packet that arrives at each depayloader of a bin, also if it is added later.
void recordRtpPackets(GstBin *bin);

// Returns nothing before the first packet, and for an element that is not a depayloader.
std::optional<RtpPacket> newestRtpPacket(GstElement *depayloader);
