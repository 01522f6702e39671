/** Unit of stream time (`pts`): a clock of 90 kHz, as in MPEG-TS and RTP video. */
export const TICKS_PER_SECOND = 90_000
