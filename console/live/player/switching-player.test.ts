import { type Signal, signal } from '@preact/signals'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { CreateLivePlayer, LivePlayerOptions, LivePlayerState } from './live-player.ts'
import { createMetadataDelay } from './metadata-delay.ts'
import { createSwitchingPlayer, type SwitchingPlayer } from './switching-player.ts'

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
})

interface FakePlayer {
  options: LivePlayerOptions
  closed: boolean
  /** Shows a frame with this pts. */
  show(pts: number): void
}

/**
 * A transport whose players are controlled by the test. Their state carries the name of the
 * transport.
 */
function createTransport(name: string) {
  const players: FakePlayer[] = []
  const create: CreateLivePlayer = options => {
    const show = (pts: number) => options.onFrame({} as HTMLVideoElement, { epoch: 1, pts })
    const player: FakePlayer = { options, closed: false, show }
    players.push(player)
    return {
      state: signal<LivePlayerState>({ kind: 'lost', reason: name }),
      close: () => {
        player.closed = true
      },
    }
  }
  return { create, players, newest: () => players.at(-1)! }
}

/** The members of a video element that the player uses. */
interface FakeVideo {
  muted: boolean
  volume: number
  removed: boolean
  remove(): void
}

interface Playing {
  player: SwitchingPlayer
  volume: Signal<number>
  /** The pts of the frames on display, in order. */
  displayed: number[]
  /** Video elements in the page. */
  videos(): FakeVideo[]
}

function play(...transports: [CreateLivePlayer, ...CreateLivePlayer[]]): Playing {
  const all: FakeVideo[] = []
  const displayed: number[] = []
  const volume = signal(0)
  const player = createSwitchingPlayer(transports, {
    createVideo() {
      const video: FakeVideo = {
        muted: true,
        volume: 1,
        removed: false,
        remove: () => {
          video.removed = true
        },
      }
      all.push(video)
      return video as unknown as HTMLVideoElement
    },
    volume,
    stream: 1,
    metadataDelay: createMetadataDelay(),
    onFrame: (_, time) => displayed.push(time!.pts),
  })
  onTestFinished(() => player.close())
  return { player, volume, displayed, videos: () => all.filter(({ removed }) => !removed) }
}

const giveUp = async ({ options }: FakePlayer) => {
  options.onUnavailable('no')
  await Promise.resolve()
}

/** Name of the transport on display. */
const displayedBy = ({ player }: Playing) =>
  player.state.value.kind === 'lost' && player.state.value.reason

describe('switching player', () => {
  it('plays with the first transport while it is available', () => {
    const [first, second] = [createTransport('first'), createTransport('second')]
    const playing = play(first.create, second.create)
    first.newest().show(1)
    vi.advanceTimersByTime(600_000)
    expect([displayedBy(playing), playing.displayed, second.players]).toEqual(['first', [1], []])
  })

  it('falls back to the next transport when one is unavailable', async () => {
    const [first, second] = [createTransport('first'), createTransport('second')]
    const playing = play(first.create, second.create)
    await giveUp(first.newest())
    expect([first.newest().closed, displayedBy(playing)]).toEqual([true, 'second'])
    expect(playing.videos().length).toBe(1)
  })

  it('keeps the last transport, which reports why there is no video', async () => {
    const only = createTransport('only')
    const playing = play(only.create)
    await giveUp(only.newest())
    vi.advanceTimersByTime(600_000)
    expect([only.players.length, displayedBy(playing)]).toEqual([1, 'only'])
  })

  it('opens no other transport after it is closed', async () => {
    const [first, second] = [createTransport('first'), createTransport('second')]
    const { player, videos } = play(first.create, second.create)
    first.newest().options.onUnavailable('no')
    player.close()
    await Promise.resolve()
    vi.advanceTimersByTime(600_000)
    expect([second.players, videos()]).toEqual([[], []])
  })

  it('switches to the better transport once that has caught up, without repeating a frame', async () => {
    const [first, second] = [createTransport('first'), createTransport('second')]
    const playing = play(first.create, second.create)
    await giveUp(first.newest())
    second.newest().show(10)
    vi.advanceTimersByTime(2_000)
    expect(first.players.length).toBe(2)
    first.newest().show(8)
    first.newest().show(9)
    second.newest().show(11)
    expect(displayedBy(playing)).toBe('second')
    first.newest().show(11)
    first.newest().show(12)
    second.newest().show(12)
    expect([playing.displayed, displayedBy(playing)]).toEqual([[10, 11, 11, 12], 'first'])
    expect([second.newest().closed, playing.videos().length]).toEqual([true, 1])
  })

  it('switches to the better transport even if that stays slightly behind', async () => {
    const [first, second] = [createTransport('first'), createTransport('second')]
    const playing = play(first.create, second.create)
    await giveUp(first.newest())
    second.newest().show(10)
    vi.advanceTimersByTime(2_000)
    first.newest().show(5)
    vi.advanceTimersByTime(2_000)
    second.newest().show(12)
    first.newest().show(7)
    expect([playing.displayed, displayedBy(playing)]).toEqual([[10, 12, 7], 'first'])
  })

  it('retries the better transport with back-off while the other one plays', async () => {
    const [first, second] = [createTransport('first'), createTransport('second')]
    const playing = play(first.create, second.create)
    await giveUp(first.newest())
    for (let second = 0; second < 600; second++) {
      vi.advanceTimersByTime(1_000)
      if (!first.newest().closed) await giveUp(first.newest())
    }
    expect(first.players.length).toBeGreaterThan(12)
    expect(first.players.length).toBeLessThan(30)
    expect([second.players.length, second.newest().closed, displayedBy(playing)]).toEqual([
      1,
      false,
      'second',
    ])
  })
})

describe('sound of a switching player', () => {
  it('is not requested while the volume is zero', () => {
    const transport = createTransport('transport')
    const { videos } = play(transport.create)
    expect([transport.newest().options.withSound, videos()[0]!.muted]).toEqual([false, true])
  })

  it('is loaded by a second player while the silent one is on display', () => {
    const transport = createTransport('transport')
    const { player, volume, displayed, videos } = play(transport.create)
    transport.newest().show(1)
    volume.value = 0.4
    const [silent, audible] = transport.players
    expect(audible!.options.withSound).toBe(true)
    expect([player.isAudible.value, videos().map(({ muted }) => muted)]).toEqual([
      false,
      [true, true],
    ])
    silent!.show(2)
    audible!.show(3)
    expect([displayed, player.isAudible.value, silent!.closed]).toEqual([[1, 2, 3], true, true])
    expect(videos()).toMatchObject([{ muted: false, volume: 0.4 }])
  })

  it('changes its volume and mutes immediately', () => {
    const transport = createTransport('transport')
    const { player, volume, videos } = play(transport.create)
    volume.value = 1
    transport.newest().show(1)
    volume.value = 0.2
    expect(videos()).toMatchObject([{ muted: false, volume: 0.2 }])
    volume.value = 0
    expect(videos()[0]!.muted).toBe(true)
    expect(player.isAudible.value).toBe(false)
    expect(transport.newest().options.withSound).toBe(false)
    transport.newest().show(2)
    expect([transport.players[1]!.closed, videos().length]).toEqual([true, 1])
  })

  it('closes players that are no longer needed when it is toggled quickly', () => {
    const transport = createTransport('transport')
    const { volume, videos } = play(transport.create)
    for (const value of [1, 0, 1, 0]) volume.value = value
    expect(transport.players.filter(({ closed }) => !closed).length).toBe(1)
    expect(videos().length).toBe(1)
  })

  it('is retried after a failure', async () => {
    const transport = createTransport('transport')
    const { player, volume } = play(transport.create, createTransport('other').create)
    transport.newest().show(1)
    volume.value = 1
    await giveUp(transport.newest())
    expect(player.isAudible.value).toBe(false)
    vi.advanceTimersByTime(4_000)
    transport.newest().show(2)
    expect(player.isAudible.value).toBe(true)
  })

  it('continues when the player falls back to the next transport', async () => {
    const [first, second] = [createTransport('first'), createTransport('second')]
    const playing = play(first.create, second.create)
    playing.volume.value = 1
    first.newest().show(1)
    await giveUp(first.newest())
    expect([second.newest().options.withSound, playing.player.isAudible.value]).toEqual([
      true,
      true,
    ])
    expect(playing.videos()).toMatchObject([{ muted: false }])
  })
})
