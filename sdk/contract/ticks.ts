/** Stream time (`pts`) is counted in ticks of 90 kHz. */
export const TICKS_PER_SECOND = 90_000
