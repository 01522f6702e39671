import { join } from 'node:path'
import { z } from 'zod'
import { DEMO_LINES } from '../../scene/demo.ts'
import { customerInput, organizationInput, siteInput } from '../fixtures/management/hierarchy.ts'
import type { Console } from './console.ts'
import { PEER_LABEL, type Stack } from './stack.ts'

const PROGRAM = join(import.meta.dirname, 'camera.mjs')

/**
 * Starts a camera in a container in the network of the services. It plays a video that
 * `mount` puts at `video`.
 */
export async function startCamera(
  stack: Stack,
  { mount, video }: { mount: string; video: string },
): Promise<void> {
  await stack.docker(
    ...['run', '--detach', '--name', `${stack.project}-camera`, '--no-healthcheck'],
    ...['--label', `${PEER_LABEL}=${stack.project}`],
    ...['--network', `${stack.project}_services`, '--network-alias', 'camera'],
    ...['--volume', `${PROGRAM}:/camera.mjs:ro`, '--mount', mount],
    ...['--env', 'XDG_CACHE_HOME=/tmp', '--env', 'GST_REGISTRY=/tmp/registry.bin'],
    ...[
      '--entrypoint',
      'node',
      `eyrie/media:${stack.variables.EYRIE_VERSION}`,
      '/camera.mjs',
      video,
    ],
  )
}

/** Creates an organization with a customer and a site, and returns the id of the site. */
export async function createSite(console: Console): Promise<string> {
  const organizationId = await console.create('organization', organizationInput('acme'))
  const customerId = await console.create('customer', customerInput(organizationId, 'acme'))
  return console.create('site', siteInput(organizationId, customerId, 'acme'))
}

/**
 * Creates a device that is the camera, and a channel that counts at the lines of the demo scene.
 */
export async function addCamera(
  console: Console,
  { site_id, engine_id, name }: { site_id: string; engine_id: string; name: string },
): Promise<{ device_id: string; channel_id: string }> {
  const deviceId = await console.create('device', {
    ...{ site_id, engine_id, device_identifier: name, device_name: name },
    ...{ device_type: 'camera', device_tags: {} },
    device_streams: [{ id: 1, address: 'http://camera:8000/live.ts' }],
  })
  const sourceId = await console.create('source', {
    ...{ device_id: deviceId, engine_id, source_name: name, stream_id: 1 },
  })
  const pipelineId = await console.create('pipeline', {
    ...{
      engine_id,
      pipeline_name: name,
      pipeline_usecase: 'line-crossing',
      pipeline_reference_key: 1,
    },
    pipeline_elements: {
      elements: [
        { name: 'infer', args: { model: 'scene-detector' } },
        { name: 'object-tracking' },
        { name: 'line-crossing', config: { [sourceId]: { lines: DEMO_LINES } } },
      ],
    },
  })
  const channelId = await console.create('channel', {
    ...{
      source_id: sourceId,
      pipeline_id: pipelineId,
      usecase_key: 'line-crossing',
      channel_name: name,
    },
  })
  return { device_id: deviceId, channel_id: channelId }
}

/** Returns how many objects have crossed the lines of a channel within the last hour. */
export async function countCrossings(console: Console, channelId: string): Promise<number> {
  const query = `usecase=line-crossing&usecase_meta_key=up,down&channel_id=${channelId}&frequency=-60m`
  const { response } = await console.get(`event/channel-stats?${query}`)
  const { up = 0, down = 0 } = statistics.parse(response).channel_stats
  return up + down
}

const statistics = z.object({
  channel_stats: z.object({ up: z.number().optional(), down: z.number().optional() }),
})
