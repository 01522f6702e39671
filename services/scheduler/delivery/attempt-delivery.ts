import type { ClaimedDelivery, DeliveryResult } from '@eyrie/contract/management/delivery-queue'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import type { ManagementClient } from '../management-client/management-client.ts'
import { type Attempt, type DeliverySettings, type Outcome, quote } from '../senders/sender.ts'
import type { Senders } from '../senders/senders.ts'

const RETRY_BACKOFF = { initialMs: 5_000, maxMs: 600_000 }

export interface AttemptOptions {
  senders: Senders
  management: Pick<ManagementClient, 'readPicture' | 'readReport'>
  /** Time limit of the attempt. */
  timeoutMs: number
  log: Log
}

/** Tries once to send the message of a delivery. Never rejects: an error is a failed attempt. */
export async function attemptDelivery(
  delivery: ClaimedDelivery,
  settings: DeliverySettings,
  { senders, management, timeoutMs, log }: AttemptOptions,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(timeoutMs)
  const { type, delivery_id, picture, request } = delivery
  const { report } = request

  /** The message is sent without its picture if the picture cannot be read soon. */
  async function readPicture(): Promise<Buffer | undefined> {
    if (picture === null) return undefined
    try {
      return await management.readPicture(picture, AbortSignal.timeout(timeoutMs / 2))
    } catch (error) {
      log.warn({ err: error, delivery_id }, 'failed to read picture; sending message without it')
      return undefined
    }
  }

  const attempt: Attempt = {
    delivery,
    settings,
    signal,
    readPicture,
    readReport: async () => report && management.readReport(report.report_id, signal),
  }

  try {
    return await senders[type](attempt)
  } catch (error) {
    const reason = signal.aborted
      ? `no answer within ${timeoutMs / 1000} s`
      : describeError(error as Error | AggregateError)
    return { state: 'failed', reason, isTargetDown: true }
  }
}

/**
 * Returns the reason of an error. If a host has several addresses and none accepts a connection,
 * `errors` contains the reasons.
 */
function describeError(error: Error | AggregateError): string {
  if (error.message || !('errors' in error)) return error.message
  return error.errors.map((cause: Error) => cause.message).join('; ')
}

/**
 * Returns the result of an attempt for management. `random` returns a number from 0 to 1, for the
 * delay of the next attempt.
 */
export function toResult(
  { delivery_id, attempt, is_test }: ClaimedDelivery,
  outcome: Outcome,
  random?: () => number,
): DeliveryResult {
  // Management rejects longer texts.
  const reason = quote(outcome.reason)
  const result = { delivery_id, attempt, reason }

  if (outcome.state === 'failed') {
    // A user waits for the result of a test, so it is not repeated.
    if (is_test) return { ...result, state: 'dead' }
    const delayMs = backoffDelayMs(attempt - 1, RETRY_BACKOFF, random)
    return { ...result, state: 'failed', retry_ms: Math.max(outcome.retryAfterMs ?? 0, delayMs) }
  }

  const isReceiverGone = outcome.state === 'dead' && outcome.isReceiverGone
  return { ...result, state: outcome.state, ...(isReceiverGone && { is_receiver_gone: true }) }
}
