import type { AddressObject } from '@eyrie/contract'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../../../../test/fixtures/certificate.ts'
import { view, wantSource } from '../../../../test/fixtures/control.ts'
import { startRtspCamera } from '../../../../test/fixtures/rtsp-camera.ts'
import { serveMedia } from '../../../../test/fixtures/serve-media.ts'
import { temporaryFolder } from '../../../../test/fixtures/temporary.ts'
import { Pipeline } from '../../node-gst/index.ts'
import { openRtsp } from './rtsp-origin.ts'

const views = { grey: view({ format: 'GRAY8', width: 64 }) }
const camera = (address: AddressObject, id = 1) => wantSource({ id, type: 'video', address, views })
const isLost = ({ state }: { state: string }) => state === 'reconnecting'

describe('the transport of an RTSP camera', () => {
  test.each([
    ['tcp', 'udp'],
    ['udp', 'tcp'],
  ] as const)('is %s where the camera offers no other, unless %s is asked for', async (offered, other) => {
    const { url } = await startRtspCamera({ transport: offered })
    const media = await serveMedia()
    const control = await media.control()
    await control.apply(
      camera({ url, transport: offered }, 1),
      camera({ url, transport: 'auto' }, 2),
      camera({ url }, 3),
      camera({ url, transport: other }, 4),
    )
    for (const id of [1, 2, 3]) await control.message('frame', ({ source }) => source === id)
    const { reason } = await control.status(4, isLost)
    expect(reason).toBe(`${url} does not offer the transport ${other}: choose auto, or another one`)
  })
})

describe('the latency of an RTSP camera', () => {
  test.each([
    [undefined, 200],
    [0, 0],
    [1500, 1500],
  ])('of %s is set to %s ms', async (latency_ms, applied) => {
    const address = { url: 'rtsp://127.0.0.1/camera', ...(latency_ms !== undefined && { latency_ms }) }
    const { elements, configure } = openRtsp(address, new AbortController().signal)
    const pipeline = new Pipeline(`${elements.h264} ! fakesink`, () => {})
    onTestFinished(() => pipeline.dispose())
    configure(pipeline)
    expect(pipeline.get('origin', 'latency')).toBe(applied)
  })
})

describe('the certificate of an RTSP camera', () => {
  test('has to be trusted, unless that is not asked for', async () => {
    const tls = makeCertificate(temporaryFolder())
    const [strict, lenient] = [await startRtspCamera({ tls }), await startRtspCamera({ tls })]
    const media = await serveMedia()
    const control = await media.control()
    await control.apply(camera({ url: strict.url }), camera({ url: lenient.url, tls_insecure: true }, 2))
    await control.message('frame', ({ source }) => source === 2)
    expect((await control.status(1, isLost)).reason).toMatch(
      /shows a certificate that is not to be trusted \(.+\): give it a valid one, or set tls_insecure/,
    )
  })
})
