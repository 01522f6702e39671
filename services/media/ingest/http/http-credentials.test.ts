// @module-tag long

import { readFileSync } from 'node:fs'
import type { AddressObject, DesiredSource } from '@eyrie/contract'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startHttpCamera } from '../../../../test/fixtures/cameras/http-camera.ts'
import {
  connectControl,
  createDesiredSource,
  createViewSpec,
} from '../../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { createCertificate } from '../../../../test/fixtures/network/certificate.ts'
import { startMediaProcess } from '../../../../test/fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'

const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const camera = (address: AddressObject, more: Partial<DesiredSource> = {}) =>
  createDesiredSource({ id: 1, type: 'video', address, views, ...more })
const isLost = ({ state }: { state: string }) => state === 'reconnecting'
const isRunning = ({ state }: { state: string }) => state === 'running'

describe('credentials for HTTP cameras', () => {
  const user = 'view er'
  const password = 'p%40ss:"word'

  it.each(['basic', 'digest'] as const)(
    'are accepted in separate fields and in the URL with %s authentication',
    async scheme => {
      const { url } = await startHttpCamera({ login: { scheme, user, password } })
      const media = await serveMedia()
      const control = await media.connectControl()
      const withCredentials = url('/live.mp4').replace(
        '//',
        `//${encodeURIComponent(user)}:${encodeURIComponent(password)}@`,
      )
      await control.apply(
        camera({ url: url('/live.mp4'), username: user, password }),
        camera({ url: withCredentials }, { id: 2 }),
      )
      await control.waitForStatus(1, isRunning)
      await control.waitForStatus(2, isRunning)
    },
  )

  it('include a token, which is sent as a bearer token', async () => {
    const token = 'eyJhbGciOi"J9\\.e30=-_~+/'
    const { url, requests } = await startHttpCamera({ token })
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(camera({ url: url('/live.mp4'), token }))
    await control.waitForStatus(1, isRunning)
    expect(requests.every(({ authorization }) => authorization === `Bearer ${token}`)).toBe(true)
  })

  it('appear neither in reasons nor in logs when they are rejected', async () => {
    const digestCamera = await startHttpCamera({
      login: { scheme: 'digest', user: 'viewer', password: 'secret' },
    })
    const tokenCamera = await startHttpCamera({ token: 'secret' })
    const media = await startMediaProcess({ EYRIE_LOG_LEVEL: 'debug' })
    onTestFinished(() => media.stop())
    const control = await connectControl(media.url)
    const path = '/live.mp4?pwd=xyzzy-query'
    await control.apply(
      camera({ url: digestCamera.url(path), username: 'viewer', password: 'xyzzy-field' }),
      camera({ url: digestCamera.url(path).replace('//', '//viewer:xyzzy-url@') }, { id: 2 }),
      camera({ url: tokenCamera.url(path), token: 'xyzzy-token' }, { id: 3 }),
    )
    const reasons = [1, 2, 3].map(async id => (await control.waitForStatus(id, isLost)).reason)
    expect(await Promise.all(reasons)).toEqual([
      expect.stringContaining('rejects the user name or password'),
      expect.stringContaining('rejects the user name or password'),
      expect.stringContaining('rejects the token'),
    ])
    const streams = await fetch(`${media.url}/streams`)
    const processes = readFileSync(`/proc/${media.pid}/cmdline`, 'utf8')
    const output = [
      ...media.lines,
      JSON.stringify(control.messages),
      await streams.text(),
      processes,
    ]
    expect(output.join('\n')).not.toContain('xyzzy')
  })
})

describe('certificate of an HTTPS camera', () => {
  it('must be trusted unless tls_insecure is set', async () => {
    const { key, cert } = createCertificate(createTemporaryFolder())
    const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
    const strict = await startHttpCamera({ tls })
    const lenient = await startHttpCamera({ tls })
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(
      camera({ url: strict.url('/live.mp4') }),
      camera({ url: lenient.url('/live.mp4'), tls_insecure: true }, { id: 2 }),
    )
    expect((await control.waitForStatus(1, isLost)).reason).toMatch(
      /presents an untrusted certificate \(.+\): install a valid one, or set tls_insecure/,
    )
    await control.waitForStatus(2, isRunning)
  })

  it('is reported as missing if the camera does not support TLS', async () => {
    const { url } = await startHttpCamera()
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(camera({ url: url('/live.mp4').replace('http:', 'https:') }))
    expect((await control.waitForStatus(1, isLost)).reason).toContain(
      'does not support TLS: use http instead of https',
    )
  })
})
