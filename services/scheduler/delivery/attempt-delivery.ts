import type { ClaimedDelivery, DeliveryResult } from '@eyrie/contract/management/delivery-queue'
import { backoffDelayMs } from '@eyrie/kit'
import type { ManagementClient } from '../management-client/management-client.ts'
import { type DeliverySettings, type Outcome, quote } from '../senders/sender.ts'
import type { Senders } from '../senders/senders.ts'

const RETRY_BACKOFF = { initialMs: 5_000, maxMs: 600_000 }

export interface AttemptOptions {
  senders: Senders
  management: Pick<ManagementClient, 'readPicture' | 'readReport'>
  /** Time limit for an attempt. */
  timeoutMs: number
}

/** Tries to send a message once. Never rejects. */
export async function attemptDelivery(
  delivery: ClaimedDelivery,
  settings: DeliverySettings,
  { senders, management, timeoutMs }: AttemptOptions,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(timeoutMs)
  const { picture } = delivery
  const { report } = delivery.request
  const readPicture = async () => (picture === null ? undefined : management.readPicture(picture, signal))
  const readReport = async () => report && management.readReport(report.report_id, signal)
  try {
    return await senders[delivery.type]({ delivery, settings, signal, readPicture, readReport })
  } catch (error) {
    const reason = signal.aborted ? `no answer within ${timeoutMs / 1000} s` : describe(error as Error)
    return { state: 'failed', reason, isTargetDown: true }
  }
}

/** Errors of connections to several addresses have an empty message, and the reasons in a list. */
function describe({ message, errors }: Error & { errors?: Error[] }): string {
  return message || (errors ?? []).map(error => error.message).join('; ')
}

/** Returns what management stores about an attempt. A test is not repeated: somebody waits for its result. */
export function toResult(
  { delivery_id, attempt, is_test }: ClaimedDelivery,
  outcome: Outcome,
  random?: () => number,
): DeliveryResult {
  const { state } = outcome
  // Management rejects longer texts.
  const reason = quote(outcome.reason)
  if (state !== 'failed') {
    const isReceiverGone = state === 'dead' && outcome.isReceiverGone
    return { delivery_id, attempt, state, reason, ...(isReceiverGone && { is_receiver_gone: true }) }
  }
  if (is_test) return { delivery_id, attempt, state: 'dead', reason }
  const retry_ms = Math.max(outcome.retryAfterMs ?? 0, backoffDelayMs(attempt - 1, RETRY_BACKOFF, random))
  return { delivery_id, attempt, state, reason, retry_ms }
}
