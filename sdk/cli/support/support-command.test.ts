import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { manifest } from '@eyrie/contract'
import { listen } from '@eyrie/kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const secrets = {
  engine: 'engine-token-1',
  internal: 'internal-token-2',
  url: 'pass%2Fword-3',
  decoded: 'pass/word-3',
  long: 'long"password-4',
  camera: 'camera-token-5',
  variable: 'admin-password-6',
}

/** A secret that the appliance does not know, but that is in the position of one. */
const logged = 'passing-by-7'

/** The address of a service that is not running. */
const unreachable = 'http://127.0.0.1:9'
const environment = {
  EYRIE_MEDIA_URL: unreachable,
  EYRIE_MANAGEMENT_URL: unreachable,
  EYRIE_ADMIN_PASSWORD: secrets.variable,
}

/** Creates a data folder with secrets in every place that can contain them. */
function createDataWithSecrets(): string {
  const data = createTemporaryFolder()
  for (const folder of ['secrets', 'log']) mkdirSync(join(data, folder))
  writeFileSync(join(data, 'secrets/engine-token'), `${secrets.engine}\n`)
  writeFileSync(join(data, 'secrets/internal-token'), `${secrets.internal}\n`)
  const msg = `with ${Object.values(secrets).join(' and ')} or rtsp://other:${logged}@camera/`
  const record = {
    level: 50,
    time: '2026-01-02T03:04:05.000Z',
    service: 'media',
    msg,
    password: logged,
  }
  writeFileSync(join(data, 'log/eyrie.log'), `${JSON.stringify(record)}\n`)
  return data
}

/** Writes a bundle, and reads its files with the system's tar. */
async function writeBundle(data: string, url: string) {
  const file = join(data, 'bundle.tar.gz')
  const result = await runEyrieCommand(['support', '--output', file, '--url', url], {
    data,
    environment,
  })
  const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trim().split('\n')
  const read = (name: string) =>
    execFileSync('tar', ['-xzOf', file, '--wildcards', `*/${name}`], { encoding: 'utf8' })
  return {
    file,
    result,
    names: names.map(name => name.replace(/^eyrie-support-\d{14}\//, '')),
    read,
  }
}

async function startEngineWithCameras(data: string): Promise<string> {
  const { engine, call } = await startEngine(data)
  const server = await listen(engine, '127.0.0.1', 0)
  onTestFinished(async () => {
    await server.close()
    await engine.stop()
  })
  await call('POST', '/sources', {
    type: 'video',
    address: `rtsp://user:${secrets.url}@camera.invalid/`,
  })
  const address = {
    url: 'rtsp://camera.invalid/',
    username: 'u',
    password: secrets.long,
    token: secrets.camera,
  }
  await call('POST', '/sources', { type: 'video', address })
  return `http://127.0.0.1:${server.port}`
}

describe('support bundle', () => {
  it('contains the files that a bug report needs', async () => {
    const data = createDataWithSecrets()
    const { file, result, names, read } = await writeBundle(
      data,
      await startEngineWithCameras(data),
    )
    expect(result).toMatchObject({ code: 0, out: `wrote ${file}\n` })
    expect(names).toEqual(
      expect.arrayContaining([
        ...[
          'about',
          'activation',
          'catalog',
          'configuration',
          'consumers',
          'exports',
          'pipelines',
          'statistics',
        ].map(name => `engine/${name}.json`),
        ...['health/engine.json', 'log/eyrie.log', 'machine.json', 'models.json', 'missing.json'],
      ]),
    )
    expect(JSON.parse(read('engine/configuration.json')).sources).toHaveLength(2)
    expect(JSON.parse(read('health/engine.json'))).toMatchObject({
      ok: true,
      media: 'not connected',
    })
    expect(manifest.parse(JSON.parse(read('plugins/infer.json'))).name).toBe('infer')
    expect(JSON.parse(read('machine.json'))).toMatchObject({
      node: process.version,
      space: { [data]: { free: expect.any(Number) } },
    })
    expect(JSON.parse(read('log/eyrie.log'))).toMatchObject({ level: 50, service: 'media' })
  })

  it('contains no token and no password', async () => {
    const data = createDataWithSecrets()
    const { file } = await writeBundle(data, await startEngineWithCameras(data))
    const content = gunzipSync(readFileSync(file)).toString()
    const variants = [...Object.values(secrets), logged].flatMap(secret => [
      secret,
      JSON.stringify(secret).slice(1, -1),
    ])
    expect(variants.filter(secret => content.includes(secret))).toEqual([])
    expect(content).toContain('rtsp://other:***@camera/')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('is readable by its owner only, even if it replaces a file that others can read', async () => {
    const data = createDataWithSecrets()
    const existing = join(data, 'bundle.tar.gz')
    writeFileSync(existing, '')
    chmodSync(existing, 0o644)
    const { file } = await writeBundle(data, unreachable)
    expect([file, statSync(file).mode & 0o777]).toEqual([existing, 0o600])
  })

  it('contains the health of an engine whose URL ends with a slash', async () => {
    const data = createDataWithSecrets()
    const { read } = await writeBundle(data, `${await startEngineWithCameras(data)}/`)
    expect(JSON.parse(read('health/engine.json'))).toMatchObject({ media: 'not connected' })
  })

  it('lists the parts that are unavailable and contains all others', async () => {
    const { result, names, read } = await writeBundle(createDataWithSecrets(), unreachable)
    expect(result.code).toBe(0)
    expect(result.err).toMatch(
      /without engine\/configuration\.json: the engine at http:\/\/127\.0\.0\.1:9 cannot be reached/,
    )
    expect(JSON.parse(read('missing.json'))).toMatchObject({
      'health/media.json': `${unreachable} cannot be reached`,
    })
    expect(names).toEqual(expect.arrayContaining(['log/eyrie.log', 'machine.json']))
    expect(names).not.toContain('engine/about.json')
  })
})
