// @module-tag long

import { join } from 'node:path'
import type { OutputMessage } from '@eyrie/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { waitUntilStopped } from '../../../test/fixtures/engine/engine-client.ts'
import { followOutput } from '../../../test/fixtures/engine/followed-output.ts'
import { createPluginPackage } from '../../../test/fixtures/engine/plugin-package.ts'
import { type TestPlugin, writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { writeNumberedVideo } from '../../../test/fixtures/media/numbered-video.ts'
import { startEngineProcess } from '../../../test/fixtures/processes/engine-process.ts'
import { startMediaProcess } from '../../../test/fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const FRAMES = 900
const LIMIT_MS = 150_000

type FrameMessage = Extract<OutputMessage, { kind: 'frame' }>

it(
  'switching a plugin version, even to one that hangs, loses no frame of other channels, nor of its own if it opens',
  async () => {
    const folder = createTemporaryFolder()
    const video = join(folder, 'numbered.mp4')
    await writeNumberedVideo(video, FRAMES)
    const paced = 'return { process: () => new Promise(done => setTimeout(done, 20, {})) }'
    writePlugin(join(folder, 'plugins'), { name: 'paced', open: paced })
    const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
    onTestFinished(() => media.stop())
    const engine = await startEngineProcess({
      data: join(folder, 'data'),
      media,
      plugins: join(folder, 'plugins'),
      settings: { engine: { pacing: 'all' } },
      variables: { EYRIE_MEDIA_ROOTS: folder },
    })
    onTestFinished(() => engine.stop())
    const { api } = engine

    const counting = (name: string) =>
      `let n = 0; return { process: () => ({ counters: { probe: { ${name}: ++n } } }) }`
    await api.plugin.upload(await createPluginPackage({ version: '1.0.0', open: counting('one') }))
    // It reads pictures, which the version before does not.
    const view = { format: 'GRAY8', width: 64, height: 48 }
    const reading = `
      let n = 0
      return {
        view: ${JSON.stringify(view)},
        process: (_: any, { width }: any) => ({ counters: { probe: { two: ++n, width } } }),
      }`
    const element: TestPlugin['element'] = { needs: ['pixels'], runs: 'worker' }
    await api.plugin.upload(await createPluginPackage({ version: '2.0.0', element, open: reading }))
    // Its manifest requests the main thread, which it would block forever.
    const hanging = {
      element: { runs: 'inline' },
      open: 'return { process: () => { for (;;); } }',
    } as const
    await api.plugin.upload(await createPluginPackage({ version: '3.0.0', ...hanging }))
    await api.plugin.upload(
      await createPluginPackage({ version: '4.0.0', open: `throw new Error('no camera')` }),
    )

    const messages = await followOutput(api, ['frame', 'state'])

    const sources = [{ type: 'file' as const, address: video, decoder: 'gst_h264' as const }]
    const { pipelines } = await api.deploy([
      { sources, sinks: [], elements: [{ name: 'paced' }] },
      { sources, sinks: [], elements: [{ name: 'probe' }] },
    ])
    const { channels = [] } = await api.getExports()
    const [other, own] = pipelines.map(
      ({ id }) => channels.find(({ pipeline }) => pipeline === id)!.id,
    )
    const framesOf = (channel: number | undefined) =>
      messages.filter(
        (message): message is FrameMessage =>
          message.kind === 'frame' && message.channel === channel,
      )
    const counted = (name: string) =>
      framesOf(own).filter(({ data }) => data.counters.probe?.[name])
    const failedWith = (reason: RegExp) =>
      messages.some(
        message =>
          message.kind === 'state' &&
          message.channel === own &&
          reason.test(String(message.data.reason)),
      )
    const until = (condition: () => boolean) =>
      vi.waitUntil(condition, { timeout: LIMIT_MS, interval: 20 })

    await until(() => counted('one').length > 0)
    await api.plugin.use('probe', { version: '2.0.0', grant: true })
    await until(() => counted('two').length > 0)
    const switched = framesOf(own).findIndex(({ data }) => data.counters.probe?.two)
    await api.plugin.use('probe', { version: '3.0.0', revert: false })
    await until(() => failedWith(/probe: no answer within 1 s/))
    await api.plugin.use('probe', { version: '4.0.0', revert: false })
    await until(() => failedWith(/probe: no camera/))
    const before = counted('one').length
    await api.plugin.use('probe', { version: '1.0.0' })
    await until(() => counted('one').length > before)

    await waitUntilStopped(api, pipelines[0]!, LIMIT_MS)
    const every = Array.from({ length: FRAMES }, (_, i) => i + 1)
    await until(() => framesOf(other).at(-1)?.data.n === FRAMES)
    expect(framesOf(other).map(({ data }) => data.n)).toEqual(every)
    // The versions have followed each other between two frames.
    const aroundSwitch = framesOf(own).slice(0, switched + 1)
    expect(aroundSwitch.map(({ data }) => data.n)).toEqual(every.slice(0, switched + 1))
    expect(counted('two')[0]?.data.counters.probe?.width).toBe(64)
    // Each version starts counting from one.
    const firsts = ['one', 'two'].map(name => counted(name)[0]?.data.counters.probe?.[name])
    expect(firsts).toEqual([1, 1])
  },
  LIMIT_MS,
)
