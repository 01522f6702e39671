import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '@eyrie/client'

/** The frames that the channels of an engine publish. */
export interface FrameCounter {
  /** `lost` are the frames that are missing between the published ones, or are published again. */
  totals(): { published: number; lost: number }
  channels(): number[]
  /**
   * Waits until each of these channels has published a frame in whose counter `widths` this width
   * has grown. Throws if none does.
   */
  untilCounted(channels: readonly number[], width: number, maxMs: number): Promise<void>
}

/** Follows the output of the engine. The numbers of the frames of a channel are consecutive. */
export async function countPublishedFrames(api: Client): Promise<FrameCounter> {
  const newest = new Map<number, number>()
  /** The width that each channel has counted last. */
  const widths = new Map<number, string>()
  const totals = { published: 0, lost: 0 }
  let failure: Error | undefined

  const following = Promise.withResolvers<void>()
  const follow = async () => {
    for await (const message of api.output({ kinds: ['frame'] })) {
      if (message.kind === 'hello') following.resolve()
      if (message.kind === 'gap') throw new Error('the output was not read fast enough')
      if (message.kind !== 'frame' || message.channel === null) continue
      const { channel, data } = message
      const previous = newest.get(channel)
      if (previous !== undefined) totals.lost += Math.abs(data.n - previous - 1)
      totals.published += 1
      newest.set(channel, data.n)
      widths.set(channel, Object.keys(data.counters.widths ?? {}).join())
    }
  }
  follow().catch(error => {
    failure = error
    following.reject(error)
  })
  await following.promise

  return {
    totals: () => {
      if (failure) throw failure
      return { ...totals }
    },
    channels: () => [...newest.keys()],
    untilCounted: async (channels, width, maxMs) => {
      const deadline = performance.now() + maxMs
      const isMissing = (channel: number) => widths.get(channel) !== String(width)
      while (channels.some(isMissing)) {
        if (performance.now() > deadline) {
          throw new Error(
            `no frame of width ${width} on channels ${channels.filter(isMissing).join(', ')}`,
          )
        }
        await wait(20)
      }
    },
  }
}
