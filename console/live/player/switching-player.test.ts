import { type Signal, signal } from '@preact/signals'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openFirstAble, type SwitchedView } from './switching-player.ts'
import { createLateness } from './metadata-delay.ts'
import type { LiveViewOpener, LiveViewOptions, LiveViewState } from './live-player.ts'

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
})

interface Opened {
  options: LiveViewOptions
  closed: boolean
  /** Shows a picture of this time. */
  show(pts: number): void
}

/** A way whose views do what the test says. */
function createWay(name: string) {
  const opened: Opened[] = []
  const open: LiveViewOpener = options => {
    const show = (pts: number) => options.onFrame({} as HTMLVideoElement, { epoch: 1, pts })
    const view: Opened = { options, closed: false, show }
    opened.push(view)
    return {
      state: signal<LiveViewState>({ kind: 'lost', reason: name }),
      close: () => {
        view.closed = true
      },
    }
  }
  return { open, opened, newest: () => opened.at(-1)! }
}

/** As much of a video element as is turned here. */
interface Video {
  muted: boolean
  volume: number
  removed: boolean
  remove(): void
}

interface Played {
  view: SwitchedView
  volume: Signal<number>
  /** Times of the pictures that people have seen. */
  seen: number[]
  /** Those in the page. */
  videos(): Video[]
}

function play(...ways: [LiveViewOpener, ...LiveViewOpener[]]): Played {
  const all: Video[] = []
  const seen: number[] = []
  const volume = signal(0)
  const view = openFirstAble(ways, {
    createVideo() {
      const video: Video = {
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
    lateness: createLateness(),
    onFrame: (_, moment) => seen.push(moment!.pts),
  })
  onTestFinished(() => view.close())
  return { view, volume, seen, videos: () => all.filter(({ removed }) => !removed) }
}

const unable = async ({ options }: Opened) => {
  options.onUnable('no')
  await Promise.resolve()
}

const shownBy = ({ view }: Played) => view.state.value.kind === 'lost' && view.state.value.reason

describe('a live view', () => {
  it('comes by the first way, as long as that is able', () => {
    const [first, second] = [createWay('first'), createWay('second')]
    const played = play(first.open, second.open)
    first.newest().show(1)
    vi.advanceTimersByTime(600_000)
    expect([shownBy(played), played.seen, second.opened]).toEqual(['first', [1], []])
  })

  it('comes by the next way where one is not able', async () => {
    const [first, second] = [createWay('first'), createWay('second')]
    const played = play(first.open, second.open)
    await unable(first.newest())
    expect([first.newest().closed, shownBy(played)]).toEqual([true, 'second'])
    expect(played.videos().length).toBe(1)
  })

  it('stays with the last way, which says why there is no picture', async () => {
    const only = createWay('only')
    const played = play(only.open)
    await unable(only.newest())
    vi.advanceTimersByTime(600_000)
    expect([only.opened.length, shownBy(played)]).toEqual([1, 'only'])
  })

  it('begins no other way once it is closed', async () => {
    const [first, second] = [createWay('first'), createWay('second')]
    const { view, videos } = play(first.open, second.open)
    first.newest().options.onUnable('no')
    view.close()
    await Promise.resolve()
    vi.advanceTimersByTime(600_000)
    expect([second.opened, videos()]).toEqual([[], []])
  })

  it('goes back to the better way once that is able again, and nobody sees a picture twice', async () => {
    const [first, second] = [createWay('first'), createWay('second')]
    const played = play(first.open, second.open)
    await unable(first.newest())
    second.newest().show(10)
    vi.advanceTimersByTime(2_000)
    expect(first.opened.length).toBe(2)
    first.newest().show(8)
    first.newest().show(9)
    second.newest().show(11)
    expect(shownBy(played)).toBe('second')
    first.newest().show(11)
    first.newest().show(12)
    second.newest().show(12)
    expect([played.seen, shownBy(played)]).toEqual([[10, 11, 11, 12], 'first'])
    expect([second.newest().closed, played.videos().length]).toEqual([true, 1])
  })

  it('goes back to it, too, where that remains a little behind', async () => {
    const [first, second] = [createWay('first'), createWay('second')]
    const played = play(first.open, second.open)
    await unable(first.newest())
    second.newest().show(10)
    vi.advanceTimersByTime(2_000)
    first.newest().show(5)
    vi.advanceTimersByTime(2_000)
    second.newest().show(12)
    first.newest().show(7)
    expect([played.seen, shownBy(played)]).toEqual([[10, 12, 7], 'first'])
  })

  it('tries the better way ever more rarely, while the other goes on', async () => {
    const [first, second] = [createWay('first'), createWay('second')]
    const played = play(first.open, second.open)
    await unable(first.newest())
    for (let second = 0; second < 600; second++) {
      vi.advanceTimersByTime(1_000)
      if (!first.newest().closed) await unable(first.newest())
    }
    expect(first.opened.length).toBeGreaterThan(12)
    expect(first.opened.length).toBeLessThan(30)
    expect([second.opened.length, second.newest().closed, shownBy(played)]).toEqual([1, false, 'second'])
  })
})

describe('the sound of a live view', () => {
  it('is not asked for while nobody listens', () => {
    const way = createWay('way')
    const { videos } = play(way.open)
    expect([way.newest().options.sounding, videos()[0]!.muted]).toEqual([false, true])
  })

  it('comes with a view of its own, while the silent one is shown', () => {
    const way = createWay('way')
    const { view, volume, seen, videos } = play(way.open)
    way.newest().show(1)
    volume.value = 0.4
    const [silent, sounding] = way.opened
    expect(sounding!.options.sounding).toBe(true)
    expect([view.hearing.value, videos().map(({ muted }) => muted)]).toEqual([false, [true, true]])
    silent!.show(2)
    sounding!.show(3)
    expect([seen, view.hearing.value, silent!.closed]).toEqual([[1, 2, 3], true, true])
    expect(videos()).toMatchObject([{ muted: false, volume: 0.4 }])
  })

  it('is louder and quieter at once, and off at once', () => {
    const way = createWay('way')
    const { view, volume, videos } = play(way.open)
    volume.value = 1
    way.newest().show(1)
    volume.value = 0.2
    expect(videos()).toMatchObject([{ muted: false, volume: 0.2 }])
    volume.value = 0
    expect(videos()[0]!.muted).toBe(true)
    expect(view.hearing.value).toBe(false)
    expect(way.newest().options.sounding).toBe(false)
    way.newest().show(2)
    expect([way.opened[1]!.closed, videos().length]).toEqual([true, 1])
  })

  it('leaves no view behind that nobody wants any more', () => {
    const way = createWay('way')
    const { volume, videos } = play(way.open)
    for (const value of [1, 0, 1, 0]) volume.value = value
    expect(way.opened.filter(({ closed }) => !closed).length).toBe(1)
    expect(videos().length).toBe(1)
  })

  it('is tried again where it could not be had', async () => {
    const way = createWay('way')
    const { view, volume } = play(way.open, createWay('other').open)
    way.newest().show(1)
    volume.value = 1
    await unable(way.newest())
    expect(view.hearing.value).toBe(false)
    vi.advanceTimersByTime(4_000)
    way.newest().show(2)
    expect(view.hearing.value).toBe(true)
  })

  it('goes along from one way to the next', async () => {
    const [first, second] = [createWay('first'), createWay('second')]
    const played = play(first.open, second.open)
    played.volume.value = 1
    first.newest().show(1)
    await unable(first.newest())
    expect([second.newest().options.sounding, played.view.hearing.value]).toEqual([true, true])
    expect(played.videos()).toMatchObject([{ muted: false }])
  })
})
