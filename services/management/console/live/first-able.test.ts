import { signal } from '@preact/signals'
import { describe, expect, it } from 'vitest'
import { openFirstAble } from './first-able.ts'
import { createLateness } from './lateness.ts'
import type { LiveViewOpener, LiveViewOptions, LiveViewState } from './live-view.ts'

/** A way whose views do what the test says. */
function createWay(name: string) {
  const opened: { options: LiveViewOptions; closed: boolean }[] = []
  const open: LiveViewOpener = options => {
    const view = { options, closed: false }
    opened.push(view)
    return {
      state: signal<LiveViewState>({ kind: 'lost', reason: name }),
      close: () => {
        view.closed = true
      },
    }
  }
  return { open, opened }
}

const options = {
  video: {} as HTMLVideoElement,
  stream: 1,
  lateness: createLateness(),
  onFrame: () => {},
}

describe('a live view', () => {
  it('comes by the first way, as long as that is able', () => {
    const [first, second] = [createWay('first'), createWay('second')]
    const view = openFirstAble([first.open, second.open], options)
    expect(view.state.value).toEqual({ kind: 'lost', reason: 'first' })
    expect(second.opened).toHaveLength(0)
  })

  it('comes by the next way where one is not able, which lets go of the video first', async () => {
    const [first, second] = [createWay('first'), createWay('second')]
    const view = openFirstAble([first.open, second.open], options)
    first.opened[0]!.options.onUnable('no')
    await Promise.resolve()
    expect(first.opened[0]!.closed).toBe(true)
    expect(view.state.value).toEqual({ kind: 'lost', reason: 'second' })
  })

  it('stays with the last way, which says why there is no picture', async () => {
    const only = createWay('only')
    const view = openFirstAble([only.open], options)
    only.opened[0]!.options.onUnable('no')
    await Promise.resolve()
    expect(only.opened).toHaveLength(1)
    expect(view.state.value).toEqual({ kind: 'lost', reason: 'only' })
  })

  it('begins no other way once it is closed', async () => {
    const [first, second] = [createWay('first'), createWay('second')]
    const view = openFirstAble([first.open, second.open], options)
    first.opened[0]!.options.onUnable('no')
    view.close()
    await Promise.resolve()
    expect(second.opened).toHaveLength(0)
  })
})
