/** Seconds are divided into this many ticks of stream time. */
export const TICKS_PER_SECOND = 90_000
