import { addressObject, EyrieError } from '@eyrie/contract'
import { type DiscoveredCamera, discoveryQuery } from '@eyrie/contract/camera'
import { parseAs } from '@eyrie/contract/parse'
import { EgressDeniedError } from '@eyrie/kit'
import { limitBodySize, parseJsonBody } from '@eyrie/kit/request-body'
import type { HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import type { OpenContext } from '../ingest/origin/origin.ts'
import { DISCOVERY_PORT, discover } from '../onvif/onvif-discovery.ts'
import { createCameraTest } from './test-camera.ts'

const MAX_BODY_BYTES = 64 << 10
/** Time to wait for answers of cameras. */
const DISCOVERY_MS = 3_000

/** Adds the routes that test and discover cameras, before they are configured as sources. */
export function cameraRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  context: Omit<OpenContext, 'signal'>,
): void {
  const { clock, egress } = context
  const testCamera = createCameraTest(context)

  app.post('/cameras/test', limitBodySize(MAX_BODY_BYTES), async c => {
    const address = await parseJsonBody(c, addressObject)
    return c.json(await testCamera(address, c.req.raw.signal))
  })

  app.get('/cameras/discover', async c => {
    const { host } = parseAs(discoveryQuery, c.req.query())
    const cameras = await discover({
      host: host ? parseHost(host) : undefined,
      durationMs: DISCOVERY_MS,
      clock,
      egress,
      signal: c.req.raw.signal,
    }).catch(cause => {
      if (cause instanceof EgressDeniedError) {
        throw new EyrieError('camera', cause.message, { cause })
      }
      throw new EyrieError('unavailable', 'the search was cancelled', { cause })
    })
    return c.json(cameras satisfies DiscoveredCamera[])
  })
}

/** Parses `address` or `address:port`. */
function parseHost(host: string): { address: string; port: number } {
  const [address = '', port] = host.split(':')
  return { address, port: Number(port ?? DISCOVERY_PORT) }
}
