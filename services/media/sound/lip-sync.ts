/** Brings sound to the pictures that were taken with it. */
export interface LipSync {
  /** What has this stream time has come from this element, which takes it out of RTP. */
  heard(depayloader: string, pts: number): void
  /** By how much what is heard is to be moved, in 90 kHz ticks. May change at any time. */
  shift(): number
}
