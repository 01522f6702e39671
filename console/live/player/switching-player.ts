import { backoffDelayMs } from '@eyrie/contract/backoff'
import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import type { StreamTime } from '../../video/metadata-buffer.ts'
import type { CreateLivePlayer, LivePlayer, LivePlayerOptions } from './live-player.ts'

/** A live player that switches to better transports by itself, and to a player with sound on request. */
export interface SwitchingPlayer extends LivePlayer {
  /** The player on display plays sound. */
  readonly isAudible: ReadonlySignal<boolean>
}

export interface SwitchingPlayerOptions
  extends Omit<LivePlayerOptions, 'video' | 'withSound' | 'onUnavailable'> {
  /** Adds a muted video element to the page. */
  createVideo(): HTMLVideoElement
  /** From 0 to 1. At 0 no sound is requested. */
  volume: ReadonlySignal<number>
}

/** A player of one transport with its own video element. */
interface Attempt {
  /** Index of the transport; lower is better. */
  transport: number
  withSound: boolean
  video: HTMLVideoElement
  player: LivePlayer
  firstFrameMs?: number
}

/** The search for a better player than the one on display. */
type Upgrade =
  | { kind: 'idle' }
  | { kind: 'scheduled'; timer: ReturnType<typeof setTimeout> }
  | { kind: 'loading'; candidate: Attempt }
  | { kind: 'closed' }

const UPGRADE_BACKOFF = { initialMs: 2_000, maxMs: 60_000 }
/** A candidate that is still behind the player on display after this time has a longer delay and will not catch up. */
const MAX_CATCH_UP_MS = 1_500

/**
 * Plays with the first of these transports that is available. The last one is always kept, because it reports why there
 * is no video. A better player is loaded in the background and takes over once it has reached the frame on display.
 */
export function createSwitchingPlayer(
  transports: readonly [CreateLivePlayer, ...CreateLivePlayer[]],
  { createVideo, volume, ...options }: SwitchingPlayerOptions,
): SwitchingPlayer {
  const needsSound = computed(() => volume.value > 0)
  let displayedTime: StreamTime | undefined
  let upgrade: Upgrade = { kind: 'idle' }
  let failedUpgrades = 0
  const current = signal(openPlayer(0, needsSound.peek()))

  const isDisplayed = (attempt: Attempt) => attempt === current.peek()
  const isCandidate = (attempt: Attempt) => upgrade.kind === 'loading' && upgrade.candidate === attempt

  function openPlayer(transport: number, withSound: boolean): Attempt {
    const video = createVideo()
    // The player may call back before it has been returned.
    const attempt = { transport, withSound, video } as Attempt
    attempt.player = transports[transport]!({
      ...options,
      video,
      withSound,
      metadataDelay: {
        ...options.metadataDelay,
        frameArrived: (pts, nowMs) => {
          if (isDisplayed(attempt)) options.metadataDelay.frameArrived(pts, nowMs)
        },
      },
      onFrame(image, time) {
        if (isCandidate(attempt) && hasCaughtUp(attempt, time)) switchTo(attempt)
        if (!isDisplayed(attempt)) return
        displayedTime = time
        options.onFrame(image, time)
      },
      onUnavailable: () => queueMicrotask(() => giveUp(attempt)),
    })
    return attempt
  }

  function closePlayer({ player, video }: Attempt) {
    player.close()
    video.remove()
  }

  function hasCaughtUp(attempt: Attempt, time: StreamTime | undefined): boolean {
    attempt.firstFrameMs ??= performance.now()
    if (!displayedTime || !time || displayedTime.epoch !== time.epoch) return true
    return time.pts >= displayedTime.pts || performance.now() - attempt.firstFrameMs > MAX_CATCH_UP_MS
  }

  function switchTo(candidate: Attempt) {
    const replaced = current.peek()
    upgrade = { kind: 'idle' }
    failedUpgrades = 0
    current.value = candidate
    closePlayer(replaced)
    applyVolume()
    scheduleUpgrade()
  }

  function giveUp(attempt: Attempt) {
    if (upgrade.kind === 'closed') return
    if (isCandidate(attempt)) {
      stopUpgrade()
      failedUpgrades++
      scheduleUpgrade()
    } else if (isDisplayed(attempt) && attempt.transport < transports.length - 1) {
      closePlayer(attempt)
      current.value = openPlayer(attempt.transport + 1, attempt.withSound)
      applyVolume()
      scheduleUpgrade()
    }
  }

  function stopUpgrade() {
    if (upgrade.kind === 'scheduled') clearTimeout(upgrade.timer)
    if (upgrade.kind === 'loading') closePlayer(upgrade.candidate)
    upgrade = { kind: 'idle' }
  }

  /** Loads a better player, if there can be one: at once for a change of sound, otherwise after the back-off. */
  function scheduleUpgrade() {
    if (upgrade.kind === 'loading' && upgrade.candidate.withSound === needsSound.peek()) return
    stopUpgrade()
    const { transport, withSound } = current.peek()
    const hasRightSound = withSound === needsSound.peek()
    if (hasRightSound && transport === 0) return
    const load = () => {
      // Better transports take turns. For a change of sound, the same transport is used.
      const next = hasRightSound ? failedUpgrades % transport : transport
      upgrade = { kind: 'loading', candidate: openPlayer(next, needsSound.peek()) }
    }
    if (!hasRightSound && failedUpgrades === 0) load()
    else
      upgrade = {
        kind: 'scheduled',
        timer: setTimeout(load, backoffDelayMs(failedUpgrades, UPGRADE_BACKOFF)),
      }
  }

  function applyVolume() {
    const { video, withSound } = current.peek()
    if (needsSound.peek()) video.volume = volume.peek()
    video.muted = !withSound || !needsSound.peek()
  }

  const disposeSoundEffect = effect(() => {
    if (needsSound.value !== current.peek().withSound) failedUpgrades = 0
    untracked(scheduleUpgrade)
  })
  const disposeVolumeEffect = effect(() => {
    void volume.value
    applyVolume()
  })

  return {
    state: computed(() => current.value.player.state.value),
    isAudible: computed(() => current.value.withSound && needsSound.value),
    close() {
      disposeSoundEffect()
      disposeVolumeEffect()
      stopUpgrade()
      upgrade = { kind: 'closed' }
      closePlayer(current.peek())
    },
  }
}
