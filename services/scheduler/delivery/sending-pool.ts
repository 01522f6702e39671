import type { ClaimedDelivery } from '@eyrie/contract/management/delivery-queue'
import type { ManagementClient } from '../management-client/management-client.ts'
import type { DeliverySettings, Outcome } from '../senders/sender.ts'
import { type AttemptOptions, attemptDelivery, toResult } from './attempt-delivery.ts'
import { createResultReporter } from './result-reporter.ts'
import type { Targets } from './targets.ts'

/** Maximum number of messages that are sent at the same time. */
const CONCURRENCY = 256

export interface SendingPoolOptions extends AttemptOptions {
  management: ManagementClient
  targets: Targets
  /** Called with the outcome of each attempt. */
  onOutcome?(delivery: ClaimedDelivery, outcome: Outcome): void
  /** Called when another message can be sent. */
  onFree(): void
}

/** Sends the messages of claimed deliveries, many at a time, and reports their results. */
export interface SendingPool {
  /** Begins to send a message. At most `countFree()` messages may be added. */
  add(delivery: ClaimedDelivery, settings: DeliverySettings): void
  /** Returns how many more messages can be sent now. */
  countFree(): number
  /** Resolves when all messages are sent, and their results are stored. */
  finish(): Promise<void>
}

export function createSendingPool(options: SendingPoolOptions): SendingPool {
  const { management, targets, log, onOutcome, onFree } = options
  const reporter = createResultReporter(management, log)
  const inFlight = new Set<Promise<void>>()

  async function send(delivery: ClaimedDelivery, settings: DeliverySettings): Promise<void> {
    const { type, delivery_id, target } = delivery
    targets.begin(target)
    const outcome = await attemptDelivery(delivery, settings, options)
    reporter.report(toResult(delivery, outcome))

    const isNewlyDown = targets.finish(target, outcome)
    if (isNewlyDown) {
      const { reason } = outcome
      log.warn({ type, delivery_id, reason }, 'failed to reach target; pausing its deliveries')
    }
    onOutcome?.(delivery, outcome)
  }

  return {
    add(delivery, settings) {
      const sending = send(delivery, settings).finally(() => {
        inFlight.delete(sending)
        onFree()
      })
      inFlight.add(sending)
    },
    countFree: () => CONCURRENCY - inFlight.size,
    async finish() {
      await Promise.all(inFlight)
      await reporter.flush()
    },
  }
}
