import type { AddressObject } from '@eyrie/contract'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startRtspCamera } from '../../../../test/fixtures/cameras/rtsp-camera.ts'
import {
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { createCertificate } from '../../../../test/fixtures/network/certificate.ts'
import { cameraEgress } from '../../../../test/fixtures/network/local-egress.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { Pipeline } from '../../node-gst/index.ts'
import { openRtsp } from './rtsp-origin.ts'

const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const camera = (address: AddressObject, id = 1) =>
  createDesiredSource({ id, type: 'video', address, views })
const isLost = ({ state }: { state: string }) => state === 'reconnecting'

describe('transport of an RTSP camera', () => {
  it.each([
    ['tcp', 'udp'],
    ['udp', 'tcp'],
  ] as const)(
    'is %s if the camera offers no other, and fails if %s is configured',
    async (offered, other) => {
      const { url } = await startRtspCamera({ transport: offered })
      const media = await serveMedia()
      const control = await media.connectControl()
      await control.apply(
        camera({ url, transport: offered }, 1),
        camera({ url, transport: 'auto' }, 2),
        camera({ url }, 3),
        camera({ url, transport: other }, 4),
      )
      for (const id of [1, 2, 3]) await control.message('frame', ({ source }) => source === id)
      const { reason } = await control.waitForStatus(4, isLost)
      expect(reason).toBe(
        `${url} does not offer the transport ${other}: set transport to auto or another value`,
      )
    },
  )
})

describe('latency of an RTSP camera', () => {
  it.each([
    [undefined, 200],
    [0, 0],
    [1500, 1500],
  ])('of %s is set to %s ms', async (latencyMs, applied) => {
    const address = {
      url: 'rtsp://127.0.0.1/camera',
      ...(latencyMs !== undefined && { latency_ms: latencyMs }),
    }
    const { elements, configure } = await openRtsp(address, {
      egress: cameraEgress,
      signal: new AbortController().signal,
    })
    const pipeline = new Pipeline(`${elements.h264} ! fakesink`, () => {})
    onTestFinished(() => pipeline.dispose())
    configure(pipeline)
    expect(pipeline.get('origin', 'latency')).toBe(applied)
  })
})

describe('certificate of an RTSP camera', () => {
  it('must be trusted unless tls_insecure is set', async () => {
    const tls = createCertificate(createTemporaryFolder())
    const strict = await startRtspCamera({ tls })
    const lenient = await startRtspCamera({ tls })
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(
      camera({ url: strict.url }),
      camera({ url: lenient.url, tls_insecure: true }, 2),
    )
    await control.message('frame', ({ source }) => source === 2)
    expect((await control.waitForStatus(1, isLost)).reason).toMatch(
      /presents an untrusted certificate \(.+\): install a valid one, or set tls_insecure/,
    )
  })
})
