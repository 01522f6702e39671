import assert from 'node:assert/strict'
import { z } from 'zod'
import { DEMO } from '../../scene/demo.ts'
import { renderTestScene } from '../fixtures/media/rendered-scene.ts'
import { addCamera, countCrossings, createSite, startCamera } from './cameras.ts'
import { signIn } from './console.ts'
import { createStack } from './stack.ts'
import { waitUntil } from './wait-until.ts'

const OVERRIDE = 'compose.yaml:appliance/docker/engines.yaml'
const ENGINES = 3
const ONLINE = 1
const SCENE_S = 12

const overview = z.object({
  engines: z.array(
    z.object({
      engine_id: z.string(),
      engine_name: z.string(),
      engine_status: z.number(),
      engine_reason: z.string(),
    }),
  ),
  sources: z.array(
    z.object({
      source_id: z.string(),
      engine_id: z.string(),
      channels: z.array(z.object({ channel_id: z.string(), is_active: z.boolean() })),
    }),
  ),
})

/**
 * Starts three engines with `--scale engine=3`, which join by their token, and stops the one that
 * runs a camera: another goes on counting.
 */
export async function runSeveralEngines(version: string): Promise<string> {
  const scene = await renderTestScene({ seconds: SCENE_S })
  const stack = await createStack({
    version,
    variables: { COMPOSE_FILE: OVERRIDE, EYRIE_CHANNELS: '4' },
  })
  try {
    await stack.compose('up', '--detach', '--no-build', '--scale', `engine=${ENGINES}`)
    const console = await signIn(stack)
    const readOverview = async () =>
      overview.parse((await console.get('placement/overview')).response)
    const [firstJoined] = await waitUntil('engines that have joined', async () => {
      const { engines } = await readOverview()
      assert.deepEqual(engines.map(isOnline), Array(ENGINES).fill(true), JSON.stringify(engines))
      return engines
    })
    const levels = await readIsolation()

    await startCamera(stack, {
      mount: `type=bind,source=${scene.folder},target=/videos,readonly`,
      video: `/videos/scene-${DEMO.seed}.mp4`,
    })
    const siteId = await createSite(console)
    await console.post('placement/update-site', { site_id: siteId, site_placement: 'automatic' })
    const { engine_id } = firstJoined!
    const { channel_id: channelId } = await addCamera(console, {
      site_id: siteId,
      engine_id,
      name: 'Entrance',
    })
    const untilCounted = (more: number) =>
      waitUntil('count', async () => {
        const count = await countCrossings(console, channelId)
        assert(count > more, `${count} crossings`)
        return count
      })
    const counted = await untilCounted(0)

    // Management may have chosen another engine for the new camera.
    const readEngine = async () => {
      const { engines, sources } = await readOverview()
      const [source] = sources
      const engine = engines.find(engine => engine.engine_id === source?.engine_id)
      assert(source && engine, JSON.stringify(sources))
      return { ...engine, isActive: source.channels.every(({ is_active }) => is_active) }
    }
    const first = await readEngine()
    await stack.docker('stop', '--time', '10', await findReplica(first.engine_name))
    const stoppedAt = performance.now()
    await waitUntil('move of the camera', async () => {
      const engine = await readEngine()
      assert(engine.engine_id !== first.engine_id && engine.isActive, JSON.stringify(engine))
    })
    const movedS = (performance.now() - stoppedAt) / 1000
    await untilCounted(Math.max(counted, await countCrossings(console, channelId)))
    return `joined (${levels}); moved ${movedS.toFixed(0)} s after the end of its engine, and counts go on`
  } catch (error) {
    process.stdout.write(await stack.compose('logs', '--no-color', '--tail', '60').catch(String))
    throw error
  } finally {
    await stack.remove()
  }

  /** An engine has the name of its machine, which is the id of its container. */
  async function findReplica(engineName: string): Promise<string> {
    const ids = (await stack.compose('ps', '--quiet', 'engine')).trim().split('\n')
    const found = ids.find(id => id.startsWith(engineName))
    assert(found, `no container of ${engineName} in ${ids}`)
    return found
  }

  async function readIsolation(): Promise<string> {
    const printed = await stack.compose(
      ...['exec', '-T', 'engine', 'node', '-e'],
      'fetch("http://127.0.0.1:8100/health").then(r => r.text()).then(console.log)',
    )
    return z.looseObject({ isolation: z.object({ level: z.string() }) }).parse(JSON.parse(printed))
      .isolation.level
  }
}

const isOnline = ({ engine_status }: { engine_status: number }) => engine_status === ONLINE
