import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { workerExecutables } from '../../services/media/webrtc/worker/worker-executable.ts'
import { temporaryFolder } from '../../test/fixtures/temporary.ts'
import { createConsole } from '../supervisor/console.ts'
import { obtainWorker } from './obtaining.ts'

const script = join(import.meta.dirname, 'obtain.sh')

/** A mirror of mediasoup's releases, with a worker that ends with this status when it is started to be tried. */
async function serveReleases(status: number | undefined) {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'mediasoup-worker'), `#!/bin/sh\nexit ${status}\n`, { mode: 0o755 })
  execFileSync('tar', ['-czf', 'worker.tgz', 'mediasoup-worker'], { cwd: folder })
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    if (status === undefined) response.writeHead(404).end()
    else response.end(readFileSync(join(folder, 'worker.tgz')))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** A machine on which no Debian package is installed, as far as dpkg says. */
function bareMachine(): string {
  const bin = temporaryFolder()
  writeFileSync(join(bin, 'dpkg-query'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  return bin
}

async function obtain(folder: string, releases: string) {
  const child = spawn(script, [folder], {
    env: {
      PATH: `${bareMachine()}:${process.env.PATH}`,
      MEDIASOUP_WORKER_PREBUILT_DOWNLOAD_BASE_URL: releases,
    },
    stdio: 'ignore',
  })
  const [code] = await once(child, 'exit')
  return { code, state: existsSync(join(folder, 'state')) ? readFileSync(join(folder, 'state'), 'utf8') : '' }
}

/** Where media looks for it, when `data` is the data folder. */
const lookedFor = (data: string) => workerExecutables(data)[1]!

test('a worker that can be downloaded lies where media looks for it, and is downloaded once', async () => {
  const data = temporaryFolder()
  const releases = await serveReleases(41)
  const folder = join(data, 'mediasoup-worker')
  expect(await obtain(folder, releases.url)).toMatchObject({ code: 0 })
  expect(spawnSync(lookedFor(data)).status).toBe(41)
  expect(releases.asked).toEqual([
    expect.stringMatching(/^\/3\.\d+\.\d+\/mediasoup-worker-3\..*-linux-.*-kernel\d+\.tgz$/),
  ])

  expect(await obtain(folder, releases.url)).toEqual({ code: 0, state: '' })
  expect(releases.asked).toHaveLength(1)
})

test.each([
  ['is not there', undefined],
  ['does not run on this machine', 127],
])('where a download %s, the state says what building it needs', async (_, status) => {
  const data = temporaryFolder()
  const folder = join(data, 'mediasoup-worker')
  const { code, state } = await obtain(folder, (await serveReleases(status)).url)
  expect(code).toBe(1)
  expect(state).toMatch(/apt-get install .*meson.*make worker/)
  expect(existsSync(lookedFor(data))).toBe(false)
  expect(readdirSync(folder).toSorted()).toEqual(['lock', 'log', 'state'])
})

test('what another has begun is left to him', async () => {
  const folder = join(temporaryFolder(), 'mediasoup-worker')
  mkdirSync(folder)
  const other = spawn('flock', [join(folder, 'lock'), 'cat'], { stdio: ['pipe', 'ignore', 'inherit'] })
  onTestFinished(() => void other.kill())
  const isTaken = () => spawnSync('flock', ['-n', join(folder, 'lock'), 'true']).status === 1
  await expect.poll(isTaken).toBe(true)
  const releases = await serveReleases(41)
  expect(await obtain(folder, releases.url)).toEqual({ code: 0, state: '' })
  expect(releases.asked).toEqual([])
})

test('ends with the appliance, and with all that it has started', async () => {
  const folder = join(temporaryFolder(), 'mediasoup-worker')
  const server = createServer(() => stop.abort()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const stop = new AbortController()
  const environment = {
    PATH: process.env.PATH,
    MEDIASOUP_WORKER_PREBUILT_DOWNLOAD_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
  await obtainWorker(environment, createConsole([]), stop.signal, folder)
  const isFree = () => spawnSync('flock', ['-n', join(folder, 'lock'), 'true']).status === 0
  await expect.poll(isFree).toBe(true)
})

test('that it cannot be started is told, and ends nothing else', async () => {
  const { execPath } = process
  onTestFinished(() => {
    process.execPath = execPath
  })
  process.execPath = join(temporaryFolder(), 'node')
  const told: string[] = []
  await obtainWorker({}, createConsole([({ msg }) => told.push(msg)]), new AbortController().signal)
  expect(told).toEqual([expect.stringMatching(/^cannot be started: .*ENOENT/)])
})
