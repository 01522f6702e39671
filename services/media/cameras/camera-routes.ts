import { addressObject, EyrieError } from '@eyrie/contract'
import { type DiscoveredCamera, discoveryQuery } from '@eyrie/contract/camera'
import { parseAs } from '@eyrie/contract/parse'
import type { HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import type { Opening } from '../ingest/origin/origin.ts'
import { DISCOVERY_PORT, discover } from '../onvif/onvif-discovery.ts'
import { createCameraTest } from './test-camera.ts'

const DISCOVERY_MS = 3_000

/** Looks at cameras that are no sources (yet). */
export function cameraRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  { mediaRoots, clock }: Omit<Opening, 'signal'>,
): void {
  const test = createCameraTest({ mediaRoots, clock })

  app.post('/cameras/test', async c => {
    const body: unknown = await c.req.json().catch(() => undefined)
    return c.json(await test(parseAs(addressObject, body), c.req.raw.signal))
  })

  app.get('/cameras/discover', async c => {
    const { host } = parseAs(discoveryQuery, c.req.query())
    const [address = '', port] = host?.split(':') ?? []
    const found = await discover({
      host: host ? { address, port: Number(port ?? DISCOVERY_PORT) } : undefined,
      patienceMs: DISCOVERY_MS,
      clock,
      signal: c.req.raw.signal,
    }).catch(cause => {
      throw new EyrieError('unavailable', 'the search was broken off', { cause })
    })
    return c.json(found satisfies DiscoveredCamera[])
  })
}
