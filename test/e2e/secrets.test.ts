import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startRtspCamera } from '../fixtures/cameras/rtsp-camera.ts'
import { connectControl, createDesiredSource } from '../fixtures/media/control-client.ts'
import { makeVideo } from '../fixtures/media/test-video.ts'
import { startAppliance } from '../fixtures/processes/appliance.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { findChildPid, findServicePid, readCommandLines } from '../fixtures/processes/processes.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { webrtcWorker, webrtcWorkerRequirement } from '../fixtures/requirements/webrtc-worker.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const secrets = {
  EYRIE_INTERNAL_TOKEN: 'between-the-services',
  EYRIE_ENGINE_TOKENS: 'of-the-engine',
  EYRIE_SCHEDULER_TOKEN: 'of-the-scheduler',
  EYRIE_ADMIN_PASSWORD: 'of-the-first-user',
  DATABASE_URL: 'postgres://eyrie:of-the-database@127.0.0.1/eyrie',
}

function readIfPermitted(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** The SDP offer of a browser, reduced to the parts that media reads. */
const offer = [
  ...['v=0', 'o=- 1 2 IN IP4 127.0.0.1', 's=-', 't=0 0'],
  ...['a=ice-ufrag:abcd', 'a=ice-pwd:0123456789012345678901', 'a=setup:actpass'],
  `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`,
  ...['m=video 9 UDP/TLS/RTP/SAVPF 109', 'a=mid:0', 'a=recvonly', 'a=rtpmap:109 H264/90000'],
  'a=fmtp:109 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f',
  '',
].join('\r\n')

test('the environment of a worker contains no secrets of its service', {
  ...needs(webrtcWorkerRequirement),
  timeout: 120_000,
}, async () => {
  const folder = createTemporaryFolder()
  const url = join(folder, 'clip.mp4')
  makeVideo(url, { frames: 60 })
  const media = await startMediaProcess({
    ...secrets,
    EYRIE_MEDIA_ROOTS: folder,
    MEDIASOUP_WORKER_BIN: webrtcWorker!,
  })
  try {
    const control = await connectControl(media.url, secrets.EYRIE_INTERNAL_TOKEN)
    await control.apply(createDesiredSource({ id: 1, type: 'inf', url }))
    const requestWhep = () =>
      fetch(`${media.url}/streams/1/whep`, {
        method: 'POST',
        headers: {
          'content-type': 'application/sdp',
          authorization: `Bearer ${secrets.EYRIE_INTERNAL_TOKEN}`,
        },
        body: offer,
      })
    await vi.waitUntil(async () => (await requestWhep()).status === 201)
    const environment = readFileSync(
      `/proc/${findChildPid(media.pid, 'mediasoup-worker')}/environ`,
      'utf8',
    )
    // Other variables are passed on: the worker may need the path to its libraries.
    expect(environment).toContain(`PATH=${process.env.PATH}`)
    for (const secret of Object.values(secrets)) expect(environment).not.toContain(secret)
    control.close()
  } finally {
    await media.stop()
  }
})

test('no secret is in an environment, in process arguments or in logs, and each service receives its own', {
  timeout: 180_000,
}, async () => {
  const { DATABASE_URL: _, ...configured } = secrets
  const password = 'of-the-camera'
  const camera = await startRtspCamera({ login: { user: 'viewer', password } })
  const appliance = await startAppliance({
    source: camera.url.replace('//', `//viewer:${password}@`),
    environment: configured,
  })
  onTestFinished(appliance.remove)
  await appliance.waitForLine(/ready: open/)
  await appliance.waitForLine(/source state changed source=1 state=running/)
  for (const service of ['media', 'engine', 'management', 'scheduler'] as const) {
    const pid = findServicePid(appliance.data, service)
    // Root may read it; with other users, the kernel refuses.
    const environment = readIfPermitted(`/proc/${pid}/environ`)
    for (const secret of Object.values(configured)) expect(environment).not.toContain(secret)
    expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 /m)
  }

  const ask = async (url: string, token: string) =>
    (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status
  const engine = `${appliance.engineUrl}/api/v3/about`
  expect(await ask(engine, secrets.EYRIE_ENGINE_TOKENS)).toBe(200)
  expect(await ask(engine, secrets.EYRIE_INTERNAL_TOKEN)).toBe(401)
  expect(await ask(`${appliance.mediaUrl}/streams`, secrets.EYRIE_ENGINE_TOKENS)).toBe(200)
  expect(await ask(`${appliance.mediaUrl}/cameras/discover`, secrets.EYRIE_ENGINE_TOKENS)).toBe(401)

  const hidden = [...Object.values(configured), password]
  const processArguments = readCommandLines(appliance.data)
  for (const part of ['appliance', 'media', 'engine', 'management', 'scheduler']) {
    expect(processArguments).toContain(`/${part}/main.ts`)
  }
  await camera.kill()
  await appliance.waitForLine(
    /source state changed source=1 state=reconnecting reason=.*127\.0\.0\.1/,
  )
  const logFiles = readdirSync(join(appliance.data, 'log')).map(name =>
    join(appliance.data, 'log', name),
  )
  const logs = [...appliance.lines, ...logFiles.map(file => readFileSync(file, 'utf8'))].join('\n')
  expect(logs).toContain('source state changed source=1 state=running')
  for (const text of [processArguments, readCommandLines(appliance.data), logs]) {
    for (const secret of hidden) expect(text).not.toContain(secret)
  }
})
