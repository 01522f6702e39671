import type { ClaimedBatch, ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'

/**
 * The result of one attempt to send a message. `reason` is what the receiver answered, or
 * why the attempt failed.
 */
export type Outcome =
  /** Accepted by a server that passes it on (`sent`), or by the receiver itself (`delivered`). */
  | { state: 'sent' | 'delivered'; reason: string }
  /** Another attempt may succeed. */
  | {
      state: 'failed'
      reason: string
      /** Whether other messages to the same target would fail too. */
      isTargetDown: boolean
      /** How long the receiver asks to wait. */
      retryAfterMs?: number
    }
  /** No other attempt can succeed. */
  | {
      state: 'dead'
      reason: string
      /** The receiver no longer exists: nothing else is sent to it. */
      isReceiverGone?: true
    }

/** Settings of the servers that pass messages on, with their secrets. */
export type DeliverySettings = Pick<ClaimedBatch, 'smtp' | 'sms' | 'vapid_key'>

/** What a sender needs for one attempt. */
export interface Attempt {
  delivery: ClaimedDelivery
  settings: DeliverySettings
  /** Aborts the attempt when its time is over. */
  signal: AbortSignal
  /** Returns the picture of the notification, a JPEG, if there is one. */
  readPicture(): Promise<Buffer | undefined>
  /** Returns the file of the scheduled report that the message contains, unless it was deleted. */
  readReport(): Promise<Buffer | undefined>
}

/**
 * Sends messages of one type. May reject: every error counts as an attempt that failed
 * because the target is down.
 */
export type Sender = (attempt: Attempt) => Promise<Outcome>

/**
 * Returns the outcome for missing or invalid settings. The target counts as down, because
 * every message would fail.
 */
export const createNotConfigured = (reason: string): Outcome => ({
  state: 'failed',
  reason,
  isTargetDown: true,
})

/** Returns text that a receiver has sent in one line, and short enough to be stored. */
export const quote = (text: string): string =>
  text.replace(/\s+/g, ' ').trim().slice(0, 300).toWellFormed()
