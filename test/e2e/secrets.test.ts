import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startAppliance } from '../fixtures/appliance.ts'
import { connectControl, wantSource } from '../fixtures/control.ts'
import { startMedia } from '../fixtures/media.ts'
import { argumentsOf, childOf } from '../fixtures/processes.ts'
import { startRtspCamera } from '../fixtures/rtsp-camera.ts'
import { temporaryFolder } from '../fixtures/temporary.ts'
import { makeVideo } from '../fixtures/video.ts'
import { webrtcWorker, whyNoWorker } from '../fixtures/webrtc-worker.ts'

const secrets = {
  EYRIE_INTERNAL_TOKEN: 'between-the-services',
  EYRIE_ENGINE_TOKENS: 'of-the-engine',
  EYRIE_ADMIN_PASSWORD: 'of-the-first-user',
  DATABASE_URL: 'postgres://eyrie:of-the-database@127.0.0.1/eyrie',
}

/** As a browser writes it, shortened to what is read. */
const offer = [
  ...['v=0', 'o=- 1 2 IN IP4 127.0.0.1', 's=-', 't=0 0'],
  ...['a=ice-ufrag:abcd', 'a=ice-pwd:0123456789012345678901', 'a=setup:actpass'],
  `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`,
  ...['m=video 9 UDP/TLS/RTP/SAVPF 109', 'a=mid:0', 'a=recvonly', 'a=rtpmap:109 H264/90000'],
  'a=fmtp:109 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f',
  '',
].join('\r\n')

test.skipIf(whyNoWorker)(
  'a process that a service starts finds none of its secrets',
  {
    timeout: 120_000,
  },
  async () => {
    const folder = temporaryFolder()
    const url = join(folder, 'clip.mp4')
    makeVideo(url, { frames: 60 })
    const media = await startMedia({
      ...secrets,
      EYRIE_MEDIA_ROOTS: folder,
      MEDIASOUP_WORKER_BIN: webrtcWorker!,
    })
    try {
      const control = await connectControl(media.url, secrets.EYRIE_INTERNAL_TOKEN)
      await control.apply(wantSource({ id: 1, type: 'inf', url }))
      const watch = () =>
        fetch(`${media.url}/streams/1/whep`, {
          method: 'POST',
          headers: {
            'content-type': 'application/sdp',
            authorization: `Bearer ${secrets.EYRIE_INTERNAL_TOKEN}`,
          },
          body: offer,
        })
      await vi.waitUntil(async () => (await watch()).status === 201, 30_000)
      const environment = readFileSync(`/proc/${childOf(media.pid, 'mediasoup-worker')}/environ`, 'utf8')
      // What is no secret is handed on: the worker may need the way to its libraries.
      expect(environment).toContain(`PATH=${process.env.PATH}`)
      for (const secret of Object.values(secrets)) expect(environment).not.toContain(secret)
      control.close()
    } finally {
      await media.stop()
    }
  },
)

test('the password of a camera in SOURCE shows in no line and in no list of processes', {
  timeout: 120_000,
}, async () => {
  const password = 'of-the-camera'
  const camera = await startRtspCamera({ login: { user: 'viewer', password } })
  const appliance = await startAppliance({ source: camera.url.replace('//', `//viewer:${password}@`) })
  onTestFinished(appliance.remove)
  await appliance.printed(/ready: open/)
  await appliance.printed(/source state changed source=1 state=running/)
  const started = argumentsOf(appliance.data)
  for (const part of ['supervisor', 'media', 'engine', 'management'])
    expect(started).toContain(`/${part}/main.ts`)
  await camera.kill()
  await appliance.printed(/source state changed source=1 state=reconnecting reason=.*127\.0\.0\.1/)
  const kept = readdirSync(join(appliance.data, 'log')).map(name => join(appliance.data, 'log', name))
  const told = [...appliance.lines, ...kept.map(file => readFileSync(file, 'utf8'))].join('\n')
  expect(told).toContain('source state changed source=1 state=running')
  for (const text of [started, argumentsOf(appliance.data), told]) expect(text).not.toContain(password)
})
