import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { startHttpCamera } from '../fixtures/cameras/http-camera.ts'
import { createEngineClient, readDurableMessages } from '../fixtures/engine/engine-client.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import type { Appliance } from '../fixtures/processes/appliance.ts'

// The attacker controls a camera, or may enter the address of one.

/**
 * Starts a server that only this machine can reach, as a service without authentication would be.
 */
async function startInnerService() {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/inner` }
}

/**
 * Makes these addresses sources of the appliance together with one that works. Resolves with the
 * reason why each has no picture.
 */
async function connect(appliance: Appliance, addresses: string[]): Promise<string[]> {
  const engine = createEngineClient(appliance)
  const { pipelines } = await engine.deploy([
    { sources: [{ type: 'inf', address: SMALL_PICTURE }], elements: [{ name: 'motion' }] },
    ...addresses.map(address => ({
      sources: [{ type: 'video' as const, address, decoder: 'gst' as const }],
      elements: [{ name: 'motion' }],
    })),
  ])
  const [working, ...hostile] = pipelines.map(({ id }) => id)
  return vi.waitFor(async () => {
    expect((await engine.pipelineStatistics(working!)).fps).toBeGreaterThan(0)
    const states = (await readDurableMessages(engine)).filter(({ kind }) => kind === 'state')
    const reasons = hostile.map(id =>
      states.findLast(({ pipeline, data }) => pipeline === id && 'reason' in data),
    )
    return reasons.map(message => z.object({ reason: z.string() }).parse(message?.data).reason)
  })
}

export const attackByCamera = (appliance: Appliance) =>
  it('a hostile camera leads media neither to services of the machine nor to other servers', {
    timeout: 240_000,
  }, async () => {
    const inner = await startInnerService()
    const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${inner.url}\n#EXT-X-ENDLIST\n`
    const camera = await startHttpCamera({
      answers: {
        '/redirect': response => response.writeHead(302, { Location: inner.url }).end(),
        '/playlist': response =>
          response.setHeader('Content-Type', 'application/vnd.apple.mpegurl').end(playlist),
        '/noise': response =>
          response.setHeader('Content-Type', 'video/mp2t').end(Buffer.alloc(1 << 20, 0x47)),
      },
    })
    const reasons = await connect(appliance, [
      camera.url('/redirect'),
      camera.url('/playlist'),
      camera.url('/noise'),
      `${appliance.engineUrl}/api/v3/configuration`,
      `${appliance.mediaUrl.replace('127.0.0.1', '0x7f.1')}/streams/1`,
      'http://169.254.169.254/latest/meta-data/',
    ])
    expect(reasons).toEqual([
      expect.stringContaining('redirects to another address, which is not followed'),
      expect.stringContaining('manifest'),
      expect.any(String),
      expect.stringContaining('is a service of this appliance'),
      expect.stringContaining('is a service of this appliance'),
      expect.stringContaining('metadata address'),
    ])
    expect(inner.requests).toEqual([])
  })
