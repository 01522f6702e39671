import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { release } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { workerExecutablePaths } from '../../services/media/webrtc/worker/worker-executable.ts'
import { startForwardProxy } from '../../test/fixtures/network/forward-proxy.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { createServiceLog } from '../process/service-log.ts'
import { obtainWorker } from './obtain-worker.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const script = join(import.meta.dirname, 'obtain.sh')

/**
 * Copies the script and the files that it needs. `checksums` are the hashes of releases. Returns
 * the path of the script.
 */
function copyScript(checksums: string): string {
  const root = createTemporaryFolder()
  const folder = join(root, 'appliance/mediasoup-worker')
  cpSync(import.meta.dirname, folder, { recursive: true })
  cpSync(join(ROOT, 'appliance/setup'), join(root, 'appliance/setup'), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(root, 'package.json'))
  for (const name of ['node_modules', '.toolchain']) symlinkSync(join(ROOT, name), join(root, name))
  writeFileSync(join(folder, 'checksums.txt'), checksums)
  return join(folder, 'obtain.sh')
}

/** Writes executable shell scripts, by name, to a folder for PATH. */
function writePrograms(programs: Record<string, string>): string {
  const bin = createTemporaryFolder()
  for (const [name, body] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  }
  return bin
}

/**
 * A mirror of mediasoup's releases. Its worker is a script that exits with this status; undefined:
 * it has no release. `hash` is the hash of the release.
 */
async function serveReleases(status: number | undefined, worker = `exit ${status}`) {
  const folder = writePrograms({ 'mediasoup-worker': worker })
  execFileSync('tar', ['-czf', 'worker.tgz', 'mediasoup-worker'], { cwd: folder })
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, 'worker.tgz')))
    .digest('hex')
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url!)
    if (status === undefined) response.writeHead(404).end()
    else response.end(readFileSync(join(folder, 'worker.tgz')))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { requests, hash, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Programs of a machine without any Debian package. */
const bareMachine = { 'dpkg-query': 'exit 1' }

const createEnvironment = (releases: string, programs: Record<string, string> = bareMachine) => ({
  PATH: `${writePrograms(programs)}:${process.env.PATH}`,
  MEDIASOUP_WORKER_PREBUILT_DOWNLOAD_BASE_URL: releases,
})

const readState = (folder: string) =>
  existsSync(join(folder, 'state')) ? readFileSync(join(folder, 'state'), 'utf8') : ''

async function runScript(
  folder: string,
  releases: string,
  program = script,
  variables: NodeJS.ProcessEnv = {},
) {
  const env = { ...createEnvironment(releases), ...variables }
  const child = spawn(program, [folder], { env, stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  return { code, state: readState(folder) }
}

const silentLog = createServiceLog([])
const running = () => new AbortController().signal

/** The line of checksums.txt for the release that this machine downloads. */
function toChecksum(hash: string): string {
  const kernel = release().split('.')[0]
  return `${hash}  ${basename(getExpectedPath(''))}-kernel${kernel}.tgz\n`
}

/** The path at which media expects the worker in this data folder. */
const getExpectedPath = (data: string) => workerExecutablePaths(data)[1]!

describe('obtain.sh', () => {
  it('downloads the worker once, to the path at which media expects it', async () => {
    const data = createTemporaryFolder()
    const releases = await serveReleases(41)
    const folder = join(data, 'mediasoup-worker')
    const verified = copyScript(toChecksum(releases.hash))
    expect(await runScript(folder, releases.url, verified)).toMatchObject({ code: 0 })
    expect(spawnSync(getExpectedPath(data)).status).toBe(41)
    expect(releases.requests).toEqual([
      expect.stringMatching(/^\/3\.\d+\.\d+\/mediasoup-worker-3\..*-linux-.*-kernel\d+\.tgz$/),
    ])

    expect(await runScript(folder, releases.url, verified)).toEqual({ code: 0, state: '' })
    expect(releases.requests).toHaveLength(1)
  })

  it('downloads the worker through the proxy in http_proxy', async () => {
    const folder = createTemporaryFolder()
    const releases = await serveReleases(41)
    const proxy = await startForwardProxy(Number(new URL(releases.url).port))
    const verified = copyScript(toChecksum(releases.hash))
    const variables = { http_proxy: proxy.url, no_proxy: '' }
    const { code } = await runScript(folder, 'http://releases.invalid', verified, variables)
    expect(code).toBe(0)
    expect(proxy.requested).toEqual(['releases.invalid:80'])
    expect(releases.requests).toHaveLength(1)
  })

  it.each([
    ['differs from its hash', toChecksum('0'.repeat(64)), 1],
    ['has no hash', '', 0],
    [
      'has the hash of another version',
      toChecksum('0'.repeat(64)).replace('worker-3.', 'worker-2.'),
      0,
    ],
  ])('never runs a release that %s', async (_, checksums, requests) => {
    const data = createTemporaryFolder()
    const evidence = join(data, 'evidence')
    const releases = await serveReleases(41, `touch '${evidence}'; exit 41`)
    const { code, state } = await runScript(
      join(data, 'worker'),
      releases.url,
      copyScript(checksums),
    )
    expect(code).toBe(1)
    expect(state).toMatch(/^no verified download, and the build requires .*meson.*make worker/)
    expect(releases.requests).toHaveLength(requests)
    expect(existsSync(evidence)).toBe(false)
  })

  it.each([
    ['does not exist', undefined],
    ['does not run on this machine', 127],
  ])('lists the packages for a build if the release %s', async (_, status) => {
    const data = createTemporaryFolder()
    const folder = join(data, 'mediasoup-worker')
    const releases = await serveReleases(status)
    const { code, state } = await runScript(
      folder,
      releases.url,
      copyScript(toChecksum(releases.hash)),
    )
    expect(code).toBe(1)
    expect(state).toMatch(/apt-get install .*meson.*make worker/)
    expect(existsSync(getExpectedPath(data))).toBe(false)
    expect(readdirSync(folder).toSorted()).toEqual(['lock', 'log', 'state'])
  })

  it('does nothing while another process obtains the worker', async () => {
    const folder = join(createTemporaryFolder(), 'mediasoup-worker')
    mkdirSync(folder)
    const other = spawn('flock', [join(folder, 'lock'), 'cat'], {
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    onTestFinished(() => void other.kill())
    const isLocked = () => spawnSync('flock', ['-n', join(folder, 'lock'), 'true']).status === 1
    await expect.poll(isLocked).toBe(true)
    const releases = await serveReleases(41)
    const program = copyScript(toChecksum(releases.hash))
    expect(await runScript(folder, releases.url, program)).toEqual({ code: 0, state: '' })
    expect(releases.requests).toEqual([])
  })
})

describe('obtainWorker', () => {
  /**
   * Programs of a machine with all packages, on which Ninja records its scheduling instead
   * of running compilers.
   */
  const buildMachine = (record: string) => ({
    'dpkg-query': 'echo installed',
    ninja: `
      { chrt -p $$; ionice -p $$; cat /proc/self/autogroup; } >'${record}' 2>&1
      printf '#!/bin/sh\\nexit 41\\n' >"$2/mediasoup-worker"`,
    strip: 'exit 0',
  })

  /**
   * Prepares a build that was interrupted: copying the sources would take long on a busy machine.
   */
  function prepareBuild(data: string): string {
    const folder = join(data, 'mediasoup-worker')
    const [, version] = /-(\d[^-]*)-/.exec(basename(getExpectedPath(data)))!
    const build = join(folder, `work-${version}`, 'build')
    mkdirSync(build, { recursive: true })
    writeFileSync(join(build, 'build.ninja'), '')
    return folder
  }

  it('builds the worker with idle scheduling, so that analysis is not slowed down', async () => {
    const data = createTemporaryFolder()
    const folder = prepareBuild(data)
    const record = join(data, 'scheduling')
    const environment = createEnvironment(
      (await serveReleases(undefined)).url,
      buildMachine(record),
    )
    await obtainWorker(environment, silentLog, running(), folder)
    expect(readState(folder)).toBe('build complete\n')
    expect(spawnSync(getExpectedPath(data)).status).toBe(41)
    const scheduling = readFileSync(record, 'utf8')
    expect(scheduling).toContain('SCHED_IDLE')
    expect(scheduling).toMatch(/^idle/m)
    if (existsSync('/proc/self/autogroup')) expect(scheduling).toMatch(/autogroup-\d+ nice 19$/m)
  }, 180_000)

  it('does nothing if MEDIASOUP_WORKER_BIN names a worker', async () => {
    const folder = join(createTemporaryFolder(), 'mediasoup-worker')
    const releases = await serveReleases(41)
    const environment = {
      ...createEnvironment(releases.url),
      MEDIASOUP_WORKER_BIN: '/opt/mediasoup-worker',
    }
    await obtainWorker(environment, silentLog, running(), folder)
    expect(existsSync(folder)).toBe(false)
    expect(releases.requests).toEqual([])
  })

  it('stops with the appliance, together with its child processes', async () => {
    const data = createTemporaryFolder()
    const folder = prepareBuild(data)
    const started = join(data, 'started')
    const programs = {
      ...buildMachine('/dev/null'),
      ninja: `touch '${started}'; exec tail -f /dev/null`,
    }
    const stop = new AbortController()
    const environment = createEnvironment('http://127.0.0.1:9', programs)
    const done = obtainWorker(environment, silentLog, stop.signal, folder)
    await expect.poll(() => existsSync(started)).toBe(true)
    stop.abort()
    await done
    const isUnlocked = () => spawnSync('flock', ['-n', join(folder, 'lock'), 'true']).status === 0
    await expect.poll(isUnlocked).toBe(true)
  }, 180_000)

  it('logs that its process cannot be started, and does not reject', async () => {
    const { execPath } = process
    onTestFinished(() => {
      process.execPath = execPath
    })
    process.execPath = join(createTemporaryFolder(), 'node')
    const messages: string[] = []
    const log = createServiceLog([({ msg, err }) => messages.push(`${msg}: ${err?.message}`)])
    await obtainWorker({}, log, running())
    expect(messages).toEqual([expect.stringMatching(/^failed to start process: .*ENOENT/)])
  })
})
