// Conversions of stream time, in which the pictures and the sound of a source are timed. It is
// counted in ticks of a 90 kHz clock, so a tick lasts 100/9 µs. It continues when a source
// reconnects, and is comparable within one epoch, which is one run of the media service.

export const ticksToUs = (ticks: number) => (ticks * 100) / 9

export const usToTicks = (us: number) => (us * 9) / 100

/** Rounds to full nanoseconds, as GStreamer requires. */
export const ticksToNs = (ticks: number) => Math.round((ticks * 100_000) / 9)
