import { backoffDelayMs } from '@eyrie/contract/backoff'
import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import type { StreamTime } from '../../video/metadata-buffer.ts'
import { createCandidateLoader } from './candidate-loader.ts'
import type { CreateLivePlayer, LivePlayer, LivePlayerOptions } from './live-player.ts'
import type { MetadataDelay } from './metadata-delay.ts'

/**
 * A live player that can change its transport, and turn sound on and off, without interrupting the
 * picture. A transport is a way to receive the video: WebRTC, or fragmented MP4 over WebSocket.
 */
export interface SwitchingPlayer extends LivePlayer {
  /** The player on display plays sound. */
  readonly isAudible: ReadonlySignal<boolean>
}

export interface SwitchingPlayerOptions
  extends Omit<LivePlayerOptions, 'video' | 'withSound' | 'onUnavailable'> {
  /** Adds a muted video element to the page. */
  createVideo(): HTMLVideoElement
  /** From 0 to 1. No sound is requested at 0. */
  volume: ReadonlySignal<number>
}

interface PlayerChoice {
  transportIndex: number
  withSound: boolean
}

/** A player of one transport. It is identified by its video element. */
interface OpenPlayer extends PlayerChoice {
  video: HTMLVideoElement
  player: LivePlayer
}

const UPGRADE_BACKOFF = { initialMs: 2_000, maxMs: 60_000 }
/**
 * A candidate that is behind the displayed player for longer has a longer delay, and
 * would never catch up.
 */
const MAX_CATCH_UP_MS = 1_500

/**
 * Creates a player for a list of transports, best first. It displays one transport at a time:
 *
 * - If the displayed transport becomes unavailable, the next one in the list replaces it. The last
 *   one is never replaced, because it reports why there is no video.
 * - If a better transport exists, or sound is turned on or off, a candidate is loaded in the
 *   background. It replaces the displayed player once it has caught up. A failed candidate is
 *   retried with back-off.
 */
export function createSwitchingPlayer(
  transports: readonly [CreateLivePlayer, ...CreateLivePlayer[]],
  { createVideo, volume, ...options }: SwitchingPlayerOptions,
): SwitchingPlayer {
  const needsSound = computed(() => volume.value > 0)
  const displayed = signal(openPlayer({ transportIndex: 0, withSound: needsSound.peek() }))
  /** Stream time of the frame on display. */
  let displayedTime: StreamTime | undefined
  /** Opens the player that is to replace the displayed one. */
  const upgrade = createCandidateLoader({ open: openCandidate, close: closePlayer })
  let failedUpgrades = 0
  let isClosed = false

  const isDisplayed = (video: HTMLVideoElement) => displayed.peek().video === video

  function findCandidate(video: HTMLVideoElement): OpenPlayer | undefined {
    const { candidate } = upgrade
    return candidate?.video === video ? candidate : undefined
  }

  function openPlayer({ transportIndex, withSound }: PlayerChoice): OpenPlayer {
    const video = createVideo()
    let firstFrameMs: number | undefined

    // Only the frames on display are measured. A candidate receives the same frames at other times.
    const metadataDelay: MetadataDelay = {
      ...options.metadataDelay,
      frameArrived(pts, nowMs) {
        if (isDisplayed(video)) options.metadataDelay.frameArrived(pts, nowMs)
      },
    }

    const createPlayer = transports[transportIndex]!
    const player = createPlayer({
      ...options,
      video,
      withSound,
      metadataDelay,
      onFrame(image, time) {
        firstFrameMs ??= performance.now()
        const candidate = findCandidate(video)
        const isOverdue = performance.now() - firstFrameMs > MAX_CATCH_UP_MS
        if (candidate && (isOverdue || hasCaughtUp(time, displayedTime))) promote(candidate)
        if (!isDisplayed(video)) return
        displayedTime = time
        options.onFrame(image, time)
      },
      // A transport may report this before its player is displayed or is the candidate.
      onUnavailable: () => queueMicrotask(() => handleUnavailable(video)),
    })
    return { transportIndex, withSound, video, player }
  }

  /** Displays a candidate in place of the displayed player. */
  function promote(candidate: OpenPlayer) {
    upgrade.release()
    failedUpgrades = 0
    closePlayer(displayed.peek())
    display(candidate)
  }

  function handleUnavailable(video: HTMLVideoElement) {
    if (isClosed) return
    if (isDisplayed(video)) return fallBack()
    if (!findCandidate(video)) return

    upgrade.cancel()
    failedUpgrades += 1
    updateUpgrade()
  }

  /** Replaces the displayed player by one of the next transport, if there is one. */
  function fallBack() {
    const unavailable = displayed.peek()
    const { withSound } = unavailable
    const transportIndex = unavailable.transportIndex + 1
    if (transportIndex === transports.length) return
    closePlayer(unavailable)
    display(openPlayer({ transportIndex, withSound }))
  }

  function display(player: OpenPlayer) {
    displayed.value = player
    applyVolume()
    updateUpgrade()
  }

  /**
   * Starts or schedules an upgrade, unless the displayed player is the best one or its
   * upgrade is already loading.
   */
  function updateUpgrade() {
    if (upgrade.candidate?.withSound === needsSound.peek()) return
    upgrade.cancel()

    const { transportIndex, withSound } = displayed.peek()
    const changesSound = withSound !== needsSound.peek()
    if (transportIndex === 0 && !changesSound) return

    // The user is waiting for a change of sound.
    if (changesSound && failedUpgrades === 0) upgrade.load()
    else upgrade.loadAfter(backoffDelayMs(failedUpgrades, UPGRADE_BACKOFF))
  }

  /**
   * Opens the same transport if only sound changes, otherwise each of the better transports in
   * turn.
   */
  function openCandidate(): OpenPlayer {
    const { transportIndex, withSound } = displayed.peek()
    const changesSound = withSound !== needsSound.peek()
    return openPlayer({
      transportIndex: changesSound ? transportIndex : failedUpgrades % transportIndex,
      withSound: needsSound.peek(),
    })
  }

  function applyVolume() {
    const { video, withSound } = displayed.peek()
    if (needsSound.peek()) video.volume = volume.peek()
    video.muted = !withSound || !needsSound.peek()
  }

  const disposeSoundEffect = effect(() => {
    if (needsSound.value !== displayed.peek().withSound) failedUpgrades = 0
    untracked(updateUpgrade)
  })
  const disposeVolumeEffect = effect(() => {
    // Reading the signal subscribes to it.
    void volume.value
    applyVolume()
  })

  return {
    state: computed(() => displayed.value.player.state.value),
    isAudible: computed(() => displayed.value.withSound && needsSound.value),
    close() {
      isClosed = true
      disposeSoundEffect()
      disposeVolumeEffect()
      upgrade.cancel()
      closePlayer(displayed.peek())
    },
  }
}

function closePlayer({ player, video }: OpenPlayer) {
  player.close()
  video.remove()
}

/**
 * Whether the frame of a candidate is not older than the frame on display. Times of different
 * epochs, which are parts of the stream before and after an interruption, cannot be compared; the
 * frame then counts as newer.
 */
function hasCaughtUp(time: StreamTime | undefined, displayedTime: StreamTime | undefined): boolean {
  if (!time || !displayedTime || time.epoch !== displayedTime.epoch) return true
  return time.pts >= displayedTime.pts
}
