import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pluginTrust } from '@eyrie/contract'
import type { Service } from '@eyrie/kit'
import type { SigningKey } from '@eyrie/plugin-signature/publisher-keys'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type CallEngine, startEngine } from '../../../test/fixtures/engine/engine.ts'
import {
  type ArchiveEntry,
  createPluginEntries,
  createPluginPackage,
  createTarball,
} from '../../../test/fixtures/engine/plugin-package.ts'
import {
  createPublisher,
  createSignedPackage,
  signEntries,
} from '../../../test/fixtures/engine/signed-package.ts'

const acme = createPublisher('Acme Vision')
const beta = createPublisher('Beta')

let data: string
let engine: Service
let call: CallEngine
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'eyrie-signed-'))
  ;({ engine, call } = await startEngine(data))
})
afterAll(async () => {
  await engine.stop()
  rmSync(data, { recursive: true })
})
afterEach(async () => {
  for (const name of await uploadedNames()) {
    for (const { version, origin } of (await call('GET', `/plugins/${name}`)).body.versions) {
      if (origin === 'uploaded') await call('DELETE', `/plugins/${name}/${version}`)
    }
  }
  const { publishers, exceptions } = (await call('GET', '/plugin-trust')).body
  for (const { key } of publishers) await call('DELETE', `/plugin-trust/publishers/${key}`)
  for (const name of exceptions) await call('DELETE', `/plugin-trust/exceptions/${name}`)
})

const uploadedNames = async () =>
  (await call('GET', '/plugins')).body
    .filter(({ versions }: { versions: { origin: string }[] }) =>
      versions.some(v => v.origin === 'uploaded'),
    )
    .map(({ name }: { name: string }) => name)

const upload = async (archive: Uint8Array | Promise<Uint8Array>, query = '') =>
  call('POST', `/plugins${query}`, await archive, { 'Content-Type': 'application/gzip' })
const uploadVersion = (version: string, key?: SigningKey, query = '') =>
  upload(key ? createSignedPackage({ version }, key) : createPluginPackage({ version }), query)
const setTrust = (
  key: SigningKey,
  state: 'trusted' | 'distrusted' = 'trusted',
  name = key.publisher,
  query = '',
) => call('PUT', `/plugin-trust/publishers/${key.key}${query}`, { name, state })
const allow = (name: string) => call('PUT', `/plugin-trust/exceptions/${name}`)
const use = (version: string) => call('PUT', '/plugins/probe', { version })
const signatureOf = async (version: string) =>
  (await call('GET', '/plugins/probe')).body.versions.find(
    (each: { version: string }) => each.version === version,
  )?.signature
const refused = (reason: RegExp) => ({
  status: 403,
  body: { code: 'signature', reason: expect.stringMatching(reason) },
})

describe('an engine whose owner trusts no publisher', () => {
  it('installs unsigned plugins and those of unknown publishers, and says so', async () => {
    expect(await uploadVersion('1.0.0')).toMatchObject({ status: 201 })
    expect(await signatureOf('1.0.0')).toEqual({ state: 'unsigned' })
    expect(await uploadVersion('1.1.0', acme)).toMatchObject({ status: 201 })
    expect(await signatureOf('1.1.0')).toEqual({
      state: 'signed',
      publisher: 'Acme Vision',
      key: acme.key,
      trust: 'unknown',
    })
    const { versions } = (await call('GET', '/plugins/motion')).body
    expect(versions[0].signature).toBeUndefined()
  })

  it('does not install a plugin without a signature after a version was signed', async () => {
    await uploadVersion('1.0.0', acme)
    expect(await uploadVersion('1.1.0')).toMatchObject(
      refused(/signed by no one, .*unknown publisher "Acme Vision"/),
    )
    expect(await uploadVersion('1.1.0', undefined, '?new-publisher=true')).toMatchObject({
      status: 201,
    })
  })

  const change = (name: string, content: string) => (entry: ArchiveEntry) =>
    entry.name === name ? { ...entry, content } : entry
  const sign = (version = '1.0.0') => signEntries(createPluginEntries({ version }), acme)
  const signature = (entries: ArchiveEntry[]) =>
    entries.find(({ name }) => name === 'package/signature.json')!

  it.each<[string, () => ArchiveEntry[], RegExp, string?]>([
    [
      'a changed file',
      () => sign().map(change('package/element.ts', 'export default {}')),
      /"element\.ts" was changed after the package was signed/,
      'element.ts',
    ],
    [
      'an additional file',
      () => [...sign(), { name: 'package/lib/.hidden.mjs', content: '' }],
      /"lib\/\.hidden\.mjs" was added/,
      'lib/.hidden.mjs',
    ],
    [
      'a missing file',
      () => {
        const more = { name: 'package/lib/limit.ts', content: '3' }
        return signEntries([...createPluginEntries({}), more], acme).filter(
          entry => entry.name !== more.name,
        )
      },
      /"lib\/limit\.ts" was removed/,
      'lib/limit.ts',
    ],
    [
      'the signature of another version',
      () => [...createPluginEntries({}), signature(sign('2.0.0'))],
      /"plugin\.json" was changed/,
      'plugin.json',
    ],
    [
      'a forged signature',
      () =>
        sign().map(entry =>
          entry.name.endsWith('signature.json')
            ? { ...entry, content: String(entry.content).replace(acme.key, beta.key) }
            : entry,
        ),
      /does not match its list of files and its key/,
    ],
    [
      'half a signature',
      () => sign().map(change('package/signature.json', '{"format": 1, "publisher"')),
      /signature\.json is not valid JSON/,
    ],
  ])(
    'refuses a package with %s, even if the plugin is allowed',
    async (_, createEntries, reason, file) => {
      await allow('probe')
      const answer = await upload(createTarball(createEntries()), '?new-publisher=true')
      expect(answer).toMatchObject(refused(reason))
      expect(answer.body.value).toEqual(file === undefined ? undefined : { file })
      expect(await uploadedNames()).toEqual([])
      expect(readdirSync(join(data, 'plugins')).filter(name => name.startsWith('.'))).toEqual([])
    },
  )
})

describe('an engine whose owner trusts a publisher', () => {
  it('installs only what trusted publishers have signed, and what the owner allows by name', async () => {
    const { status, body } = await setTrust(acme)
    expect([status, pluginTrust.parse(body)]).toEqual([200, body])
    expect(body).toMatchObject({
      signatures: 'required',
      publishers: [{ name: 'Acme Vision', state: 'trusted' }],
    })
    expect(await uploadVersion('1.0.0')).toMatchObject(
      refused(
        /^version 1\.0\.0 of plugin probe is not installed: it is not signed, .*eyrie plugin allow probe$/,
      ),
    )
    expect(await uploadVersion('1.0.0', beta)).toMatchObject(
      refused(/unknown publisher that calls itself "Beta"/),
    )
    expect(await uploadVersion('1.0.0', acme)).toMatchObject({ status: 201 })
    expect(await signatureOf('1.0.0')).toMatchObject({ publisher: 'Acme Vision', trust: 'trusted' })

    expect(await upload(createPluginPackage({ name: 'own' }))).toMatchObject({ status: 403 })
    expect((await allow('own')).body.exceptions).toEqual(['own'])
    expect(await upload(createPluginPackage({ name: 'own' }))).toMatchObject({ status: 201 })
  })

  it('refuses another publisher of an installed plugin unless the request says that this is intended', async () => {
    await setTrust(acme)
    await setTrust(beta)
    await uploadVersion('1.0.0', acme)
    expect(await uploadVersion('2.0.0', beta)).toMatchObject(
      refused(/is signed by Beta, but its installed versions by Acme Vision.*new-publisher=true/),
    )
    expect(await uploadVersion('2.0.0', beta, '?new-publisher=true')).toMatchObject({ status: 201 })
    // What Acme's version was granted, Beta's is not.
    expect(await use('2.0.0')).toMatchObject({ status: 409, body: { code: 'grant' } })
    expect(await call('PUT', '/plugins/probe', { version: '2.0.0', grant: true })).toMatchObject({
      status: 200,
    })
    expect(await uploadVersion('2.1.0', beta)).toMatchObject({ status: 201 })
    for (const version of ['2.1.0', '1.0.0']) {
      expect(await use(version)).toMatchObject({ status: 200 })
    }
    // Another key of the same publisher, whom the owner has named so.
    const renewed = createPublisher('anything')
    await setTrust(renewed, 'trusted', 'Acme Vision')
    expect(await uploadVersion('1.1.0', renewed)).toMatchObject({ status: 201 })
    expect(await use('1.1.0')).toMatchObject({ status: 200 })
  })

  it('neither starts nor activates what it no longer accepts, and raises an alarm with the remedy', async () => {
    await uploadVersion('0.9.0')
    expect(await setTrust(acme)).toMatchObject({
      status: 409,
      body: { code: 'reference', reason: expect.stringMatching(/would stop: probe 0\.9\.0\./) },
    })
    await setTrust(acme, 'trusted', acme.publisher, '?force=true')
    await uploadVersion('1.0.0', acme)
    const alarms = async () => (await engine.health()).alarms ?? []
    expect(await alarms()).toContainEqual(
      expect.stringMatching(/^version 0\.9\.0 of plugin probe does not start: it is not signed/),
    )
    expect((await use('1.0.0')).status).toBe(200)
    expect(await use('0.9.0')).toMatchObject(refused(/0\.9\.0 of plugin probe does not start/))
    expect((await alarms()).filter(text => text.includes('does not start'))).toEqual([])

    await setTrust(acme, 'distrusted')
    expect(await signatureOf('1.0.0')).toMatchObject({
      trust: 'distrusted',
      refused: expect.stringMatching(
        /^its publisher Acme Vision has been distrusted since .*plugin trust/,
      ),
    })
    expect(await alarms()).toContainEqual(
      expect.stringMatching(
        /^version 1\.0\.0 of plugin probe does not start: its publisher Acme Vision/,
      ),
    )
    await setTrust(acme)
    expect(await signatureOf('1.0.0')).not.toHaveProperty('refused')
  })

  it('remembers its publishers after a restart', async () => {
    await setTrust(acme)
    await setTrust(beta, 'distrusted')
    await allow('own')
    await uploadVersion('1.0.0', acme)
    const before = [
      (await call('GET', '/plugin-trust')).body,
      (await call('GET', '/plugins/probe')).body,
    ]
    await engine.stop()
    ;({ engine, call } = await startEngine(data))
    const after = [
      (await call('GET', '/plugin-trust')).body,
      (await call('GET', '/plugins/probe')).body,
    ]
    expect(after).toEqual(before)
  })

  it('answers requests for keys and plugins that it does not know, and conditional requests', async () => {
    expect((await call('DELETE', `/plugin-trust/publishers/${acme.key}`)).body).toMatchObject({
      code: 'id',
    })
    expect(
      (await call('PUT', '/plugin-trust/publishers/short', { name: 'Acme' })).body,
    ).toMatchObject({
      code: 'id',
    })
    expect((await call('DELETE', '/plugin-trust/exceptions/own')).body).toMatchObject({
      code: 'id',
    })
    expect(
      (await call('PUT', `/plugin-trust/publishers/${acme.key}`, { name: 'A\nB' })).body,
    ).toMatchObject({
      code: 'syntax',
      reason: expect.stringMatching(/^\/name: must be words of visible characters/),
    })
    const stale = { 'If-Match': '"other"' }
    const answer = await call(
      'PUT',
      `/plugin-trust/publishers/${acme.key}`,
      { name: 'Acme' },
      stale,
    )
    expect(answer).toMatchObject({ status: 412, body: { code: 'precondition' } })
  })
})
