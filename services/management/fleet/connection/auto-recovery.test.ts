import { createClient } from '@eyrie/client'
import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import { startFleet, startManagedEngine } from '../../../../test/fixtures/management/fleet.ts'
import { SMALL_PICTURE } from '../../../../test/fixtures/media/small-picture.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'

const LONG_MS = 400_000

describe('automatic channel recovery', () => {
  it(
    'restarts a failed channel once automatic recovery is enabled',
    async () => {
      const plugins = createTemporaryFolder()
      const usecase = {
        key: 'queue',
        name: 'Queue',
        description: 'Counts people in a queue',
        meta_keys: ['waiting'],
      }
      writePlugin(plugins, {
        name: 'queue',
        element: { output_schema: { 'x-usecase': usecase } },
        open: "throw new Error('the queue is closed')",
      })
      const fleet = await startFleet()
      const { url, port } = await startManagedEngine({ plugins })
      const engineId = await fleet.registerEngine({ engine_port: port })
      const { source_id: sourceId } = await fleet.addSource(engineId, { address: SMALL_PICTURE })
      const pipelineId = await fleet.addPipeline(engineId, [{ name: 'queue' }])
      const channelId = await fleet.addChannel(sourceId, pipelineId)
      const { channel_sid } = await fleet.untilVerified(channelId)

      // A restart shows as an idle state: for a moment the pipeline has no channel.
      const states: string[] = []
      const following = new AbortController()
      onTestFinished(() => following.abort())
      const client = createClient({ url, signal: following.signal })
      void (async () => {
        for await (const message of client.output({ since: 1, kinds: ['state'] })) {
          if (message.kind === 'state' && message.channel === null) states.push(message.data.state)
        }
      })()
      await vi.waitUntil(() => states.includes('failed'))
      const before = states.length
      await fleet.call(managementRoutes.channel.update, {
        channel_id: channelId,
        is_auto_recovery: true,
      })
      await vi.waitUntil(() => states.slice(before).includes('idle'))
      await vi.waitUntil(() => states.lastIndexOf('failed') > states.lastIndexOf('idle'))

      expect(await fleet.untilVerified(channelId)).toMatchObject({ channel_sid, is_active: false })
      const { response: usecases } = await fleet.call(managementRoutes.usecase.list)
      expect(usecases).toContainEqual(
        expect.objectContaining({
          usecase_key: 'queue',
          usecase_name: 'Queue',
          usecase_meta_key: ['waiting'],
        }),
      )
      const { response } = await fleet.call(managementRoutes.pipeline.defaultElement, {
        usecase_key: 'queue',
      })
      expect(response.default_data.elements.at(-1)).toMatchObject({ name: 'queue' })
    },
    LONG_MS,
  )
})
