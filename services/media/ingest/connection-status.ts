import { isDeepStrictEqual } from 'node:util'
import type { CameraClock, SourceStatus } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { Clock } from '../runtime/clock.ts'
import type { SourceListener } from '../sources/source.ts'
import {
  INITIAL_STATE,
  type Lifecycle,
  type LifecycleEvent,
  type PlayMode,
  transition,
} from '../sources/source-lifecycle.ts'

/** Smaller losses affect a picture only occasionally and are not reported. */
const MIN_REPORTED_LOSS = 0.02
/** Smaller changes of the clock skew are not reported. */
const MIN_REPORTED_DRIFT_S = 0.1

export interface ConnectionStatusOptions {
  /** Id of the source. */
  source: number
  /** Address of the source, for messages. */
  name: string
  mode: PlayMode
  clock: Clock
  random: () => number
  log: Log
  listener: Pick<SourceListener, 'onStatus'>
}

/**
 * The state of a source's connection, and the status by which it is reported. Changes of the state
 * are logged.
 */
export interface ConnectionStatus {
  lifecycle(): Lifecycle
  /** Returns the status that the listener was notified of last. */
  reported(): SourceStatus
  /** Advances the lifecycle. */
  dispatch(event: LifecycleEvent): void
  /** Reports other properties of the source, such as the size of its pictures. */
  update(change: Partial<SourceStatus>): void
  /** Reports the clock from which capture times are derived, unless it has hardly changed. */
  updateClock(cameraClock: CameraClock): void
  /** Reports the share of packets lost, 0 to 1. A source that loses many is degraded. */
  updateLoss(share: number): void
}

export function createConnectionStatus(options: ConnectionStatusOptions): ConnectionStatus {
  const { source, name, mode, clock, random, log, listener } = options
  let reported: SourceStatus = { id: source, state: 'connecting' }
  let lifecycle = INITIAL_STATE

  function dispatch(event: LifecycleEvent, details: Pick<SourceStatus, 'loss'> = {}) {
    lifecycle = transition(lifecycle, event, { mode, now: clock.now(), random })
    const { state, reason, failures, nextAttemptAt } = lifecycle
    const isLost = state === 'reconnecting' || state === 'failed'
    update({
      state,
      reason,
      attempts: isLost ? failures : undefined,
      next_try_at: toWallTime(nextAttemptAt, clock),
      ...(isLost && { clock: undefined, loss: undefined }),
      ...details,
    })
  }

  function update(change: Partial<SourceStatus>) {
    const next = { ...reported, ...change }
    if (isDeepStrictEqual(next, reported)) return

    const { state, reason } = next
    if (state !== reported.state || reason !== reported.reason) {
      const level = state === 'failed' || state === 'reconnecting' ? 'warn' : 'info'
      log[level]({ source, state, reason }, 'source state changed')
    }
    reported = next
    listener.onStatus(reported)
  }

  return {
    lifecycle: () => lifecycle,
    reported: () => reported,
    dispatch,
    update,

    updateClock(cameraClock) {
      const previous = reported.clock
      const isSameSource = cameraClock.source === previous?.source
      const driftS = Math.abs((cameraClock.skew_s ?? 0) - (previous?.skew_s ?? 0))
      if (!isSameSource || driftS > MIN_REPORTED_DRIFT_S) update({ clock: cameraClock })
    },

    updateLoss(share) {
      const roundedShare = Math.round(share * 100) / 100
      const loss = share < MIN_REPORTED_LOSS ? undefined : roundedShare
      if (loss === reported.loss) return

      const reason = loss === undefined ? undefined : describeLoss(name, loss)
      dispatch({ type: 'degraded', reason }, { loss })
    },
  }
}

/** Converts a monotonic time, in ms, to a time of day. */
function toWallTime(monotonicMs: number | undefined, clock: Clock): string | undefined {
  if (monotonicMs === undefined) return undefined
  return new Date(clock.wall() + monotonicMs - clock.now()).toISOString()
}

const describeLoss = (name: string, loss: number) =>
  `${name} loses ${Math.round(loss * 100)} % of its packets: check the network, lower the bit rate, or set transport to tcp`
