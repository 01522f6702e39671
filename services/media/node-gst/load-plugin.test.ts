import { expect, it } from 'vitest'
import { loadPlugin, Pipeline } from './index.ts'

it('loads a plugin, whose elements remain usable', async () => {
  expect(loadPlugin('videotestsrc')).toBe(true)
  const pipeline = new Pipeline('videotestsrc ! fakesink', () => {})
  await pipeline.setState('paused')
  await pipeline.dispose()
})

it('reports a plugin that is not installed', () => {
  expect(loadPlugin('nosuchplugin')).toBe(false)
})
