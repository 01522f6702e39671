/**
 * Messages arrive some time after their frames. All messages about a moment have probably arrived
 * this long after it.
 */
export const MESSAGE_DELAY_MS = 2000
