import type { Context } from 'hono'

// The channels of a request to which the caller's rights are limited: the requested ones, or those
// of the requested stream. The access check sets them, and the routes that return results of
// channels read them.

type ChannelContext = Context<{ Variables: { visibleChannels: readonly number[] } }>

export function setVisibleChannels(c: Context, channelIds: readonly number[]): void {
  const context: ChannelContext = c
  context.set('visibleChannels', channelIds)
}

/** Returns undefined if the caller may see all channels. */
export function getVisibleChannels(c: Context): readonly number[] | undefined {
  const context: ChannelContext = c
  return context.get('visibleChannels')
}
